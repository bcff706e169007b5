/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sightings of a stream come in the order of their first packets.  Those that overlap in
 * time are laid into lanes, each into the first whose last sighting it follows on: what one
 * capture saw after the other stands in one lane, and what two saw at once in two.  Where a
 * sighting follows on all lanes, the greatest of them counts, number by number, and lanes
 * begin anew.
 *
 * Stamps may step back a little from one file to the next, and clocks of two points may
 * differ as much.  So a sighting follows on although the one before it has not quite ended,
 * but not where both begin together: what is that short would always count twice.
 */
#include "fleet.h"

#include "database_schema.h"
#include "json_parts.h"
#include "points.h"
#include "sorting.h"

#include <string.h>

/* What is counted, in the order of the columns. */
typedef enum measure {
    PACKETS,
    PAYLOAD_BYTES,
    LOST,
    RESENT,
    DATA_PACKETS,
    CE,
    CNPS,
    HELD_NS,
    N_MEASURES
} measure;

static const char *const measure_names[N_MEASURES] = {
    [PACKETS] = "packets", [PAYLOAD_BYTES] = "payload_bytes",
    [LOST] = "lost",       [RESENT] = "resent",
    [CE] = "ce",           [DATA_PACKETS] = "data_packets",
    [CNPS] = "cnps",       [HELD_NS] = "held_ns",
};

typedef struct counts {
    guint64 of[N_MEASURES];
} counts;

/* Sightings one after the other. */
typedef struct lane {
    guint64 start_ns, end_ns; /* of the last of them */
    counts seen;              /* by all */
} lane;

/* Words that name a row of a table, and what it comes to. */
typedef struct total {
    char **words; /* ended by NULL; "" stands for null */
    guint64 n_streams;
    counts sum;
} total;

/* Members of a sighting that a table is by. */
typedef struct dimension {
    const char *table;
    const char *columns[6]; /* ended by NULL; "'text" is a text of its own */
    gboolean all_known;     /* rows with a null do not count */
} dimension;

static const dimension dimensions[] = {
    {"host_pairs", {"src_host", "dst_host"}, TRUE},
    {"links", {"src", "src_name", "src_rail", "src_port", "'sends"}, FALSE},
    {"links", {"dst", "dst_name", "dst_rail", "dst_port", "'receives"}, FALSE},
    {"rail_pairs", {"src_rail", "dst_rail"}, TRUE},
    {"days", {"day"}, TRUE},
};

#define N_DIMENSIONS G_N_ELEMENTS(dimensions)

typedef struct fleet {
    rs_database *database;
    GHashTable *totals[N_DIMENSIONS]; /* char * -> total */
    char *stream;                     /* whose sightings come */
    json_t *sighting;                 /* the first of the day */
    GArray *lanes;                    /* lane, those that overlap */
    counts sum;                       /* of what stood before these lanes on that day */
} fleet;

/* ---- totals ---- */

static void
free_total(gpointer data)
{
    total *t = data;
    g_strfreev(t->words);
    g_free(t);
}

static const char *
word_of(const json_t *sighting, const char *column)
{
    if (column[0] == '\'') {
        return column + 1;
    }
    const char *word = json_string_value(json_object_get(sighting, column));
    return word != NULL ? word : "";
}

/* The words of a dimension; NULL: one is missing that has to be known. */
static char **
words_of(const json_t *sighting, const dimension *d)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (guint i = 0; d->columns[i] != NULL; i++) {
        const char *word = word_of(sighting, d->columns[i]);
        if (d->all_known && word[0] == '\0') {
            return NULL;
        }
        g_strv_builder_add(builder, word);
    }
    return g_strv_builder_end(builder);
}

static void
add_to(fleet *f, guint d)
{
    g_auto(GStrv) words = words_of(f->sighting, &dimensions[d]);
    if (words == NULL) {
        return;
    }
    g_autofree char *key = g_strjoinv("\n", words);
    total *t = g_hash_table_lookup(f->totals[d], key);
    if (t == NULL) {
        t = g_new0(total, 1);
        t->words = g_steal_pointer(&words);
        g_hash_table_insert(f->totals[d], g_steal_pointer(&key), t);
    }
    t->n_streams++;
    for (guint i = 0; i < N_MEASURES; i++) {
        t->sum.of[i] += f->sum.of[i];
    }
}

/* ---- sightings ---- */

/* Nothing overlaps what comes next. */
static void
end_lanes(fleet *f)
{
    for (guint m = 0; m < N_MEASURES; m++) {
        guint64 greatest = 0;
        for (guint i = 0; i < f->lanes->len; i++) {
            greatest = MAX(greatest, g_array_index(f->lanes, lane, i).seen.of[m]);
        }
        f->sum.of[m] += greatest;
    }
    g_array_set_size(f->lanes, 0);
}

