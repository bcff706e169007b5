/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairing by the tables of queue pairs that the user gives for hosts. */
#include "check.h"
#include "failing_alloc.h"
#include "roce/tracker.h"

#define MAX_STREAMS 8
#define MAX_HOST_ADDRS 4

/*
 * An address is a letter.  A table is a list of "ADDRESSES:LOCAL>REMOTE" rows, a stream
 * "FROM>TO:QPN" or, at point 1, "FROM>TO:QPN@1"; what is wanted is the list of couples
 * "i=k" among the streams, counted from 0, whatever the order they appear in.
 */
static const struct {
    const char *name, *tables, *streams, *want;
} rows[] = {
    {"one row, one host", "a:5>9", "x>a:5 a>x:9", "0=1"},
    {"another local QPN", "a:5>9", "x>a:6 a>x:9", ""},
    {"another remote QPN", "a:5>9", "x>a:5 a>x:8", ""},
    {"another host", "a:5>9", "x>b:5 b>x:9", ""},
    {"the other direction goes elsewhere", "a:5>9", "x>a:5 a>y:9", ""},
    {"from another point", "a:5>9", "x>a:5 a>x:9@1", ""},
    {"each point by itself", "a:5>9", "x>a:5 a>x:9 x>a:5@1 a>x:9@1", "0=1 2=3"},
    {"one direction only", "a:5>9", "x>a:5", ""},
    {"a row told of twice", "a:5>9 a:5>9", "x>a:5 a>x:9", "0=1"},
    {"several rows", "a:5>9 a:6>8", "x>a:5 a>x:9 y>a:6 a>y:8", "0=1 2=3"},
    {"two peers with the same QPN, and one that answers", "a:5>9", "x>a:5 a>x:9 a>y:9",
     "0=1"},
    {"two peers with the same QPN, both fit: nobody can tell", "a:5>9",
     "x>a:5 a>x:9 y>a:5 a>y:9", ""},
    {"two peers with the same QPN, each with a local one", "a:5>9 a:6>9",
     "x>a:5 a>x:9 y>a:6 a>y:9", "0=1 2=3"},
    {"two local QPNs for one remote one, both fit", "a:5>9 a:6>9", "x>a:5 x>a:6 a>x:9",
     ""},
    {"two devices with the same local QPN, told apart by their addresses",
     "aA:5>9 aA:5>8", "x>a:5 a>x:9 X>A:5 A>X:8", "0=1 2=3"},
    {"two devices with the same rows", "aA:5>9 aA:5>9", "x>a:5 a>x:9 X>A:5 A>X:9",
     "0=1 2=3"},
    {"two devices with the same local QPN, and one peer with both remote ones",
     "aA:5>9 aA:5>8", "x>a:5 a>x:9 a>x:8", ""},
    {"addresses of a host do not mix", "aA:5>9", "x>a:5 A>x:9", ""},
    {"both tables", "a:5>9 x:9>5", "x>a:5 a>x:9", "0=1"},
    {"the peer's table says otherwise", "a:5>9 x:9>6", "x>a:5 a>x:9", ""},
    {"the peer's table does not have it", "a:5>9 x:1000>1001", "x>a:5 a>x:9", ""},
    {"both tables decide between two peers", "a:5>9 x:9>5 y:9>7",
     "x>a:5 a>x:9 y>a:5 a>y:9", "0=1"},
    {"both tables count more than one", "a:5>9 x:9>5", "x>a:5 a>x:9 y>a:5 a>y:9",
     "0=1"},
    {"both tables, and both peers fit", "a:5>9 x:9>5 y:9>5", "x>a:5 a>x:9 y>a:5 a>y:9",
     ""},
    {"a ring of three with the same numbers", "a:5>6 a:6>5 b:5>6 b:6>5 c:5>6 c:6>5",
     "b>a:5 a>b:6 c>b:5 b>c:6 a>c:5 c>a:6", "0=1 2=3 4=5"},
    {"loopback between two addresses", "aA:5>6 aA:6>5", "a>A:6 A>a:5", "0=1"},
    {"loopback to the same address", "a:5>6 a:6>5", "a>a:5 a>a:6", "0=1"},
    {"loopback, the table has one direction only", "a:5>6", "a>a:5 a>a:6", ""},
    {"a queue pair that talks to itself", "a:5>5", "a>a:5", ""},
};

