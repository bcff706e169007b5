/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of queue pairs: a row for each stream, with the counters of the analyzer's
 * report.
 *
 * The one rule: what depends on the pairing is unknown without it, never 0.
 *
 * A filter shows the streams of the packets that it matches, with everything that is
 * known of them.
 */
#include "stats_table.h"

#include "analysis.h"
#include "points.h"
#include "words.h"

#include <stddef.h>

/* Likewise, with the offset in what a stream counts of its trouble. */
static const char *
trouble_number(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    return stats_table_number(roce_stream_trouble_of(row), column, scope);
}

static const char *
paired_trouble_number(const void *row, const stats_column *column,
                      wmem_allocator_t *scope)
{
    return roce_stream_is_paired(row) ? trouble_number(row, column, scope)
                                      : STATS_TABLE_UNKNOWN;
}

/* Likewise of congestion. */
static const char *
congestion_number(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    return stats_table_number(roce_stream_congestion_of(row), column, scope);
}

static const char *
paired_congestion_number(const void *row, const stats_column *column,
                         wmem_allocator_t *scope)
{
    return roce_stream_is_paired(row) ? congestion_number(row, column, scope)
                                      : STATS_TABLE_UNKNOWN;
}

static const char *
id_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column;
    const roce_stream *s = row;
    return wmem_strdup_printf(scope, "%u", s->id);
}

static const char *
interface_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column, (void)scope;
    const roce_stream *s = row;
    const char *name = points_name(s->point);
    return name != NULL ? name : STATS_TABLE_UNKNOWN;
}

static const char *
address_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    const roce_stream *s = row;
    bool is_source = column->offset == offsetof(roce_stream, src);
    return conversations_address(is_source ? &s->src : &s->dst, scope);
}

static const char *
dst_qpn_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column;
    const roce_stream *s = row;
    return wmem_strdup_printf(scope, "0x%06x", s->dst_qpn);
}

static const char *
src_qpn_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column;
    const roce_stream *s = row;
    return s->has_src_qpn ? wmem_strdup_printf(scope, "0x%06x", s->src_qpn)
                          : STATS_TABLE_UNKNOWN;
}

static const char *
transport_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column, (void)scope;
    const roce_stream *s = row;
    return roce_transport_name(s->transport);
}

static const char *
tenant_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column;
    const roce_stream *s = row;
    return words_tenant(&s->tenant, scope);
}

/* `offset` is that of a latency. */
static const char *
quantile_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    const roce_stream *s = row;
    size_t i = column->offset / sizeof(roce_histogram *);
    const roce_histogram *h = roce_stream_latency(s, (roce_latency)i);
    return h == NULL || h->count == 0
               ? STATS_TABLE_UNKNOWN
               : wmem_strdup_printf(scope, "%" G_GUINT64_FORMAT,
                                    roce_histogram_quantile_of_stamps(
                                        h, column->permille, analysis_resolution_ns()));
}

/* clang-format off */
#define TEXT(title, cell) {title, cell, 0, 0, 0, true}
#define NUMBER(title, member) \
    {title, stats_table_number, offsetof(roce_stream, member), 0, 0, false}
#define BYTES(title, member) \
    {title, stats_table_number, offsetof(roce_stream, member), 0, 16, false}
#define TROUBLE(title, member) \
    {title, trouble_number, offsetof(roce_stream_trouble, member), 0, 0, false}
#define PAIRED_TROUBLE(title, member) \
    {title, paired_trouble_number, offsetof(roce_stream_trouble, member), 0, 0, false}
#define CONGESTION(title, member) \
    {title, congestion_number, offsetof(roce_stream_congestion, member), 0, 0, false}
#define PAIRED_CONGESTION(title, member) \
    {title, paired_congestion_number, offsetof(roce_stream_congestion, member), 0, 0, \
     false}
#define QUANTILE(title, latency, permille) \
    {title, quantile_of, offsetof(roce_stream_latencies, of[latency]), permille, 14, false}
#define REQUESTS(member) disorder[ROCE_SPACE_REQUESTS].member
#define RESPONSES(member) disorder[ROCE_SPACE_RESPONSES].member
#define CAUSE(cause) retransmissions.by_cause[ROCE_CAUSE_##cause]
#define LOST(verdict) losses[ROCE_SPACE_REQUESTS][ROCE_VERDICT_##verdict]
#define RESPONSE_LOST(verdict) losses[ROCE_SPACE_RESPONSES][ROCE_VERDICT_##verdict]