static void
end_day(fleet *f)
{
    if (f->sighting == NULL) {
        return;
    }
    for (guint d = 0; d < N_DIMENSIONS; d++) {
        add_to(f, d);
    }
    memset(&f->sum, 0, sizeof f->sum);
    g_clear_pointer(&f->sighting, json_decref);
}

static void
end_stream(fleet *f)
{
    end_lanes(f);
    end_day(f);
    g_clear_pointer(&f->stream, g_free);
}

/* Lanes begin with this sighting, and belong to its day as a whole. */
static void
begin_lanes(fleet *f, const json_t *row)
{
    end_lanes(f);
    if (f->sighting == NULL ||
        !g_str_equal(word_of(f->sighting, "day"), word_of(row, "day"))) {
        end_day(f);
        f->sighting = json_deep_copy(row);
    }
}

static guint64
number(const json_t *row, const char *key)
{
    return (guint64)json_integer_value(json_object_get(row, key));
}

/* Whether what begins at `start_ns`, not before the lane's last sighting, follows on it. */
static gboolean
follows_on(const lane *l, guint64 start_ns)
{
    return start_ns - l->start_ns > RS_FOLLOW_ON_TOLERANCE_NS &&
           start_ns + RS_FOLLOW_ON_TOLERANCE_NS >= l->end_ns;
}

/* The first lane that this sighting follows on, a new one if there is none. */
static lane *
lane_for(fleet *f, const json_t *row)
{
    guint64 start_ns = number(row, "first_ts_ns");
    lane *first = NULL;
    guint n_followed = 0;
    for (guint i = f->lanes->len; i > 0; i--) {
        lane *l = &g_array_index(f->lanes, lane, i - 1);
        if (follows_on(l, start_ns)) {
            first = l;
            n_followed++;
        }
    }
    if (n_followed == f->lanes->len) {
        begin_lanes(f, row);
        first = NULL;
    }
    if (first == NULL) {
        g_array_set_size(f->lanes, f->lanes->len + 1);
        first = &g_array_index(f->lanes, lane, f->lanes->len - 1);
    }
    return first;
}

static gboolean
take_row(const json_t *row, void *ctx)
{
    fleet *f = ctx;
    const char *stream = json_string_value(json_object_get(row, "key"));
    if (g_strcmp0(stream, f->stream) != 0) {
        end_stream(f);
        f->stream = g_strdup(stream);
    }
    lane *l = lane_for(f, row);
    for (guint m = 0; m < N_MEASURES; m++) {
        l->seen.of[m] += number(row, measure_names[m]);
    }
    l->start_ns = number(row, "first_ts_ns");
    l->end_ns = number(row, "last_ts_ns");
    return TRUE;
}

/* ---- the tables ---- */

static json_t *
row_of(const total *t)
{
    json_t *row = json_array();
    for (guint i = 0; t->words[i] != NULL; i++) {
        json_array_append_new(row, t->words[i][0] != '\0' ? json_string(t->words[i])
                                                          : json_null());
    }
    json_array_append_new(row, rs_json_count(t->n_streams));
    for (guint m = 0; m < N_MEASURES; m++) {
        json_array_append_new(row, rs_json_count(t->sum.of[m]));
    }
    return row;
}

static gboolean
write_table(fleet *f, guint d, GError **error)
{
    gboolean good = TRUE;
    GList *keys = g_list_sort(g_hash_table_get_keys(f->totals[d]), rs_by_text);
    for (const GList *at = keys; good && at != NULL; at = at->next) {
        json_t *row = row_of(g_hash_table_lookup(f->totals[d], at->data));
        good = rs_database_put(f->database, dimensions[d].table, row, error);
        json_decref(row);
    }
    g_list_free(keys);
    return good;
}

gboolean
rs_fleet_fill(rs_database *database, GError **error)
{
    fleet f = {.database = database, .lanes = g_array_new(FALSE, TRUE, sizeof(lane))};
    for (guint d = 0; d < N_DIMENSIONS; d++) {
        f.totals[d] =
            g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_total);
    }
    gboolean good =
        rs_database_ask(database, rs_database_sightings, 0, take_row, &f, error);
    end_stream(&f);
    for (guint d = 0; d < N_DIMENSIONS; d++) {
        good = good && write_table(&f, d, error);
        g_hash_table_unref(f.totals[d]);
    }
    g_array_unref(f.lanes);
    return good;
}
