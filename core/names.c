/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words that reports, filters and tests use for what decoder and tracker say. */
#include "roce/aeth.h"
#include "roce/cm.h"
#include "roce/event.h"
#include "roce/pacing.h"
#include "roce/packet.h"
#include "roce/stream.h"

/* clang-format off */
static const char *const event_kinds[] = {
    [ROCE_EVENT_STREAM_START] = "stream_start",
    [ROCE_EVENT_STREAM_RESTART] = "stream_restart",
    [ROCE_EVENT_GAP] = "gap",
    [ROCE_EVENT_LATE] = "late",
    [ROCE_EVENT_DUPLICATE] = "duplicate",
    [ROCE_EVENT_RETRANSMISSION] = "retransmission",
    [ROCE_EVENT_ROUND] = "round",
    [ROCE_EVENT_SPURIOUS_ROUND] = "spurious_round",
    [ROCE_EVENT_NAK] = "nak",
    [ROCE_EVENT_RNR_NAK] = "rnr_nak",
    [ROCE_EVENT_RNR_WAIT] = "rnr_wait",
    [ROCE_EVENT_READ_REISSUE] = "read_reissue",
    [ROCE_EVENT_RESPONSE_RESENT] = "response_resent",
    [ROCE_EVENT_LOSS] = "loss",
    [ROCE_EVENT_LOSS_WITHDRAWN] = "loss_withdrawn",
    [ROCE_EVENT_ECN_TRANSITION] = "ecn_transition",
    [ROCE_EVENT_CE_EPISODE] = "ce_episode",
    [ROCE_EVENT_CNP] = "cnp",
    [ROCE_EVENT_ICRC_BAD] = "icrc_bad",
    [ROCE_EVENT_IP_CHECKSUM_BAD] = "ip_checksum_bad",
    [ROCE_EVENT_PSN_BAD] = "psn_bad",
    [ROCE_EVENT_CONNECTED] = "connected",
    [ROCE_EVENT_DISCONNECTED] = "disconnected",
    [ROCE_EVENT_CM] = "cm",
    [ROCE_EVENT_PAUSE_XOFF] = "pause_xoff",
    [ROCE_EVENT_PAUSE_REFRESH] = "pause_refresh",
    [ROCE_EVENT_PAUSE_XON] = "pause_xon",
    [ROCE_EVENT_PAUSE_EXPIRED] = "pause_expired",
    [ROCE_EVENT_EVICTED] = "evicted",
};
_Static_assert(sizeof event_kinds / sizeof event_kinds[0] == ROCE_N_EVENTS, "named");

static const char *const causes[] = {
    [ROCE_CAUSE_NAK_SEQUENCE] = "nak_sequence",
    [ROCE_CAUSE_RNR] = "rnr",
    [ROCE_CAUSE_TIMEOUT] = "timeout",
    [ROCE_CAUSE_READ_REISSUE] = "read_reissue",
    [ROCE_CAUSE_UNKNOWN] = "unknown",
};
_Static_assert(sizeof causes / sizeof causes[0] == ROCE_N_CAUSES, "named");

static const char *const verdicts[] = {
    [ROCE_VERDICT_LOST_BEFORE_CAPTURE] = "lost_before_capture",
    [ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE] = "undelivered_after_capture",
    [ROCE_VERDICT_ACK_LOST] = "ack_lost",
    [ROCE_VERDICT_DATA_OR_ACK_LOST] = "data_or_ack_lost",
    [ROCE_VERDICT_NOT_CAPTURED] = "not_captured",
    [ROCE_VERDICT_CORRUPT] = "corrupt",
    [ROCE_VERDICT_UNKNOWN] = "unknown",
};
_Static_assert(sizeof verdicts / sizeof verdicts[0] == ROCE_N_VERDICTS, "named");

