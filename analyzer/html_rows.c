/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the HTML report: which members of the JSON report are their columns. */
#include "format.h"
#include "html_report.h"
#include "json_background.h"
#include "json_connection.h"
#include "json_parts.h"
#include "json_pause.h"

#define UNPAIRED "the other direction of the queue pair was not found"
#define NO_SPEED "the speed of the link is not known; see --link-speed"

/* All verdicts by which something did not arrive, as the text report adds them up. */
#define LOST(space)                                                                    \
    "losses." space ".lost_before_capture+losses." space                               \
    ".undelivered_after_capture+losses." space ".ack_lost+losses." space               \
    ".data_or_ack_lost+losses." space ".corrupt"

/* clang-format off */
static const rs_html_column stream_columns[] = {
    {"#", "id", RS_HTML_NUMBER, RS_HTML_ALWAYS, "The stream's number in this report", NULL},
    {"point", "point", RS_HTML_NUMBER, RS_HTML_IF_ANY, "Where it was captured", NULL},
    {"from", "src_label", RS_HTML_TEXT, RS_HTML_ALWAYS, "Who sends", NULL},
    {"to", "dst_label", RS_HTML_TEXT, RS_HTML_ALWAYS, "To whom", NULL},
    {"tenant", "tenant.id", RS_HTML_NUMBER, RS_HTML_IF_ANY, "The overlay network that it is in", "in no tunnel"},
    {"QP", "dst_qpn", RS_HTML_HEX, RS_HTML_ALWAYS, "Queue pair that it goes to", NULL},
    {"type", "transport", RS_HTML_TEXT, RS_HTML_ALWAYS, "Transport service", NULL},
    {"packets", "packets", RS_HTML_COUNT, RS_HTML_ALWAYS, "Captured", NULL},
    {"payload", "payload_bytes", RS_HTML_BYTES, RS_HTML_ALWAYS, "Payload of these packets", NULL},
    {"lost", LOST("requests") "+" LOST("responses"), RS_HTML_COUNT, RS_HTML_ALWAYS, "Packets that did not arrive, requests and responses, on either side of the capture", NULL},
    {"resent", "retransmissions.packets+responses.resent", RS_HTML_COUNT, RS_HTML_ALWAYS, "Packets sent again", NULL},
    {"rounds", "retransmissions.rounds", RS_HTML_COUNT, RS_HTML_IF_ANY, "Rounds of retransmission", NULL},
    {"gaps", "requests.gaps+responses.gaps", RS_HTML_COUNT, RS_HTML_IF_ANY, "Places where PSNs are missing", NULL},
    {"late", "requests.reordered+responses.reordered", RS_HTML_COUNT, RS_HTML_IF_ANY, "Packets that came behind later ones", NULL},
    {"duplicates", "requests.duplicates+responses.duplicates", RS_HTML_COUNT, RS_HTML_IF_ANY, "Copies made by the network", NULL},
    {"NAKs", "naks.psn_sequence+naks.invalid_request+naks.remote_access+naks.remote_operational", RS_HTML_COUNT, RS_HTML_IF_ANY, "Received about its requests, RNR apart", UNPAIRED},
    {"RNR", "naks.rnr", RS_HTML_COUNT, RS_HTML_IF_ANY, "RNR NAKs received about its requests", UNPAIRED},
    {"CE", "ecn.ce", RS_HTML_COUNT, RS_HTML_IF_ANY, "Data packets marked by the network", NULL},
    {"CE share", "ecn.ce/ecn.ce+ecn.ect0+ecn.ect1+ecn.not_ect", RS_HTML_SHARE, RS_HTML_IF_ANY, "Marked data packets of all data packets", "no data packet"},
    {"CNPs back", "cnps_received", RS_HTML_COUNT, RS_HTML_IF_ANY, "CNPs that its data caused", UNPAIRED},
    {"recovery", "recovery_model", RS_HTML_TEXT, RS_HTML_ALWAYS, "What the receiver does after a loss", NULL},
    {"vantage", "vantage", RS_HTML_TEXT, RS_HTML_ALWAYS, "At which end of it the capture was taken", NULL},
    {"message p50", "message_completion_ns.p50", RS_HTML_DURATION, RS_HTML_IF_ANY, "Median of the time from a message's first packet to its ACK", "no sample"},
    {"message p99", "message_completion_ns.p99", RS_HTML_DURATION, RS_HTML_IF_ANY, "99 % of messages took no longer", "no sample"},
    {"ACK p50", "ack_latency_ns.p50", RS_HTML_DURATION, RS_HTML_IF_ANY, "Median of the time from a request to its ACK", "no sample"},
    {"start", "first_ts_ns", RS_HTML_TIME, RS_HTML_ALWAYS, "First packet, from the beginning of the capture", NULL},
    {"end", "last_ts_ns", RS_HTML_TIME, RS_HTML_ALWAYS, "Last packet", NULL},
};

