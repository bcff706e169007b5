/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_json.h"

#include "json_background.h"
#include "json_capture.h"
#include "json_congestion.h"
#include "json_connection.h"
#include "json_counters.h"
#include "json_dcb.h"
#include "json_finding.h"
#include "json_list.h"
#include "json_load.h"
#include "json_parts.h"
#include "json_paths.h"
#include "json_pause.h"
#include "json_priorities.h"
#include "json_rhythm.h"
#include "json_timeline.h"
#include "workers.h"

#include <jansson.h>

#define SCHEMA_VERSION 1

/* ,"name":value */
static void
put_member(FILE *out, const char *name, json_t *value)
{
    fprintf(out, ",\n\"%s\":", name);
    rs_json_put(out, value);
}

/* What elements of lists are made from. */
typedef struct source {
    const rs_analysis *analysis;
    const rs_summary *summary;
    const GPtrArray *findings;
} source;

static void
put_list(FILE *out, const source *from, const char *name, guint n,
         json_t *(*element)(gconstpointer from, guint i))
{
    const rs_json_list list = {.element = element, .ctx = from, .n = n};
    fprintf(out, ",\n\"%s\":", name);
    rs_json_put_list(
        out, &list, MIN(from->analysis->options->n_threads, rs_workers_n_processors()));
}

static json_t *
stream(gconstpointer data, guint i)
{
    const source *from = data;
    guint32 id = g_array_index(from->summary->worst_first, guint32, i);
    return rs_json_stream(from->analysis, from->summary, id);
}

static json_t *
connection(gconstpointer data, guint i)
{
    const source *from = data;
    return rs_json_connection(from->analysis, from->summary, i);
}

static json_t *
pause_source(gconstpointer data, guint i)
{
    const source *from = data;
    return rs_json_pause(from->analysis, i);
}

static json_t *
event(gconstpointer data, guint i)
{
    const source *from = data;
    return rs_json_event(from->analysis,
                         &g_array_index(from->analysis->events, roce_event, i));
}

static json_t *
finding(gconstpointer data, guint i)
{
    const source *from = data;
    return rs_json_finding(g_ptr_array_index(from->findings, i));
}

void
rs_report_json(FILE *out, const rs_analysis *analysis, const rs_summary *summary,
               const GPtrArray *findings)
{
    const source from = {analysis, summary, findings};
    fprintf(out, "{\"schema_version\":%d", SCHEMA_VERSION);
    put_member(out, "tool", rs_json_tool());
    put_member(out, "capture", rs_json_capture(analysis));
    put_member(out, "totals", rs_json_totals(analysis, summary));
    put_member(out, "unattributed", rs_json_unattributed(summary));
    put_list(out, &from, "streams",
             MIN(summary->worst_first->len, analysis->options->max_streams), stream);
    put_member(out, "streams_omitted", rs_json_streams_omitted(analysis, summary));
    put_list(out, &from, "connections", summary->links->len, connection);
    put_list(out, &from, "pauses", roce_tracker_n_pauses(analysis->tracker),
             pause_source);
    put_member(out, "congestion", rs_json_congestion(analysis));
    put_member(out, "pause_cycle", rs_json_pause_cycle(analysis));
    put_member(out, "timeline", rs_json_timeline(analysis, summary));
    put_member(out, "incast", rs_json_incast(analysis));
    put_member(out, "receivers", rs_json_receivers(analysis, summary));
    put_member(out, "spreading", rs_json_spreading(analysis, summary));
    put_member(out, "elephants", rs_json_elephants(analysis, summary));
    put_member(out, "bursts", rs_json_bursts(analysis));
    put_member(out, "background", rs_json_background(analysis));
    put_member(out, "dcb", rs_json_dcb(analysis, summary));
    put_member(out, "priorities", rs_json_priorities(analysis, summary));
    put_member(out, "paths", rs_json_paths(analysis, summary));
    put_member(out, "counters", rs_json_counters(analysis, summary));
    put_member(out, "rhythm", rs_json_rhythm(analysis));
    put_member(out, "collective", rs_json_collective(analysis));
    put_member(out, "admission", rs_json_admission(analysis));
    put_member(out, "collective_omitted", rs_json_collective_omitted(analysis));
    put_list(out, &from, "events", analysis->events->len, event);
    put_member(out, "event_totals", rs_json_event_totals(analysis));
    put_list(out, &from, "findings", findings->len, finding);
    fputs("}\n", out);
}