typedef struct play {
    roce_tracker *tracker;
    uint64_t frames;
} play;

static roce_addr
addr_of(char letter)
{
    return (roce_addr){.bytes = {10, 0, 0, (uint8_t)letter}, .family = 4};
}

static void
add_tables(roce_tracker *tracker, const char *text)
{
    while (*text != '\0') {
        roce_addr addrs[MAX_HOST_ADDRS];
        size_t n = 0;
        for (; *text != ':'; text++) {
            addrs[n++] = addr_of(*text);
        }
        char *end;
        uint32_t lqpn = (uint32_t)strtoul(text + 1, &end, 10);
        uint32_t rqpn = (uint32_t)strtoul(end + 1, &end, 10);
        CHECK_INT(roce_tracker_add_queue_pair(tracker, addrs, n, lqpn, rqpn), ROCE_OK);
        text = end + strspn(end, " ");
    }
}

/* A WRITE of the stream "x>a:5". */
static void
send_packet(play *p, const char *text)
{
    static const uint8_t bytes[64] = {0};
    char *end;
    roce_packet packet = {
        .outcome = ROCE_DECODED,
        .kind = ROCE_CLASS_ROCE,
        .src = addr_of(text[0]),
        .dst = addr_of(text[2]),
        .dst_port = 4791,
        .has_bth = true,
        .transport = ROCE_TRANSPORT_RC,
        .headers = ROCE_HEADER_RETH,
        .end_offset = sizeof bytes,
        .bth = {.opcode = 0x0a, .dest_qpn = (uint32_t)strtoul(text + 4, &end, 10)},
    };
    roce_frame frame = {
        .bytes = bytes,
        .captured_bytes = sizeof bytes,
        .wire_bytes = sizeof bytes,
        .time_ns = 1000 * p->frames,
        .number = ++p->frames,
        .point = *end == '@' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0,
    };
    (void)roce_tracker_add(p->tracker, &frame, &packet, ROCE_ICRC_GOOD);
}

/* The couples as "0=1 2=3"; order[i] is the stream that came i-th. */
static void
list_couples(const roce_tracker *tracker, const size_t *order, char *text, size_t size)
{
    size_t peer_of[MAX_STREAMS];
    size_t n = roce_tracker_n_streams(tracker);
    for (uint32_t i = 0; i < n; i++) {
        const roce_stream *s = roce_tracker_stream(tracker, i);
        bool paired = roce_stream_is_paired(s);
        CHECK(!paired || s->paired_by == ROCE_PAIRING_USER);
        peer_of[order[i]] = paired ? order[s->peer] : MAX_STREAMS;
    }
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        size_t at = strlen(text);
        if (peer_of[i] < MAX_STREAMS && i < peer_of[i]) {
            snprintf(text + at, size - at, "%s%zu=%zu", at > 0 ? " " : "", i,
                     peer_of[i]);
        }
    }
}

static void
check_order(const char *tables, const char *const *streams, const size_t *order,
            size_t n, const char *want)
{
    failing_alloc state = {.fail_from = UINT64_MAX};
    roce_alloc alloc = failing_alloc_make(&state);
    roce_tracker_config config;
    play p = {0};
    char got[64];
    roce_tracker_config_init(&config);
    CHECK_INT(roce_tracker_new(&p.tracker, &alloc, &config), ROCE_OK);
    add_tables(p.tracker, tables);
    for (size_t i = 0; i < n; i++) {
        send_packet(&p, streams[order[i]]);
    }
    roce_tracker_finish(p.tracker);
    CHECK_INT(roce_tracker_n_streams(p.tracker), n);
    list_couples(p.tracker, order, got, sizeof got);
    CHECK_STR(got, want);
    roce_tracker_free(p.tracker);
    CHECK_INT(state.n_live, 0);
}

