/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spills.h"

#include "roce/psn.h"

#include <math.h>

#define LEAST_LOST 3
#define MORE_THAN_CHANCE 3    /* times */
#define CHANCE_LOG (-13.8155) /* of a million to one */

/* Which packet of a stream, by its PSN or by its frame; PSNs unwrapped at two points may differ
 * by some times 2^24. */
typedef guint64 which;

/* The newest of them. */
typedef struct known {
    GHashTable *all; /* which, of the ring */
    which *ring;     /* RS_SPILLS_KEPT; NULL: there was none yet */
    guint64 n;       /* that there were */
} known;

struct rs_spills {
    GHashTable *streams; /* id -> rs_spill: the tracker's table of streams has a cap */
    known frames, psns;
    GHashTable *missed; /* stream -> GArray of which that did not come there, by PSN */
    guint n_missed;     /* in all of them */
};

static which
by_frame(guint32 stream, guint64 frame)
{
    return (guint64)stream << 40 ^ frame;
}

static which
by_psn(guint32 stream, roce_space space, gint64 psn)
{
    return (guint64)stream << 32 | (guint64)space << 24 | roce_psn_wrap(psn);
}

static void
free_array(gpointer data)
{
    g_array_unref(data);
}

rs_spills *
rs_spills_new(void)
{
    rs_spills *spills = g_new0(rs_spills, 1);
    spills->streams = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    spills->frames.all = g_hash_table_new(g_int64_hash, g_int64_equal);
    spills->psns.all = g_hash_table_new(g_int64_hash, g_int64_equal);
    spills->missed = g_hash_table_new_full(NULL, NULL, NULL, free_array);
    return spills;
}

void
rs_spills_free(rs_spills *spills)
{
    if (spills == NULL) {
        return;
    }
    g_hash_table_unref(spills->streams);
    g_hash_table_unref(spills->frames.all);
    g_hash_table_unref(spills->psns.all);
    g_hash_table_unref(spills->missed);
    g_free(spills->frames.ring);
    g_free(spills->psns.ring);
    g_free(spills);
}

/* The newest one takes the place of the oldest; FALSE: it is known. */
static gboolean
remember(known *kept, which one)
{
    if (g_hash_table_contains(kept->all, &one)) {
        return FALSE;
    }
    if (kept->ring == NULL) {
        kept->ring = g_new(which, RS_SPILLS_KEPT);
    }
    which *place = &kept->ring[kept->n % RS_SPILLS_KEPT];
    if (kept->n >= RS_SPILLS_KEPT) {
        g_hash_table_remove(kept->all, place);
    }
    *place = one;
    g_hash_table_add(kept->all, place);
    kept->n++;
    return TRUE;
}

void
rs_spills_came(rs_spills *spills, const roce_sighting *sighting, guint64 frame,
               guint32 pause)
{
    if (!sighting->sequenced ||
        !remember(&spills->frames, by_frame(sighting->stream, frame))) {
        return;
    }
    gpointer id = GUINT_TO_POINTER(sighting->stream);
    rs_spill *spill = g_hash_table_lookup(spills->streams, id);
    if (spill == NULL) {
        spill = g_new0(rs_spill, 1);
        g_hash_table_insert(spills->streams, id, spill);
    }
    spill->pause = pause;
    spill->came++;
    gboolean is_first =
        !sighting->expected_known || sighting->psn >= sighting->expected;
    if (is_first && remember(&spills->psns, by_psn(sighting->stream, sighting->space,
                                                   sighting->psn))) {
        spill->came_first++;
    }
}

/* What was missed at the point of a stream, as another one may know it. */
static void
add_missed(rs_spills *spills, const roce_event *event)
{
    gpointer id = GUINT_TO_POINTER(event->stream);
    GArray *missed = g_hash_table_lookup(spills->missed, id);
    if (missed == NULL && event->kind != ROCE_EVENT_LOSS) {
        return;
    }
    if (missed == NULL) {
        missed = g_array_new(FALSE, FALSE, sizeof(which));
        g_hash_table_insert(spills->missed, id, missed);
    }
    which one = by_psn(0, event->space, event->psn);
    if (event->kind == ROCE_EVENT_LOSS && spills->n_missed < RS_SPILLS_KEPT) {
        g_array_append_val(missed, one);
        spills->n_missed++;
    } else if (event->kind == ROCE_EVENT_LOSS_WITHDRAWN) {
        for (guint i = missed->len; i-- > 0;) {
            if (g_array_index(missed, which, i) == one) {
                g_array_remove_index(missed, i);
                spills->n_missed--;
                return;
            }
        }
    }
}

void
rs_spills_event(rs_spills *spills, const roce_event *event)
{
    if (spills->frames.n == 0 ||
        (event->kind != ROCE_EVENT_LOSS && event->kind != ROCE_EVENT_LOSS_WITHDRAWN)) {
        return;
    }
    if (event->detail == ROCE_VERDICT_LOST_BEFORE_CAPTURE) {
        add_missed(spills, event);
        return;
    }
    which one = by_frame(event->stream, event->related_frame);
    if (event->kind == ROCE_EVENT_LOSS &&
        event->detail == ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE &&
        g_hash_table_contains(spills->frames.all, &one)) {
        rs_spill *spill =
            g_hash_table_lookup(spills->streams, GUINT_TO_POINTER(event->stream));
        spill->undelivered++;
    }
}

const rs_spill *
rs_spills_of(const rs_spills *spills, guint32 stream)
{
    return g_hash_table_lookup(spills->streams, GUINT_TO_POINTER(stream));
}

guint64
rs_spills_lost_before(const rs_spills *spills, guint32 from, guint32 to)
{
    const GArray *missed = g_hash_table_lookup(spills->missed, GUINT_TO_POINTER(to));
    g_autoptr(GHashTable) counted = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint i = 0; missed != NULL && i < missed->len; i++) {
        which one = g_array_index(missed, which, i) | by_psn(from, 0, 0);
        if (g_hash_table_contains(spills->psns.all, &one)) {
            g_hash_table_add(counted, &g_array_index(missed, which, i));
        }
    }
    return g_hash_table_size(counted);
}

/* Chernoff's bound of a binomial's tail, by that of Poisson's, which is no smaller. */
gboolean
rs_spills_is_no_chance(guint64 lost, guint64 n_lost, guint64 came, guint64 n)
{
    if (lost < LEAST_LOST || n == 0 || came == 0) {
        return FALSE;
    }
    double mean = (double)n_lost * (double)came / (double)n;
    double k = (double)lost;
    return k >= MORE_THAN_CHANCE * mean && k - mean - k * log(k / mean) <= CHANCE_LOG;
}
