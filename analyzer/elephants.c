/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elephants.h"

#include "data_sight.h"
#include "sorting.h"

/* The payload of each stream that has any. */
static GArray *
payloads(const rs_analysis *analysis, const rs_summary *summary)
{
    GArray *bytes = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint32 id = 0; id < roce_tracker_n_streams(analysis->tracker); id++) {
        const roce_stream *s = roce_tracker_stream(analysis->tracker, id);
        guint64 payload = s->payload_bytes;
        if (payload > 0 && s->dst_qpn != ROCE_GSI_QPN &&
            rs_summary_stands(summary, id)) {
            g_array_append_val(bytes, payload);
        }
    }
    return bytes;
}

void
rs_elephants_find(rs_elephants *elephants, const rs_analysis *analysis,
                  const rs_summary *summary)
{
    g_autoptr(GArray) bytes = payloads(analysis, summary);
    rs_sort_array_u64(bytes);
    guint64 n = bytes->len;
    const guint64 wanted[RS_N_ELEPHANTS] = {
        [RS_ELEPHANTS_1] = 1,
        [RS_ELEPHANTS_10] = 10,
        [RS_ELEPHANTS_1_PERCENT] = (n + 99) / 100,
        [RS_ELEPHANTS_10_PERCENT] = (n + 9) / 10,
    };
    *elephants = (rs_elephants){.streams = n};
    for (guint i = 0; i < bytes->len; i++) {
        guint64 payload = g_array_index(bytes, guint64, bytes->len - 1 - i);
        elephants->bytes += payload;
        for (guint top = 0; top < RS_N_ELEPHANTS; top++) {
            if (i < wanted[top]) {
                elephants->top[top].streams++;
                elephants->top[top].bytes += payload;
            }
        }
    }
}

const char *
rs_elephant_top_name(rs_elephant_top top)
{
    static const char *const names[RS_N_ELEPHANTS] = {
        [RS_ELEPHANTS_1] = "1",
        [RS_ELEPHANTS_10] = "10",
        [RS_ELEPHANTS_1_PERCENT] = "1_percent",
        [RS_ELEPHANTS_10_PERCENT] = "10_percent",
    };
    return names[top];
}
