/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes through Wireshark's engine with the plugin in it: a conversation (traffic.h),
 * or frames of any bytes.  They are dissected as Wireshark does it: once in order without
 * a tree, then each again with one, in order and backwards, as somebody clicks.  What the
 * plugin shows on a frame has to be the same each time.
 *
 *   0    bit 0: frames of any bytes, each behind 2 bytes: the layers in front of it (see
 *        put_front()), and its length; else steps.  Bit 1: statistics are made of them as
 *        they are read, as tshark does, else when they are looked at
 *   1..  steps or frames
 *
 * The plugin and core are compiled in, so that sanitizers see them; libwireshark is the
 * system's.  All of its protocols are off but those that carry ours, and the two that ours
 * stand on: what other dissectors make of a payload is not the plugin's.
 *
 * Its allocator is told to use malloc(), so that ASan sees each block.  What libwireshark
 * itself keeps until the process ends is no leak of ours: LeakSanitizer is told so below,
 * by the functions that run before the first input; what dissecting leaks, it tells.
 */
#include "traffic.h"

#include <epan/epan.h> /* before what needs GLib and does not say so */

#include <epan/conversation_table.h>
#include <epan/epan_dissect.h>
#include <epan/proto.h>
#include <epan/srt_table.h>
#include <epan/stat_tap_ui.h>
#include <epan/tap.h>
#include <wiretap/wtap.h>
#include <wsutil/filesystem.h>
#include <wsutil/privileges.h>
#include <wsutil/wslog.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 1
#define MAX_FRAMES 64
#define NS_PER_S 1000000000u

int
LLVMFuzzerInitialize(int *argc, char ***argv);
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *
__asan_default_options(void);
const char *
__lsan_default_suppressions(void);
void
plugin_register(void); /* the plugin's */

/* Sessions are large, and what was freed waits here. */
const char *
__asan_default_options(void)
{
    return "quarantine_size_mb=32";
}

const char *
__lsan_default_suppressions(void)
{
    return "leak:epan_init\nleak:epan_load_settings\nleak:wtap_init\n"
           "leak:prefs_apply_all\nleak:configuration_init\n";
}

/* In the place of libwsutil's.  Each session would read the tables of MAC vendors and
 * services anew, and keep them until the process ends; no variable that says where they
 * are is heeded for root. */
char *
get_datafile_path(const char *file_name)
{
    return g_strconcat("/nonexistent/", file_name, NULL);
}

/* ---- Wireshark ---- */

/* Frames of one input, for libwireshark to ask about. */
struct packet_provider_data {
    frame_data frames[MAX_FRAMES];
    wtap_rec records[MAX_FRAMES];
    uint8_t *bytes[MAX_FRAMES];
    unsigned n_frames;
};

typedef struct packet_provider_data capture;

static const nstime_t *
frame_time(capture *c, guint32 number)
{
    return number >= 1 && number <= c->n_frames ? &c->frames[number - 1].abs_ts : NULL;
}

static const char *
interface_name(capture *c, guint32 interface)
{
    static const char *const names[TRAFFIC_POINTS] = {"eth0", "eth1", "eth2"};
    (void)c;
    return interface < TRAFFIC_POINTS ? names[interface] : NULL;
}

/* Leaves only what carries RoCE and MAC control. */
static void
disable_others(void)
{
    static const char *const wanted[] = {"frame", "eth",    "ethertype",  "vlan", "ip",
                                         "ipv6",  "udp",    "vxlan",      "data", "grh",
                                         "macc",  "rocev2", "infiniband", "pfc"};
    void *cookie = NULL;
    for (int id = proto_get_first_protocol(&cookie); id != -1;
         id = proto_get_next_protocol(&cookie)) {
        const char *name = proto_get_protocol_filter_name(id);
        bool is_wanted = false;
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
            is_wanted = is_wanted || strcmp(name, wanted[i]) == 0;
        }
        if (!is_wanted && proto_can_toggle_protocol(id) &&
            !proto_is_pino(find_protocol_by_id(id))) {
            proto_set_decoding(id, FALSE);
        }
    }
}