static const rs_html_column connection_columns[] = {
    {"#", "id", RS_HTML_NUMBER, RS_HTML_ALWAYS, NULL, NULL},
    {"end", "a.label", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"QP", "a.qpn", RS_HTML_HEX, RS_HTML_ALWAYS, NULL, NULL},
    {"process", "a.process.comm", RS_HTML_TEXT, RS_HTML_IF_ANY, "Who owns the queue pair", "not in the tables of --qp-map"},
    {"other end", "b.label", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"other QP", "b.qpn", RS_HTML_HEX, RS_HTML_ALWAYS, NULL, NULL},
    {"other process", "b.process.comm", RS_HTML_TEXT, RS_HTML_IF_ANY, "Who owns the queue pair", "not in the tables of --qp-map"},
    {"paired by", "paired_by", RS_HTML_TEXT, RS_HTML_ALWAYS, "What says that these two belong together", NULL},
    {"trust", "trust", RS_HTML_TEXT, RS_HTML_ALWAYS, "How far that is to be trusted", NULL},
    {"streams", "streams", RS_HTML_STREAMS, RS_HTML_ALWAYS, NULL, NULL},
    {"set up in", "cm.setup_ns", RS_HTML_DURATION, RS_HTML_IF_ANY, "From the request of the communication manager to ready", "no handshake of the communication manager in the capture"},
    {"MTU", "cm.path_mtu", RS_HTML_COUNT, RS_HTML_IF_ANY, "Path MTU agreed upon, in bytes", "no handshake of the communication manager in the capture"},
    {"rejected", "cm.rejected", RS_HTML_TEXT, RS_HTML_IF_ANY, "Whether either end refused", "no handshake of the communication manager in the capture"},
};

static const rs_html_column pause_columns[] = {
    {"#", "id", RS_HTML_NUMBER, RS_HTML_ALWAYS, NULL, NULL},
    {"point", "point", RS_HTML_NUMBER, RS_HTML_ALWAYS, "Where it was captured", NULL},
    {"kind", "kind", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"who pauses", "src_label", RS_HTML_TEXT, RS_HTML_ALWAYS, "Sender of the pause frames", NULL},
    {"it is", "direction", RS_HTML_TEXT, RS_HTML_ALWAYS, "A host, the network, or not to be told", NULL},
    {"priority", "priority", RS_HTML_NUMBER, RS_HTML_ALWAYS, NULL, "802.3x pauses all"},
    {"XOFF", "xoff", RS_HTML_COUNT, RS_HTML_ALWAYS, "Frames that stopped what was not stopped", NULL},
    {"refresh", "refresh", RS_HTML_COUNT, RS_HTML_IF_ANY, "Frames that went on stopping it", NULL},
    {"XON", "xon", RS_HTML_COUNT, RS_HTML_IF_ANY, "Frames that let it go", NULL},
    {"expired", "expired", RS_HTML_COUNT, RS_HTML_IF_ANY, "Pauses that ran out by themselves", NO_SPEED},
    {"paused", "total_ns", RS_HTML_DURATION, RS_HTML_ALWAYS, "All intervals together", NO_SPEED},
    {"share", "paused_share", RS_HTML_SHARE, RS_HTML_ALWAYS, "Of the time that its point was captured", NO_SPEED},
    {"longest", "longest_ns", RS_HTML_DURATION, RS_HTML_ALWAYS, "Longest interval", NO_SPEED},
    {"longest hold", "longest_hold_ns", RS_HTML_DURATION, RS_HTML_IF_ANY, "Longest time held by pauses that follow on one another", NO_SPEED},
    {"median", "lengths_ns.p50", RS_HTML_DURATION, RS_HTML_IF_ANY, "Median length of an interval", NO_SPEED},
    {"streams held", "victims.n_streams", RS_HTML_COUNT, RS_HTML_IF_ANY, "Streams that it held back", NO_SPEED},
    {"link", "link_speed_bps", RS_HTML_SPEED, RS_HTML_ALWAYS, "Speed of the link", NO_SPEED},
    {"speed from", "link_speed_source", RS_HTML_TEXT, RS_HTML_IF_ANY, "What says so", NO_SPEED},
};

