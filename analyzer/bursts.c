/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bursts.h"

#include "data_sight.h"

#define MAX_TARGETS 4096
#define NS_PER_S 1e9
#define BITS_PER_BYTE 8
#define LEAST_FRAME_BYTES                                                              \
    60 /* without FCS: what is captured where it is sent may lack pad */

struct rs_burst_aim {
    rs_burst_target pub;
    guint64 hot_bytes;       /* from so many on a window is hot; 0: none is */
    guint64 window_start_ns; /* of the newest */
    guint64 window_bytes;
    guint64 window_frame; /* its first */
    guint64 behind_bytes; /* pub.bytes behind the newest that was stamped long before */
    gboolean started;
    gboolean bursting;
    rs_burst burst; /* up to the window before */
};

struct rs_bursts {
    guint64 told_bps;
    rs_destinations *destinations;
    GPtrArray *targets; /* rs_burst_aim */
    gboolean known;
};

static void
free_target(gpointer data)
{
    rs_burst_aim *t = data;
    g_array_unref(t->pub.longest);
    g_free(t);
}

rs_bursts *
rs_bursts_new(guint64 told_bps)
{
    rs_bursts *bursts = g_new0(rs_bursts, 1);
    bursts->told_bps = told_bps;
    bursts->destinations = rs_destinations_new(MAX_TARGETS);
    bursts->targets = g_ptr_array_new_with_free_func(free_target);
    return bursts;
}

void
rs_bursts_free(rs_bursts *bursts)
{
    if (bursts != NULL) {
        g_ptr_array_unref(bursts->targets);
        rs_destinations_free(bursts->destinations);
        g_free(bursts);
    }
}

static guint64
rate_of(const rs_bursts *bursts, guint64 link_bps)
{
    return bursts->told_bps != 0 ? bursts->told_bps : link_bps / 100 * RS_BURST_PERCENT;
}

/* What takes a window at that rate, rounded up. */
static guint64
bytes_of_window(guint64 rate_bps)
{
    double bytes = (double)rate_bps / BITS_PER_BYTE * RS_BURST_WINDOW_NS / NS_PER_S;
    guint64 whole = (guint64)bytes;
    return whole + ((double)whole < bytes ? 1 : 0);
}

rs_burst_aim *
rs_bursts_aim_of(rs_bursts *bursts, const roce_stream *stream, guint64 link_bps)
{
    guint32 i = rs_destinations_of(bursts->destinations, stream);
    if (i == RS_NO_DESTINATION) {
        return NULL;
    }
    if (i == bursts->targets->len) {
        rs_burst_aim *t = g_new0(rs_burst_aim, 1);
        t->pub.at = *rs_destinations_at(bursts->destinations, i);
        t->pub.rate_bps = rate_of(bursts, link_bps);
        t->pub.rate_told = bursts->told_bps != 0;
        t->pub.longest = g_array_new(FALSE, FALSE, sizeof(rs_burst));
        t->hot_bytes = bytes_of_window(t->pub.rate_bps);
        g_ptr_array_add(bursts->targets, t);
    }
    return g_ptr_array_index(bursts->targets, i);
}

/* ---- the list of the longest ---- */

static guint64
length_of(const rs_burst *burst)
{
    return burst->end_ns - burst->start_ns;
}

/* Whether `a` is the better one to keep: longer, more, earlier. */
static gboolean
is_worth_more(const rs_burst *a, const rs_burst *b)
{
    if (length_of(a) != length_of(b)) {
        return length_of(a) > length_of(b);
    }
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->start_ns < b->start_ns;
}

static void
keep(GArray *longest, const rs_burst *burst)
{
    g_array_append_val(longest, *burst);
    if (longest->len <= RS_BURSTS_KEPT) {
        return;
    }
    guint least = 0;
    for (guint i = 1; i < longest->len; i++) {
        if (is_worth_more(&g_array_index(longest, rs_burst, least),
                          &g_array_index(longest, rs_burst, i))) {
            least = i;
        }
    }
    g_array_remove_index(longest, least);
}

/* ---- windows ---- */

static void
end_burst(rs_burst_aim *t)
{
    if (!t->bursting) {
        return;
    }
    t->bursting = FALSE;
    t->pub.n_bursts++;
    t->pub.burst_bytes += t->burst.bytes;
    t->pub.longest_ns = MAX(t->pub.longest_ns, length_of(&t->burst));
    keep(t->pub.longest, &t->burst);
}

