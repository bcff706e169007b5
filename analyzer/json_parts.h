/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the JSON report.  Each function returns a new reference. */
#ifndef RS_JSON_PARTS_H
#define RS_JSON_PARTS_H

#include "dist.h"
#include "summary.h"

#include <jansson.h>

json_t *
rs_json_count(guint64 n);

/* The count, or null when it is not known. */
json_t *
rs_json_known(guint64 n, gboolean known);

/* A stamp, or what two are apart; null where packets have no stamps. */
json_t *
rs_json_time(const rs_analysis *analysis, guint64 ns);

/* Bit n of a set: n, in a list. */
json_t *
rs_json_priorities_set(guint8 priorities);

/* The text made valid UTF-8, or null. */
json_t *
rs_json_text(const char *text);

/* A distribution, no finer than the capture's own resolution; null without samples. */
json_t *
rs_json_dist(const roce_histogram *h, guint64 resolution_ns);

/* Another one, whose samples were kept, as exact as it is; null without samples. */
json_t *
rs_json_spread(const rs_dist *spread);

/* What --hosts says of an address, or null: "name", and "rail" and "port" or null. */
json_t *
rs_json_host(const rs_host *host);

/* "kind" and "id" of an overlay network, or null for none. */
json_t *
rs_json_tenant(const roce_tenant *tenant);

/* What all streams come to, each packet once. */
json_t *
rs_json_totals(const rs_analysis *analysis, const rs_summary *summary);

json_t *
rs_json_stream(const rs_analysis *analysis, const rs_summary *summary, guint32 id);

/* How many streams are beyond --max-streams. */
json_t *
rs_json_streams_omitted(const rs_analysis *analysis, const rs_summary *summary);

json_t *
rs_json_event(const rs_analysis *analysis, const roce_event *event);

/* How many events of each kind there were. */
json_t *
rs_json_event_totals(const rs_analysis *analysis);

#endif