static const char *const evidences[] = {
    [ROCE_EVIDENCE_NONE] = "none",
    [ROCE_EVIDENCE_ASKED_FOR] = "asked_for",
    [ROCE_EVIDENCE_RESENT_ONLY] = "resent_only",
    [ROCE_EVIDENCE_ACKNOWLEDGED] = "acknowledged",
    [ROCE_EVIDENCE_ACK_SEEN] = "ack_seen",
    [ROCE_EVIDENCE_ACK_JUMPED] = "ack_jumped",
    [ROCE_EVIDENCE_NO_ACK_SEEN] = "no_ack_seen",
    [ROCE_EVIDENCE_BAD_ICRC] = "bad_icrc",
    [ROCE_EVIDENCE_BAD_IP_CHECKSUM] = "bad_ip_checksum",
    [ROCE_EVIDENCE_BAD_PSN] = "bad_psn",
    [ROCE_EVIDENCE_IDENTIFICATION] = "identification",
    [ROCE_EVIDENCE_COPIES] = "copies",
    [ROCE_EVIDENCE_TIME] = "time",
    [ROCE_EVIDENCE_CAPTURE_END] = "capture_end",
    [ROCE_EVIDENCE_NO_ACKNOWLEDGEMENTS] = "no_acknowledgements",
    [ROCE_EVIDENCE_CAPTURE_MISSES] = "capture_misses",
};
_Static_assert(sizeof evidences / sizeof evidences[0] == ROCE_N_EVIDENCES, "named");

static const char *const pairings[] = {
    [ROCE_PAIRING_NONE] = "none",
    [ROCE_PAIRING_PSN] = "psn",
    [ROCE_PAIRING_USER] = "user",
    [ROCE_PAIRING_CM] = "cm",
};

static const char *const tables[] = {
    [ROCE_TABLE_STREAMS] = "streams",
    [ROCE_TABLE_HISTORY] = "history",
    [ROCE_TABLE_MISSING] = "missing",
    [ROCE_TABLE_PAUSES] = "pauses",
    [ROCE_TABLE_CONNECTIONS] = "connections",
    [ROCE_TABLE_LATENCIES] = "latencies",
    [ROCE_TABLE_NOTIFIERS] = "notifiers",
};
_Static_assert(sizeof tables / sizeof tables[0] == ROCE_N_TABLES, "named");

static const char *const scopes[] = {
    [ROCE_PACING_QP] = "qp",
    [ROCE_PACING_PAIR] = "pair",
    [ROCE_PACING_DESTINATION] = "destination",
    [ROCE_PACING_PORT] = "port",
    [ROCE_N_PACING_SCOPES] = "unknown",
};
_Static_assert(sizeof scopes / sizeof scopes[0] == ROCE_N_PACING_SCOPES + 1, "named");

static const char *const vantages[] = {
    [ROCE_VANTAGE_UNKNOWN] = "unknown",
    [ROCE_VANTAGE_REQUESTER] = "requester",
    [ROCE_VANTAGE_RESPONDER] = "responder",
    [ROCE_VANTAGE_MIDDLE] = "middle",
};

static const char *const recoveries[] = {
    [ROCE_RECOVERY_UNKNOWN] = "unknown",
    [ROCE_RECOVERY_GO_BACK_N] = "go_back_n",
    [ROCE_RECOVERY_SELECTIVE] = "selective",
};

static const char *const tenants[] = {
    [ROCE_TENANT_NONE] = "none",
    [ROCE_TENANT_VXLAN] = "vxlan",
    [ROCE_TENANT_GENEVE] = "geneve",
    [ROCE_TENANT_NVGRE] = "nvgre",
};
_Static_assert(sizeof tenants / sizeof tenants[0] == ROCE_N_TENANTS, "named");

static const char *const mirrors[] = {
    [ROCE_MIRROR_NONE] = "none",
    [ROCE_MIRROR_ERSPAN_I] = "erspan_i",
    [ROCE_MIRROR_ERSPAN_II] = "erspan_ii",
    [ROCE_MIRROR_ERSPAN_III] = "erspan_iii",
    [ROCE_MIRROR_GRE] = "gre",
    [ROCE_MIRROR_SPECTRUM] = "spectrum",
    [ROCE_MIRROR_ARISTA] = "arista",
};
_Static_assert(sizeof mirrors / sizeof mirrors[0] == ROCE_N_MIRRORS, "named");

static const char *const mirror_directions[] = {
    [ROCE_MIRROR_DIRECTION_UNKNOWN] = "unknown",
    [ROCE_MIRROR_INGRESS] = "ingress",
    [ROCE_MIRROR_EGRESS] = "egress",
};

static const char *const ecn_sources[] = {
    [ROCE_ECN_IP] = "ip",
    [ROCE_ECN_INNER] = "inner",
    [ROCE_ECN_OUTER] = "outer",
};
_Static_assert(sizeof ecn_sources / sizeof ecn_sources[0] == ROCE_N_ECN_SOURCES,
               "named");

