/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spills.h"

#include "keys.h"

#include "roce/pause.h"
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

/* PSNs in a row that were not seen when those behind them came. */
typedef struct gap {
    gint64 psn, n;
} gap;

/* What did not come to the point of a stream, of one space. */
typedef struct missed {
    GArray *gaps; /* gap, the newest at the end */
    GArray *psns; /* gint64, of these, that were lost */
} missed;

struct rs_spills {
    GHashTable *streams; /* id -> rs_spill: the tracker's table of streams has a cap */
    known frames, psns;
    GHashTable *missed[ROCE_N_SPACES]; /* stream -> missed */
    guint n_missed;                    /* gaps and PSNs in all of them */
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
free_missed(gpointer data)
{
    missed *at = data;
    g_array_unref(at->gaps);
    g_array_unref(at->psns);
    g_free(at);
}

rs_spills *
rs_spills_new(void)
{
    rs_spills *spills = g_new0(rs_spills, 1);
    spills->streams = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    spills->frames.all = g_hash_table_new(g_int64_hash, g_int64_equal);
    spills->psns.all = g_hash_table_new(rs_key_hash, g_int64_equal);
    for (guint i = 0; i < ROCE_N_SPACES; i++) {
        spills->missed[i] = g_hash_table_new_full(NULL, NULL, NULL, free_missed);
    }
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
    for (guint i = 0; i < ROCE_N_SPACES; i++) {
        g_hash_table_unref(spills->missed[i]);
    }
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

/* The stream's own; new where this one is the first that came behind an XOFF, else NULL. */
static rs_spill *
spill_of(rs_spills *spills, guint32 stream, guint32 pause)
{
    gpointer id = GUINT_TO_POINTER(stream);
    rs_spill *spill = g_hash_table_lookup(spills->streams, id);
    if (spill == NULL && pause != ROCE_NO_PAUSE) {
        spill = g_new0(rs_spill, 1);
        spill->first_psn[ROCE_SPACE_REQUESTS] = ROCE_NO_PSN;
        spill->first_psn[ROCE_SPACE_RESPONSES] = ROCE_NO_PSN;
        g_hash_table_insert(spills->streams, id, spill);
    }
    return spill;
}

static void
take_first(rs_spill *spill, const roce_sighting *sighting)
{
    gint64 *first = &spill->first_psn[sighting->space];
    *first = *first == ROCE_NO_PSN ? sighting->psn : *first;
    spill->n_first++;
}

void
rs_spills_packet(rs_spills *spills, const roce_sighting *sighting, guint64 frame,
                 guint32 pause)
{
    rs_spill *spill =
        sighting->sequenced ? spill_of(spills, sighting->stream, pause) : NULL;
    if (spill == NULL) {
        return;
    }
    const gboolean is_first =
        !sighting->expected_known || sighting->psn >= sighting->expected;
    if (spill->newest_frame != frame) { /* else two kinds of pauses may stop it */
        spill->newest_frame = frame;
        spill->n++;
        if (is_first) {
            take_first(spill, sighting);
        }
    }
    if (pause == ROCE_NO_PAUSE ||
        !remember(&spills->frames, by_frame(sighting->stream, frame))) {
        return;
    }
    spill->pause = pause;
    spill->came++;
    if (is_first && remember(&spills->psns, by_psn(sighting->stream, sighting->space,
                                                   sighting->psn))) {
        spill->came_first++;
    }
}

static missed *
missed_at(const rs_spills *spills, const roce_event *event)
{
    GHashTable *all = spills->missed[event->space];
    gpointer id = GUINT_TO_POINTER(event->stream);
    missed *at = g_hash_table_lookup(all, id);
    if (at == NULL && event->kind == ROCE_EVENT_GAP) {
        at = g_new(missed, 1);
        at->gaps = g_array_new(FALSE, FALSE, sizeof(gap));
        at->psns = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_hash_table_insert(all, id, at);
    }
    return at;
}

/* Gaps open one behind the other, but where PSNs begin anew. */
static gboolean
is_in_gap(const missed *at, gint64 psn)
{
    guint low = 0;
    guint high = at->gaps->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const gap *one = &g_array_index(at->gaps, gap, middle);
        if (psn >= one->psn && psn < one->psn + one->n) {
            return TRUE;
        }
        low = psn < one->psn ? low : middle + 1;
        high = psn < one->psn ? middle : high;
    }
    return FALSE;
}

static void
forget_missed(rs_spills *spills, missed *at, gint64 psn)
{
    for (guint i = at->psns->len; i-- > 0;) {
        if (g_array_index(at->psns, gint64, i) == psn) {
            g_array_remove_index(at->psns, i);
            spills->n_missed--;
            return;
        }
    }
}

/* What was missed at the point of a stream, as another one may know it. */
static void
take_missed(rs_spills *spills, const roce_event *event)
{
    missed *at = missed_at(spills, event);
    if (at == NULL) {
        return;
    }
    if (event->kind == ROCE_EVENT_LOSS_WITHDRAWN) {
        forget_missed(spills, at, event->psn);
    } else if (spills->n_missed >= RS_SPILLS_KEPT) {
        return;
    } else if (event->kind == ROCE_EVENT_GAP) {
        const gap one = {event->psn, (gint64)event->count};
        g_array_append_val(at->gaps, one);
        spills->n_missed++;
    } else if (is_in_gap(at, event->psn)) {
        g_array_append_val(at->psns, event->psn);
        spills->n_missed++;
    }
}

static void
take_undelivered(rs_spills *spills, const roce_event *event)
{
    rs_spill *spill =
        g_hash_table_lookup(spills->streams, GUINT_TO_POINTER(event->stream));
    if (spill != NULL && event->kind == ROCE_EVENT_LOSS) {
        which one = by_frame(event->stream, event->related_frame);
        spill->lost++;
        spill->undelivered += g_hash_table_contains(spills->frames.all, &one) ? 1 : 0;
    }
}

void
rs_spills_event(rs_spills *spills, const roce_event *event)
{
    const gboolean is_loss =
        event->kind == ROCE_EVENT_LOSS || event->kind == ROCE_EVENT_LOSS_WITHDRAWN;
    if (spills->frames.n == 0 || event->stream == ROCE_NO_STREAM ||
        (!is_loss && event->kind != ROCE_EVENT_GAP)) {
        return;
    }
    if (!is_loss || event->detail == ROCE_VERDICT_LOST_BEFORE_CAPTURE) {
        take_missed(spills, event);
    } else if (event->detail == ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE) {
        take_undelivered(spills, event);
    }
}

const rs_spill *
rs_spills_of(const rs_spills *spills, guint32 stream)
{
    return g_hash_table_lookup(spills->streams, GUINT_TO_POINTER(stream));
}

/* The PSNs of losses at the point of a stream; NULL: none. */
static const GArray *
psns_missed(const rs_spills *spills, guint32 stream, roce_space space)
{
    const missed *at =
        g_hash_table_lookup(spills->missed[space], GUINT_TO_POINTER(stream));
    return at != NULL ? at->psns : NULL;
}

/* Those of a stream at its point, as roce_psn_wrap() has them. */
static GHashTable *
set_of_missed(const rs_spills *spills, guint32 stream, roce_space space)
{
    GHashTable *set = g_hash_table_new(NULL, NULL);
    const GArray *psns = psns_missed(spills, stream, space);
    for (guint i = 0; psns != NULL && i < psns->len; i++) {
        g_hash_table_add(
            set, GUINT_TO_POINTER(roce_psn_wrap(g_array_index(psns, gint64, i))));
    }
    return set;
}

static void
add_lost_before(const rs_spills *spills, guint32 from, guint32 to, roce_space space,
                rs_spilled *sum)
{
    const rs_spill *spill = rs_spills_of(spills, from);
    const GArray *psns = psns_missed(spills, to, space);
    if (psns == NULL || spill == NULL || spill->first_psn[space] == ROCE_NO_PSN) {
        return;
    }
    /* What never came to the first of the two is told already, and so is what came before. */
    g_autoptr(GHashTable) told = set_of_missed(spills, from, space);
    for (guint i = 0; i < psns->len; i++) {
        guint32 psn24 = roce_psn_wrap(g_array_index(psns, gint64, i));
        if (roce_psn_expand(psn24, spill->first_psn[space]) < spill->first_psn[space] ||
            !g_hash_table_add(told, GUINT_TO_POINTER(psn24))) {
            continue;
        }
        which one = by_psn(from, space, psn24);
        sum->lost++;
        sum->behind += g_hash_table_contains(spills->psns.all, &one) ? 1 : 0;
    }
}

rs_spilled
rs_spills_lost_before(const rs_spills *spills, guint32 from, guint32 to)
{
    rs_spilled sum = {0};
    for (guint i = 0; i < ROCE_N_SPACES; i++) {
        add_lost_before(spills, from, to, (roce_space)i, &sum);
    }
    return sum;
}

/* Of the relative entropy of a share to another one, the part of those that have it. */
static double
entropy(double share, double by_chance)
{
    return share > 0 ? share * log(share / by_chance) : 0;
}

/* Chernoff's bound of a binomial's tail; of packets that differ in their chance as well, which
 * lie closer to what all have on average (Hoeffding 1956). */
gboolean
rs_spills_is_no_chance(guint64 lost, guint64 n_lost, double by_chance)
{
    if (lost < LEAST_LOST || lost > n_lost || by_chance <= 0 ||
        by_chance >= (double)n_lost) {
        return FALSE;
    }
    double behind = (double)lost;
    double others = (double)(n_lost - lost);
    double others_by_chance = (double)n_lost - by_chance;
    double share = behind / (double)n_lost;
    double chance = by_chance / (double)n_lost;
    return behind * others_by_chance >= MORE_THAN_CHANCE * others * by_chance &&
           share > chance &&
           (double)n_lost * (entropy(share, chance) + entropy(1 - share, 1 - chance)) >=
               -CHANCE_LOG;
}