static const rs_html_column background_columns[] = {
    {"protocol", "protocol", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"category", "category", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"flows", "flows", RS_HTML_COUNT, RS_HTML_ALWAYS, NULL, NULL},
    {"packets", "packets", RS_HTML_COUNT, RS_HTML_ALWAYS, NULL, NULL},
    {"bytes", "bytes", RS_HTML_BYTES, RS_HTML_ALWAYS, NULL, NULL},
    {"in lossless priority", "in_lossless_priority", RS_HTML_COUNT, RS_HTML_ALWAYS, "Packets that ride where RoCE is protected", "which priorities are lossless is not known here"},
};
/* clang-format on */

/* What stands around a table: its section, what it is about, and what its rows are. */
typedef struct surroundings {
    const char *id, *heading, *lead, *rows;
} surroundings;

static rs_html_table_style
style_of(const rs_html_report *r, const char *id, const char *caption)
{
    return (rs_html_table_style){
        .id = id,
        .caption = caption,
        .row_id = "id",
        .origin_ns = r->analysis->first_ns,
        .resolution_ns = r->analysis->resolution_ns,
    };
}

/* Whether a table may have one more row. */
static gboolean
has_room(const rs_html_table *table, gsize budget_bytes)
{
    return rs_html_table_n_rows(table) < RS_HTML_TABLE_ROWS &&
           rs_html_table_size(table) < budget_bytes;
}

/* Hosts stand by their names everywhere in the report.  Takes `label` over. */
static void
set_label(json_t *object, const char *key, char *label)
{
    json_object_set_new(object, key, rs_json_text(label));
    g_free(label);
}

static json_t *
stream_row(const rs_html_report *r, guint32 id)
{
    const rs_hosts *hosts = r->analysis->told->hosts;
    const roce_stream *s = roce_tracker_stream(r->analysis->tracker, id);
    json_t *row = rs_json_stream(r->analysis, r->summary, id);
    set_label(row, "src_label", rs_hosts_label(hosts, &s->src));
    set_label(row, "dst_label", rs_hosts_label(hosts, &s->dst));
    return row;
}

static json_t *
connection_row(const rs_html_report *r, guint32 id)
{
    const rs_hosts *hosts = r->analysis->told->hosts;
    const rs_link *link = g_ptr_array_index(r->summary->links, id);
    json_t *row = rs_json_connection(r->analysis, r->summary, id);
    set_label(json_object_get(row, "a"), "label",
              rs_hosts_label(hosts, &link->addr[0]));
    set_label(json_object_get(row, "b"), "label",
              rs_hosts_label(hosts, &link->addr[1]));
    return row;
}

static json_t *
pause_row(const rs_html_report *r, guint32 id)
{
    const roce_pause_source *p = roce_tracker_pause(r->analysis->tracker, id);
    json_t *row = rs_json_pause(r->analysis, id);
    set_label(row, "src_label",
              rs_hosts_label_mac(r->analysis->told->hosts, p->src_mac));
    return row;
}