static const char *const latencies[] = {
    [ROCE_LATENCY_MESSAGE_COMPLETION] = "message_completion_ns",
    [ROCE_LATENCY_ACK] = "ack_latency_ns",
    [ROCE_LATENCY_READ_FIRST] = "read_first_ns",
    [ROCE_LATENCY_READ] = "read_latency_ns",
    [ROCE_LATENCY_NAK_GENERATION] = "nak_generation_ns",
    [ROCE_LATENCY_NAK_REACTION] = "nak_reaction_ns",
    [ROCE_LATENCY_RECOVERY] = "recovery_ns",
    [ROCE_LATENCY_CNP_DELAY] = "cnp_delay_ns",
    [ROCE_LATENCY_CNP_INTERVAL] = "cnp_interval_ns",
};
_Static_assert(sizeof latencies / sizeof latencies[0] == ROCE_N_LATENCIES, "named");
/* clang-format on */

const char *
roce_event_kind_name(roce_event_kind kind)
{
    return event_kinds[kind];
}

const char *
roce_cause_name(roce_cause cause)
{
    return causes[cause];
}

const char *
roce_verdict_name(roce_verdict verdict)
{
    return verdicts[verdict];
}

const char *
roce_evidence_name(roce_evidence evidence)
{
    return evidences[evidence];
}

const char *
roce_pairing_name(roce_pairing pairing)
{
    return pairings[pairing];
}

const char *
roce_table_name(roce_table table)
{
    return tables[table];
}

const char *
roce_vantage_name(roce_vantage vantage)
{
    return vantages[vantage];
}

const char *
roce_recovery_name(roce_recovery recovery)
{
    return recoveries[recovery];
}

const char *
roce_tenant_kind_name(roce_tenant_kind kind)
{
    return tenants[kind];
}

const char *
roce_mirror_kind_name(roce_mirror_kind kind)
{
    return mirrors[kind];
}

const char *
roce_mirror_direction_name(roce_mirror_direction direction)
{
    return mirror_directions[direction];
}

const char *
roce_ecn_source_name(roce_ecn_source source)
{
    return ecn_sources[source];
}

const char *
roce_latency_name(roce_latency latency)
{
    return latencies[latency];
}

const char *
roce_event_detail_name(const roce_event *e)
{
    switch (e->kind) {
    case ROCE_EVENT_RETRANSMISSION:
    case ROCE_EVENT_READ_REISSUE:
    case ROCE_EVENT_ROUND:
        return roce_cause_name((roce_cause)e->detail);
    case ROCE_EVENT_NAK:
        return roce_nak_code_name(e->detail);
    case ROCE_EVENT_LOSS:
    case ROCE_EVENT_LOSS_WITHDRAWN:
        return roce_verdict_name((roce_verdict)e->detail);
    case ROCE_EVENT_CONNECTED:
    case ROCE_EVENT_DISCONNECTED:
        return roce_pairing_name((roce_pairing)e->detail);
    case ROCE_EVENT_CM:
        return roce_cm_kind_name((roce_cm_kind)e->detail);
    case ROCE_EVENT_EVICTED:
        return roce_table_name((roce_table)e->detail);
    case ROCE_EVENT_STREAM_START:
    case ROCE_EVENT_STREAM_RESTART:
    case ROCE_EVENT_GAP:
    case ROCE_EVENT_LATE:
    case ROCE_EVENT_DUPLICATE:
    case ROCE_EVENT_SPURIOUS_ROUND:
    case ROCE_EVENT_RNR_NAK:
    case ROCE_EVENT_RNR_WAIT:
    case ROCE_EVENT_RESPONSE_RESENT:
    case ROCE_EVENT_ECN_TRANSITION:
    case ROCE_EVENT_CE_EPISODE:
    case ROCE_EVENT_CNP:
    case ROCE_EVENT_ICRC_BAD:
    case ROCE_EVENT_IP_CHECKSUM_BAD:
    case ROCE_EVENT_PSN_BAD:
    case ROCE_EVENT_PAUSE_XOFF:
    case ROCE_EVENT_PAUSE_REFRESH:
    case ROCE_EVENT_PAUSE_XON:
    case ROCE_EVENT_PAUSE_EXPIRED:
    case ROCE_N_EVENTS:
        break;
    }
    return NULL;
}

const char *
roce_pacing_scope_name(roce_pacing_scope scope)
{
    return scopes[scope];
}