/* ---- statistics ---- */

static void
reset_table(void *data)
{
    reset_stat_table(((stat_data_t *)data)->stat_tap_data);
}

static void
reset_conversations(void *data)
{
    reset_conversation_table_data(data);
}

static void
reset_endpoints(void *data)
{
    reset_endpoint_table_data(data);
}

static void
reset_responses(void *data)
{
    reset_srt_table(((srt_data_t *)data)->srt_array);
}

static void
listen(const char *tap, void *table, tap_reset_cb reset, tap_packet_cb take)
{
    const GString *problem =
        register_tap_listener(tap, table, NULL, 0, reset, take, NULL, NULL);
    assert(problem == NULL);
}

/* Opens each table that the plugin has, as the window does. */
static void
open_tables(void)
{
    static const char *const names[] = {"rocev2,qp", "pfc,pauses"};
    static stat_data_t tables[2];
    static conv_hash_t conversations, endpoints;
    static srt_data_t responses;
    for (unsigned i = 0; i < 2; i++) {
        stat_tap_table_ui *table = tables[i].stat_tap_data = stat_tap_by_name(names[i]);
        assert(table != NULL);
        table->stat_tap_init_cb(table);
        listen(table->tap_name, &tables[i], reset_table, table->packet_func);
    }
    register_ct_t *ends =
        get_conversation_by_proto_id(proto_get_id_by_filter_name("rocev2"));
    listen("rocev2", &conversations, reset_conversations,
           get_conversation_packet_func(ends));
    listen("rocev2", &endpoints, reset_endpoints, get_endpoint_packet_func(ends));
    register_srt_t *times = get_srt_table_by_name("rocev2");
    responses.srt_array = g_array_new(FALSE, TRUE, sizeof(srt_stat_table *));
    srt_table_dissector_init(times, responses.srt_array);
    listen(get_srt_tap_listener_name(times), &responses, reset_responses,
           get_srt_packet_func(times));
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    setenv("WIRESHARK_DEBUG_WMEM_OVERRIDE", "simple", 1);
    setenv("WIRESHARK_ABORT_ON_DISSECTOR_BUG", "1", 1);
    setenv("WIRESHARK_CONFIG_DIR", "/nonexistent", 1); /* nobody's preferences */
    ws_log_init("fuzz_plugin", NULL);
    ws_log_set_fatal(LOG_LEVEL_CRITICAL);
    init_process_policies();
    g_free(configuration_init((*argv)[0], NULL));
    wtap_init(FALSE);
    plugin_register();
    gboolean is_ready = epan_init(NULL, NULL, FALSE);
    assert(is_ready);
    (void)epan_load_settings();
    prefs_apply_all();
    disable_others();
    assert(proto_get_id_by_filter_name("rocev2") != -1);
    open_tables();
    return 0;
}

/* ---- what is shown ---- */