/* All orders of n things, by Heap's algorithm. */
static void
check_orders(const char *tables, const char *const *streams, size_t n, const char *want)
{
    size_t order[MAX_STREAMS], counter[MAX_STREAMS] = {0};
    for (size_t i = 0; i < n; i++) {
        order[i] = i;
    }
    check_order(tables, streams, order, n, want);
    for (size_t i = 1; i < n;) {
        if (counter[i] == i) {
            counter[i++] = 0;
            continue;
        }
        size_t other = i % 2 == 0 ? 0 : counter[i];
        size_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
        check_order(tables, streams, order, n, want);
        counter[i]++;
        i = 1;
    }
}

static void
check_rows(void)
{
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        const char *streams[MAX_STREAMS];
        size_t n = 0;
        const char *at = rows[row].streams;
        while (*at != '\0') {
            streams[n++] = at;
            at += strcspn(at, " ");
            at += strspn(at, " ");
        }
        check_row(rows[row].name);
        check_orders(rows[row].tables, streams, n, rows[row].want);
    }
    check_row(NULL);
}

/* What cannot be told, and what lack of memory does. */
static void
check_refusals(void)
{
    failing_alloc state = {.fail_from = UINT64_MAX};
    roce_alloc alloc = failing_alloc_make(&state);
    roce_tracker_config config;
    roce_tracker *tracker;
    roce_addr addrs[2] = {addr_of('a'), addr_of('b')};
    roce_tracker_config_init(&config);
    CHECK_INT(roce_tracker_new(&tracker, &alloc, &config), ROCE_OK);
    CHECK_INT(roce_tracker_add_queue_pair(tracker, addrs, 0, 5, 9), ROCE_ERROR_INVALID);
    CHECK_INT(roce_tracker_add_queue_pair(tracker, &addrs[0], 1, 5, 9), ROCE_OK);
    CHECK_INT(roce_tracker_add_queue_pair(tracker, &addrs[1], 1, 5, 9), ROCE_OK);
    CHECK_INT(roce_tracker_add_queue_pair(tracker, addrs, 2, 5, 9), ROCE_ERROR_INVALID);
    for (uint32_t i = 1; i < ROCE_MAX_PEERS_OF_QPN; i++) {
        CHECK_INT(roce_tracker_add_queue_pair(tracker, addrs, 1, 5, 9 + i), ROCE_OK);
    }
    CHECK_INT(roce_tracker_add_queue_pair(tracker, addrs, 1, 5, 9), ROCE_OK);
    CHECK_INT(roce_tracker_add_queue_pair(tracker, addrs, 1, 5, 8), ROCE_ERROR_INVALID);
    roce_tracker_free(tracker);
    CHECK_INT(state.n_live, 0);
}

static void
check_memory(void)
{
    for (uint64_t fail = 1; fail < 40; fail++) {
        failing_alloc state = {.fail_from = fail, .fail_until = fail + 1};
        roce_alloc alloc = failing_alloc_make(&state);
        roce_tracker_config config;
        roce_addr a = addr_of('a');
        play p = {0};
        roce_tracker_config_init(&config);
        if (roce_tracker_new(&p.tracker, &alloc, &config) != ROCE_OK) {
            continue;
        }
        int result = roce_tracker_add_queue_pair(p.tracker, &a, 1, 5, 9);
        CHECK(result == ROCE_OK || result == ROCE_ERROR_MEMORY);
        send_packet(&p, "x>a:5");
        send_packet(&p, "a>x:9");
        roce_tracker_finish(p.tracker);
        roce_tracker_free(p.tracker);
        CHECK_INT(state.n_live, 0);
    }
}

int
main(void)
{
    check_rows();
    check_refusals();
    check_memory();
    return check_status();
}