/* The newest window is over. */
static void
end_window(rs_burst_aim *t)
{
    guint64 start_ns = t->window_start_ns;
    if (t->window_bytes > t->pub.peak_bytes) {
        t->pub.peak_bytes = t->window_bytes;
        t->pub.peak_ns = start_ns;
    }
    if (t->hot_bytes == 0 || t->window_bytes < t->hot_bytes) {
        end_burst(t);
        return;
    }
    if (!t->bursting) {
        t->bursting = TRUE;
        t->burst = (rs_burst){.start_ns = start_ns, .frame = t->window_frame};
    }
    t->burst.end_ns = start_ns + RS_BURST_WINDOW_NS;
    t->burst.bytes += t->window_bytes;
    t->burst.peak_bytes = MAX(t->burst.peak_bytes, t->window_bytes);
}

G_NO_INLINE static void
begin_window(rs_burst_aim *t, guint64 start_ns, guint64 frame)
{
    if (t->started) {
        end_window(t);
        if (start_ns != t->window_start_ns + RS_BURST_WINDOW_NS) {
            end_burst(t);
        }
    }
    t->started = TRUE;
    t->window_start_ns = start_ns;
    t->window_bytes = 0;
    t->window_frame = frame;
}

/* A packet that does not lie in the newest window.  Where stamps step back that goes on, but
 * for a clock that was set, as the second of two in a row shows that were stamped long before
 * it: of what that shows each has its own window. */
G_NO_INLINE static void
leave_window(rs_burst_aim *t, guint64 now_ns, guint64 frame, guint64 bytes)
{
    guint64 start_ns = now_ns - now_ns % RS_BURST_WINDOW_NS;
    gboolean is_behind = t->started && roce_is_set_back(now_ns, t->window_start_ns);
    if (!t->started || start_ns > t->window_start_ns ||
        (is_behind && t->behind_bytes == t->pub.bytes)) {
        begin_window(t, start_ns, frame);
    } else if (is_behind) {
        t->behind_bytes = t->pub.bytes + bytes;
    }
}

static inline void
add(rs_burst_aim *t, guint64 now_ns, guint64 frame, guint64 wire_bytes)
{
    guint64 bytes = MAX(wire_bytes, LEAST_FRAME_BYTES) + RS_FRAME_OVERHEAD_BYTES;
    /* Of one that lies before it, the difference wraps. */
    if (!t->started || now_ns - t->window_start_ns >= RS_BURST_WINDOW_NS) {
        leave_window(t, now_ns, frame, bytes);
    }
    t->window_bytes += bytes;
    t->pub.bytes += bytes;
}

void
rs_bursts_packet(rs_bursts *bursts, const rs_sight *sight)
{
    rs_burst_aim *t = sight->is_counted
                          ? rs_bursts_aim_of(bursts, sight->stream, sight->link_bps)
                          : NULL;
    if (t != NULL) {
        add(t, sight->frame->time_ns, sight->frame->number, sight->wire_bytes);
    }
}

void
rs_bursts_glimpse(rs_burst_aim *aim, const rs_glimpse *glimpse)
{
    add(aim, glimpse->time_ns, glimpse->frame, glimpse->wire_bytes);
}

void
rs_bursts_finish(rs_bursts *bursts, guint64 resolution_ns)
{
    bursts->known = resolution_ns * RS_BURST_STAMPS <= RS_BURST_WINDOW_NS;
    for (guint i = 0; i < bursts->targets->len; i++) {
        rs_burst_aim *t = g_ptr_array_index(bursts->targets, i);
        end_window(t);
        end_burst(t);
    }
}

gboolean
rs_bursts_known(const rs_bursts *bursts)
{
    return bursts->known;
}

guint
rs_bursts_n_targets(const rs_bursts *bursts)
{
    return bursts->targets->len;
}

const rs_burst_target *
rs_bursts_target_at(const rs_bursts *bursts, guint i)
{
    return &((const rs_burst_aim *)g_ptr_array_index(bursts->targets, i))->pub;
}

guint64
rs_bursts_omitted(const rs_bursts *bursts)
{
    return rs_destinations_omitted(bursts->destinations);
}