static const stats_column columns[] = {
    {"stream", id_of, 0, 0, 0, false},
    TEXT("interface", interface_of),
    {"source", address_of, offsetof(roce_stream, src), 0, 16, true},
    {"destination", address_of, offsetof(roce_stream, dst), 0, 16, true},
    TEXT("dest. QP", dst_qpn_of),
    TEXT("source QP", src_qpn_of),
    TEXT("service", transport_of),
    {"tenant", tenant_of, 0, 0, 15, true},
    NUMBER("packets", packets),
    BYTES("payload bytes", payload_bytes),
    NUMBER("messages", messages_completed),
    BYTES("message bytes", message_bytes),
    TROUBLE("gaps", REQUESTS(gaps)),
    TROUBLE("missing PSNs", REQUESTS(missing_psns)),
    TROUBLE("reordered", REQUESTS(reordered)),
    TROUBLE("duplicates", REQUESTS(duplicates)),
    TROUBLE("response gaps", RESPONSES(gaps)),
    TROUBLE("missing response PSNs", RESPONSES(missing_psns)),
    TROUBLE("reordered responses", RESPONSES(reordered)),
    TROUBLE("duplicate responses", RESPONSES(duplicates)),
    TROUBLE("responses sent again", RESPONSES(resent)),
    TROUBLE("retransmitted packets", retransmissions.packets),
    {"retransmitted bytes", trouble_number, offsetof(roce_stream_trouble, retransmissions.bytes), 0, 16, false},
    TROUBLE("rounds", retransmissions.rounds),
    TROUBLE("spurious rounds", retransmissions.spurious_rounds),
    TROUBLE("after NAK", CAUSE(NAK_SEQUENCE)),
    TROUBLE("after RNR NAK", CAUSE(RNR)),
    TROUBLE("after timeout", CAUSE(TIMEOUT)),
    TROUBLE("READ again", CAUSE(READ_REISSUE)),
    TROUBLE("cause unknown", CAUSE(UNKNOWN)),
    TROUBLE("lost before capture", LOST(LOST_BEFORE_CAPTURE)),
    TROUBLE("undelivered after capture", LOST(UNDELIVERED_AFTER_CAPTURE)),
    TROUBLE("ACK lost", LOST(ACK_LOST)),
    TROUBLE("data or ACK lost", LOST(DATA_OR_ACK_LOST)),
    TROUBLE("not captured", LOST(NOT_CAPTURED)),
    TROUBLE("corrupt", LOST(CORRUPT)),
    TROUBLE("fate unknown", LOST(UNKNOWN)),
    TROUBLE("responses lost before capture", RESPONSE_LOST(LOST_BEFORE_CAPTURE)),
    TROUBLE("responses undelivered after capture",
           RESPONSE_LOST(UNDELIVERED_AFTER_CAPTURE)),
    TROUBLE("responses not captured", RESPONSE_LOST(NOT_CAPTURED)),
    TROUBLE("responses corrupt", RESPONSE_LOST(CORRUPT)),
    TROUBLE("fate of responses unknown", RESPONSE_LOST(UNKNOWN)),
    PAIRED_TROUBLE("sequence NAKs", naks_received[ROCE_NAKS_PSN_SEQUENCE]),
    PAIRED_TROUBLE("invalid request NAKs", naks_received[ROCE_NAKS_INVALID_REQUEST]),
    PAIRED_TROUBLE("remote access NAKs", naks_received[ROCE_NAKS_REMOTE_ACCESS]),
    PAIRED_TROUBLE("remote operational NAKs", naks_received[ROCE_NAKS_REMOTE_OPERATIONAL]),
    PAIRED_TROUBLE("RNR NAKs", naks_received[ROCE_NAKS_RNR]),
    PAIRED_TROUBLE("RNR waits kept", rnr_waits_kept),
    PAIRED_TROUBLE("RNR waits broken", rnr_waits_broken),
    NUMBER("CE", ecn.codepoint[3]),
    CONGESTION("ECN transitions", transitions),
    CONGESTION("CE episodes", n_episodes),
    PAIRED_CONGESTION("CNPs received", cnps_received),
    CONGESTION("CNPs sent", cnps_sent),
    TROUBLE("bad ICRC", icrc_bad),
    TROUBLE("bad IPv4 checksum", ip_checksum_bad),
    TROUBLE("damaged PSN", psn_bad),
    QUANTILE("ACK p50 ns", ROCE_LATENCY_ACK, 500),
    QUANTILE("ACK p99 ns", ROCE_LATENCY_ACK, 990),
    QUANTILE("completion p50 ns", ROCE_LATENCY_MESSAGE_COMPLETION, 500),
    QUANTILE("completion p99 ns", ROCE_LATENCY_MESSAGE_COMPLETION, 990),
};
/* clang-format on */

static const void *
stream_row(uint32_t id)
{
    const roce_tracker *tracker = analysis_tracker();
    return tracker != NULL && id < roce_tracker_n_streams(tracker)
               ? roce_tracker_stream(tracker, id)
               : NULL;
}

static void
take_packet(void *table, const taken_packet *packet)
{
    const packet_record *record = memory_at(packet->frame);
    if (record != NULL && record->stream != ROCE_NO_STREAM) {
        stats_table_take(table, packet, record->stream);
    }
}

void
queue_pairs_register(void)
{
    static stats_table table = {
        .ui = {.title = COMPAT_TABLE_MENU "Queue Pairs",
               .tap_name = "rocev2",
               .cli_string = "rocev2,qp"},
        .columns = columns,
        .n_columns = G_N_ELEMENTS(columns),
        .take = take_packet,
        .row = stream_row,
    };
    stats_table_register(&table);
}
