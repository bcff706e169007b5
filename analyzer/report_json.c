/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report is written piece by piece: what can be long (streams, events, findings) is
 * made, written and freed element by element, so that memory does not follow its
 * length.
 */
#include "report_json.h"

#include "json_background.h"
#include "json_capture.h"
#include "json_congestion.h"
#include "json_connection.h"
#include "json_counters.h"
#include "json_dcb.h"
#include "json_finding.h"
#include "json_load.h"
#include "json_parts.h"
#include "json_paths.h"
#include "json_pause.h"
#include "json_priorities.h"
#include "json_rhythm.h"
#include "json_timeline.h"

#include <jansson.h>

#define SCHEMA_VERSION 1

static void
put(FILE *out, json_t *value)
{
    (void)json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(value);
}

/* ,"name":value */
static void
put_member(FILE *out, const char *name, json_t *value)
{
    fprintf(out, ",\n\"%s\":", name);
    put(out, value);
}

static void
put_streams(FILE *out, const rs_analysis *a, const rs_summary *summary)
{
    guint n = MIN(summary->worst_first->len, a->options->max_streams);
    fputs(",\n\"streams\":[", out);
    for (guint i = 0; i < n; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put(out, rs_json_stream(a, summary,
                                g_array_index(summary->worst_first, guint32, i)));
    }
    fputs("]", out);
    put_member(out, "streams_omitted", rs_json_streams_omitted(a, summary));
}

static void
put_connections(FILE *out, const rs_analysis *a, const rs_summary *summary)
{
    fputs(",\n\"connections\":[", out);
    for (guint i = 0; i < summary->links->len; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put(out, rs_json_connection(a, summary, i));
    }
    fputs("]", out);
}

static void
put_pauses(FILE *out, const rs_analysis *a)
{
    fputs(",\n\"pauses\":[", out);
    for (guint32 i = 0; i < roce_tracker_n_pauses(a->tracker); i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put(out, rs_json_pause(a, i));
    }
    fputs("]", out);
}

static void
put_events(FILE *out, const rs_analysis *a)
{
    fputs(",\n\"events\":[", out);
    for (guint i = 0; i < a->events->len; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put(out, rs_json_event(&g_array_index(a->events, roce_event, i)));
    }
    fputs("]", out);
    put_member(out, "event_totals", rs_json_event_totals(a));
}

static void
put_findings(FILE *out, const GPtrArray *findings)
{
    fputs(",\n\"findings\":[", out);
    for (guint i = 0; i < findings->len; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put(out, rs_json_finding(g_ptr_array_index(findings, i)));
    }
    fputs("]", out);
}

void
rs_report_json(FILE *out, const rs_analysis *analysis, const rs_summary *summary,
               const GPtrArray *findings)
{
    fprintf(out, "{\"schema_version\":%d", SCHEMA_VERSION);
    put_member(out, "tool", rs_json_tool());
    put_member(out, "capture", rs_json_capture(analysis));
    put_member(out, "totals", rs_json_totals(analysis, summary));
    put_member(out, "unattributed", rs_json_unattributed(summary));
    put_streams(out, analysis, summary);
    put_connections(out, analysis, summary);
    put_pauses(out, analysis);
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
    put_events(out, analysis);
    put_findings(out, findings);
    fputs("}\n", out);
}