static void
add_row(rs_html_table *table, json_t *row)
{
    rs_html_table_add(table, row);
    json_decref(row);
}

/* Writes the section of a table that would have `n` rows if it had the room. */
static void
write_section(const rs_html_report *r, const surroundings *around,
              const rs_html_table *table, guint n)
{
    if (n == 0) {
        return;
    }
    rs_html_section(r->page, around->id, around->heading);
    rs_html_printf(r->page, "<p class=\"lead\">%s</p>\n", around->lead);
    rs_html_table_write(table, r->page);
    if (n > rs_html_table_n_rows(table)) {
        g_autofree char *more = rs_format_count(n - rs_html_table_n_rows(table));
        rs_html_printf(r->page,
                       "<p class=\"more\">… and %s more %s: <code>--json</code> and "
                       "<code>--csv</code> have them all.</p>\n",
                       more, around->rows);
    }
    rs_html_end_section(r->page);
}

void
rs_html_prepare_streams(rs_html_report *r)
{
    const GArray *order = r->summary->worst_first;
    r->streams_style = style_of(r, "streams", "Streams, worst first");
    r->streams = rs_html_table_new(&r->streams_style, stream_columns,
                                   G_N_ELEMENTS(stream_columns));
    r->linkable = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < order->len && has_room(r->streams, RS_HTML_STREAMS_BYTES);
         i++) {
        guint32 id = g_array_index(order, guint32, i);
        add_row(r->streams, stream_row(r, id));
        g_hash_table_add(r->linkable, GUINT_TO_POINTER(id));
    }
}

void
rs_html_streams(const rs_html_report *r)
{
    static const surroundings around = {"streams", "Streams",
                                        "Packets from one address to one queue pair, "
                                        "worst first.  Times count from the "
                                        "first packet of the capture.",
                                        "streams"};
    write_section(r, &around, r->streams, r->summary->worst_first->len);
}

void
rs_html_connections(const rs_html_report *r)
{
    static const surroundings around = {
        "connections", "Connections",
        "Streams that are the two directions of one queue pair, and how that is known.",
        "connections"};
    guint n = r->summary->links->len;
    const rs_html_table_style style = style_of(r, "connections", "Connections");
    g_autoptr(rs_html_table) table =
        rs_html_table_new(&style, connection_columns, G_N_ELEMENTS(connection_columns));
    for (guint i = 0; i < n && has_room(table, RS_HTML_TABLE_BYTES); i++) {
        add_row(table, connection_row(r, i));
    }
    write_section(r, &around, table, n);
}

void
rs_html_pauses(const rs_html_report *r)
{
    static const surroundings around = {"pauses", "Pauses",
                                        "Who stops whom, by port and priority.",
                                        "senders of pauses"};
    guint n = roce_tracker_n_pauses(r->analysis->tracker);
    const rs_html_table_style style = style_of(r, "pauses", "Pauses");
    g_autoptr(rs_html_table) table =
        rs_html_table_new(&style, pause_columns, G_N_ELEMENTS(pause_columns));
    for (guint i = 0; i < n && has_room(table, RS_HTML_TABLE_BYTES); i++) {
        add_row(table, pause_row(r, i));
    }
    write_section(r, &around, table, n);
}

void
rs_html_background(const rs_html_report *r)
{
    static const surroundings around = {"background", "Other traffic",
                                        "What else was on the wire, as nDPI names it.",
                                        "protocols"};
    json_t *rows = rs_json_background(r->analysis);
    guint n = (guint)json_array_size(rows);
    rs_html_table_style style = style_of(r, "background", "Other traffic");
    style.row_id = NULL;
    g_autoptr(rs_html_table) table =
        rs_html_table_new(&style, background_columns, G_N_ELEMENTS(background_columns));
    for (guint i = 0; i < n && has_room(table, RS_HTML_TABLE_BYTES); i++) {
        rs_html_table_add(table, json_array_get(rows, i));
    }
    write_section(r, &around, table, n);
    json_decref(rows);
}