static uint64_t
mix(uint64_t digest, const char *text)
{
    for (; *text != '\0'; text++) {
        digest = (digest ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    }
    return digest;
}

static void
digest_item(proto_node *node, gpointer ctx)
{
    uint64_t *digest = ctx;
    field_info *field = node->finfo;
    char label[ITEM_LABEL_LENGTH];
    if (field->rep != NULL) {
        *digest = mix(*digest, field->rep->representation);
    } else {
        proto_item_fill_label(field, label);
        *digest = mix(*digest, label);
    }
    *digest = mix(*digest, field->hfinfo->abbrev) ^ (uint64_t)field->flags;
    proto_tree_children_foreach(node, digest_item, digest);
}

/* Of the layers that are the plugin's; Wireshark's own may count passes. */
static void
digest_layer(proto_node *node, gpointer ctx)
{
    const char *abbrev = node->finfo->hfinfo->abbrev;
    if (strcmp(abbrev, "rocev2") == 0 || strcmp(abbrev, "pfc") == 0) {
        digest_item(node, ctx);
    }
}

typedef enum looker {
    READING,  /* of a file: nobody looks */
    CLICKING, /* somebody sees the tree */
} looker;

typedef enum counting {
    UNCOUNTED,
    COUNTED, /* statistics are made of it */
} counting;

/* The digest of what is shown on a frame. */
static uint64_t
dissect(epan_t *session, capture *c, unsigned i, looker who, counting how)
{
    frame_data *fd = &c->frames[i];
    tvbuff_t *tvb = tvb_new_real_data(c->bytes[i], fd->cap_len, (gint)fd->pkt_len);
    epan_dissect_t *dissection =
        epan_dissect_new(session, who == CLICKING, who == CLICKING);
    (how == COUNTED ? epan_dissect_run_with_taps : epan_dissect_run)(
        dissection, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, &c->records[i], tvb, fd, NULL);
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    if (who == CLICKING) {
        proto_tree_children_foreach(dissection->tree, digest_layer, &digest);
    }
    epan_dissect_free(dissection);
    return digest;
}

/* ---- frames ---- */

static void
add_frame(capture *c, const roce_frame *frame)
{
    static guint32 cumulative_bytes;
    static nstime_t elapsed;
    static const frame_data *reference;
    unsigned i = c->n_frames++;
    wtap_rec *record = &c->records[i];
    wtap_rec_init(record);
    record->rec_type = REC_TYPE_PACKET;
    record->presence_flags = WTAP_HAS_TS | WTAP_HAS_CAP_LEN | WTAP_HAS_INTERFACE_ID;
    record->ts.secs = (time_t)(frame->time_ns / NS_PER_S);
    record->ts.nsecs = (int)(frame->time_ns % NS_PER_S);
    record->tsprec = WTAP_TSPREC_NSEC;
    record->rec_header.packet_header.caplen = frame->captured_bytes;
    record->rec_header.packet_header.len = frame->wire_bytes;
    record->rec_header.packet_header.pkt_encap = WTAP_ENCAP_ETHERNET;
    record->rec_header.packet_header.interface_id = frame->point;
    c->bytes[i] = traffic_copy(frame->bytes, frame->captured_bytes);
    if (i == 0) {
        cumulative_bytes = 0;
        reference = NULL;
    }
    frame_data_init(&c->frames[i], i + 1, record, 0, cumulative_bytes);
    frame_data_set_before_dissect(&c->frames[i], &elapsed, &reference,
                                  i > 0 ? &c->frames[i - 1] : NULL);
    frame_data_set_after_dissect(&c->frames[i], &cumulative_bytes);
    c->frames[i].visited = 0;
}

static void
add_steps(capture *c, const uint8_t *at, const uint8_t *end)
{
    static traffic t; /* too large for a stack */
    traffic_init(&t);
    while (c->n_frames < MAX_FRAMES && at + TRAFFIC_STEP_BYTES <= end) {
        const traffic_step step = traffic_read(at);
        at += TRAFFIC_STEP_BYTES;
        if (traffic_take(&t, &step) == TRAFFIC_FRAME) {
            traffic_seal(&t);
            roce_frame frame = traffic_frame(&t, 0);
            add_frame(c, &frame);
        }
    }
}

static void
put_length(uint8_t *at, unsigned length)
{
    at[0] = (uint8_t)(length >> 8);
    at[1] = (uint8_t)length;
}

/* Layers for bytes to stand behind: nothing; Ethernet, IPv4 and UDP; MAC control; a GRH. */
static uint32_t
put_front(uint8_t *front, uint8_t which, uint8_t n_bytes)
{
    static const uint8_t udp[] = {
        2,    0, 0,  0, 0, 1, 2,    0, 0,    0,    0, 2, 8,  0,
        0x45, 2, 0,  0, 0, 7, 0x40, 0, 64,   17,   0, 0, 10, 0,
        0,    2, 10, 0, 0, 1, 0xc0, 0, 0x12, 0xb7, 0, 0, 0,  0,
    };
    static const uint8_t control[] = {1, 0x80, 0xc2, 0, 0, 1,    2,
                                      0, 0,    0,    0, 2, 0x88, 8};
    static const uint8_t grh[] = {
        2, 0, 0,    0,    0,    1,    2, 0, 0, 0, 0, 2, 0x89, 0x15, 0x60, 0, 0, 0,
        0, 0, 0x1b, 64,   0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0,    0,    0,    0, 0, 0,
        0, 2, 0xfe, 0x80, 0,    0,    0, 0, 0, 0, 0, 0, 0,    0,    0,    0, 0, 1,
    };
    switch (which & 3) {
    case 1:
        memcpy(front, udp, sizeof udp);
        put_length(front + 16, 28u + n_bytes);
        put_length(front + 38, 8u + n_bytes);
        return sizeof udp;
    case 2:
        memcpy(front, control, sizeof control);
        return sizeof control;
    case 3:
        memcpy(front, grh, sizeof grh);
        front[19] = n_bytes;
        return sizeof grh;
    default:
        return 0;
    }
}

static void
add_any(capture *c, const uint8_t *at, const uint8_t *end)
{
    uint8_t bytes[64 + UINT8_MAX];
    while (c->n_frames < MAX_FRAMES && end - at >= 2) {
        uint8_t which = at[0];
        uint8_t n = at[1] < end - at - 2 ? at[1] : (uint8_t)(end - at - 2);
        uint32_t n_front = put_front(bytes, which, n);
        memcpy(bytes + n_front, at + 2, n);
        at += 2 + n;
        const roce_frame frame = {
            .bytes = bytes,
            .captured_bytes = n_front + n,
            .wire_bytes = n_front + n + (which >> 4),
            .time_ns = TRAFFIC_START_NS + UINT64_C(1000) * c->n_frames,
            .point = which >> 2 & 3,
        };
        add_frame(c, &frame);
    }
}

static void
clear(capture *c)
{
    for (unsigned i = 0; i < c->n_frames; i++) {
        frame_data_destroy(&c->frames[i]);
        wtap_rec_cleanup(&c->records[i]);
        free(c->bytes[i]);
    }
    c->n_frames = 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct packet_provider_funcs asked = {
        .get_frame_ts = frame_time,
        .get_interface_name = interface_name,
    };
    static capture c; /* too large for a stack */
    if (size < SETTINGS) {
        return 0;
    }
    if ((data[0] & 1) != 0) {
        add_any(&c, data + SETTINGS, data + size);
    } else {
        add_steps(&c, data + SETTINGS, data + size);
    }
    epan_t *session = epan_new(&c, &asked);
    uint64_t shown[MAX_FRAMES];
    g_set_prgname((data[0] & 2) != 0 ? "tshark" : "wireshark"); /* the plugin asks */
    counting when_read = (data[0] & 2) != 0 ? COUNTED : UNCOUNTED;
    counting when_seen = (data[0] & 2) != 0 ? UNCOUNTED : COUNTED;
    for (unsigned i = 0; i < c.n_frames; i++) {
        (void)dissect(session, &c, i, READING, when_read);
        c.frames[i].visited = 1;
    }
    for (unsigned i = 0; i < c.n_frames; i++) {
        shown[i] = dissect(session, &c, i, CLICKING, when_seen);
    }
    for (unsigned i = c.n_frames; i-- > 0;) {
        assert(dissect(session, &c, i, CLICKING, UNCOUNTED) == shown[i]);
    }
    draw_tap_listeners(TRUE);
    reset_tap_listeners();
    epan_free(session);
    clear(&c);
    return 0;
}
