/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "points.h"

#include "keys.h"
#include "recall.h"
#include "sorting.h"

#include "roce/hash.h"

#include <string.h>

#define SILENT_NS (G_MAXUINT64 / 2) /* of an interface without frames */
#define MAX_EARLY_NS ((guint64)1000 * 1000 * 1000)
#define MAX_CANDIDATES 1024 /* of very many, the newest are looked at */
#define MOST_BYTES_AGAIN ((guint64)1024 * 1024 * 1024)

typedef struct point_key {
    guint file_i, interface_i;
    roce_origin origin;
} point_key;

struct rs_points {
    const rs_options *options;
    const rs_vantages *vantages; /* NULL: nothing is known of them */
    GPtrArray *list;             /* rs_point */
    GHashTable *by_key;          /* point_key -> rs_point */
    GHashTable *places;          /* rs_point -> GPtrArray: all of the same place */
    GHashTable *seen;  /* gint64: file and interface -> rs_point, the first of them */
    GPtrArray *itself; /* by file, GPtrArray: by interface, rs_point of frames that were
                         * captured there and not mirrored to it; NULL: not known */
    GArray *ended;     /* guint by file: as which one it ended, from 1 on; 0: not yet */
    guint n_ended;
    guint n_origins;   /* but for interfaces themselves */
    rs_recall *recall; /* NULL with a single file */
    rs_beginning *beginning;
    guint beginning_file_i;
    guint64 bytes_left;  /* that may be read again, to look at sections */
    point_key asked_for; /* last: an interface that is not the first of its file */
    gboolean has_gone_on;
    point_key last_key; /* of the frame before: most often the same */
    rs_point *last;
};

static gboolean
key_equal(gconstpointer a, gconstpointer b)
{
    const point_key *x = a;
    const point_key *y = b;
    return x->file_i == y->file_i && x->interface_i == y->interface_i &&
           roce_origin_equal(&x->origin, &y->origin);
}

static guint
key_hash(gconstpointer data)
{
    const point_key *key = data;
    guint64 h = roce_hash_mix(key->file_i, key->interface_i);
    return (guint)(roce_origin_hash(h, &key->origin) >> 32);
}

/* A name says which interface it is; without one, its number does, as its section
 * counts. */
static gboolean
same_place(gconstpointer a, gconstpointer b)
{
    const rs_point *x = a;
    const rs_point *y = b;
    return x->link_type == y->link_type && roce_origin_equal(&x->origin, &y->origin) &&
           g_strcmp0(x->interface, y->interface) == 0 &&
           (x->interface != NULL || x->number == y->number);
}

static guint
place_hash(gconstpointer data)
{
    const rs_point *point = data;
    guint64 name = point->interface != NULL ? g_str_hash(point->interface)
                                            : (guint64)point->number << 32;
    guint64 h = roce_hash_mix(name, (guint64)point->link_type);
    return (guint)(roce_origin_hash(h, &point->origin) >> 32);
}

static void
free_place(gpointer data)
{
    if (data != NULL) {
        g_ptr_array_unref(data);
    }
}

static void
free_point(gpointer data)
{
    rs_point *point = data;
    g_free(point->interface);
    g_free(point);
}

rs_points *
rs_points_new(const rs_options *options)
{
    rs_points *points = g_new0(rs_points, 1);
    points->options = options;
    points->list = g_ptr_array_new_with_free_func(free_point);
    points->by_key = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
    points->places = g_hash_table_new_full(place_hash, same_place, NULL, free_place);
    points->seen = rs_keys_new(NULL);
    points->itself = g_ptr_array_new_with_free_func(free_place);
    points->ended = g_array_new(FALSE, TRUE, sizeof(guint));
    gboolean several = options->files != NULL && g_strv_length(options->files) > 1;
    points->recall = several ? rs_recall_new() : NULL;
    points->bytes_left = MOST_BYTES_AGAIN;
    return points;
}

void
rs_points_tell(rs_points *points, const rs_vantages *vantages)
{
    points->vantages = vantages;
}

void
rs_points_free(rs_points *points)
{
    if (points == NULL) {
        return;
    }
    rs_recall_free(points->recall);
    rs_beginning_free(points->beginning);
    g_hash_table_unref(points->seen);
    g_hash_table_unref(points->places);
    g_hash_table_unref(points->by_key);
    g_ptr_array_unref(points->list);
    g_ptr_array_unref(points->itself);
    g_array_unref(points->ended);
    g_free(points);
}

guint
rs_points_n(const rs_points *points)
{
    return points->list->len;
}

guint32
rs_points_newest(const rs_points *points)
{
    return points->last != NULL ? points->last->id : 0;
}

rs_point *
rs_points_at(const rs_points *points, guint id)
{
    return g_ptr_array_index(points->list, id);
}

gboolean
rs_points_file_ended(const rs_points *points, guint file_i)
{
    return file_i < points->ended->len &&
           g_array_index(points->ended, guint, file_i) != 0;
}

/* ---- files that go on with others ---- */

/* Files that are no longer than the tolerance lie beside each other all the same: what
 * goes on with another one does not begin before the middle of it. */
static gboolean
begins_behind(const rs_point *before, guint64 first_ns)
{
    guint64 middle_ns = before->first_ns + (before->newest_ns - before->first_ns) / 2;
    return first_ns + RS_FOLLOW_ON_TOLERANCE_NS >= before->newest_ns &&
           first_ns >= middle_ns;
}

/* Where a section of a file begins, those before it have ended, as when files were put
 * together one behind the other. */
static gboolean
has_ended(const rs_points *points, const rs_point *before, const rs_point *next)
{
    return before->survey.file_i == next->file_i
               ? before->section < next->section
               : rs_points_file_ended(points, before->survey.file_i);
}

static gboolean
follows(const rs_points *points, const rs_point *before, const rs_point *next,
        guint64 first_ns)
{
    return has_ended(points, before, next) &&
           (before->packets == 0 || begins_behind(before, first_ns));
}

/* Whether what an interface has in its section goes on with the sections before it.  Several
 * points may ask for one after the other. */
static gboolean
goes_on(rs_points *points, const rs_point *next)
{
    if (points->options->files == NULL) {
        return FALSE;
    }
    const point_key key = {.file_i = next->file_i, .interface_i = next->interface_i};
    if (!key_equal(&key, &points->asked_for)) {
        points->asked_for = key;
        points->has_gone_on = rs_recall_section_is_new(
            points->options->files[next->file_i], &points->options->ports,
            next->interface_i, next->section, &points->bytes_left);
    }
    return points->has_gone_on;
}

/* Whether the file begins with what the point has seen: it is no continuation of it, but
 * the same traffic by another clock. */
static gboolean
begins_again(rs_points *points, const rs_point *before, const rs_point *next)
{
    if (before->packets > 0 && before->survey.file_i == next->file_i) {
        return !goes_on(points, next);
    }
    if (points->recall == NULL || before->packets == 0) {
        return FALSE;
    }
    if (points->beginning == NULL || points->beginning_file_i != next->file_i) {
        rs_beginning_free(points->beginning);
        points->beginning = rs_beginning_read(points->options->files[next->file_i],
                                              &points->options->ports);
        points->beginning_file_i = next->file_i;
    }
    return rs_recall_knows(points->recall, before->id, points->beginning,
                           next->interface_i);
}

/* Bytes that two files' names begin and end with alike. */
static gsize
likeness(const rs_points *points, const rs_point *before, const rs_point *next)
{
    if (points->options->files == NULL) {
        return 0;
    }
    const char *a = points->options->files[before->survey.file_i];
    const char *b = points->options->files[next->file_i];
    gsize a_bytes = strlen(a);
    gsize b_bytes = strlen(b);
    gsize most = MIN(a_bytes, b_bytes);
    gsize front = 0;
    while (front < most && a[front] == b[front]) {
        front++;
    }
    gsize back = 0;
    while (back < most - front && a[a_bytes - 1 - back] == b[b_bytes - 1 - back]) {
        back++;
    }
    return front + back;
}

/* Points of the place, the newest of very many. */
static guint
first_candidate(const GPtrArray *place)
{
    return place->len > MAX_CANDIDATES ? place->len - MAX_CANDIDATES : 0;
}

rs_point *
rs_points_before(rs_points *points, const rs_point *next, guint64 first_ns)
{
    const GPtrArray *place = g_hash_table_lookup(points->places, next);
    rs_point *best = NULL;
    gsize most_alike = 0;
    for (guint i = place != NULL ? first_candidate(place) : 0;
         place != NULL && i < place->len; i++) {
        rs_point *before = g_ptr_array_index(place, i);
        if (!follows(points, before, next, first_ns) ||
            (first_ns != SILENT_NS && begins_again(points, before, next))) {
            continue;
        }
        gsize alike = likeness(points, before, next);
        if (best == NULL || alike > most_alike ||
            (alike == most_alike && before->newest_ns > best->newest_ns)) {
            best = before;
            most_alike = alike;
        }
    }
    return best;
}

/* Whether a file that is still being read has a more similar name than the one before:
 * if it ends soon, it is the one before. */
static gboolean
may_follow_another(const rs_points *points, const rs_point *before,
                   const rs_point *next)
{
    const GPtrArray *place = g_hash_table_lookup(points->places, next);
    gsize alike = likeness(points, before, next);
    for (guint i = first_candidate(place); i < place->len; i++) {
        const rs_point *other = g_ptr_array_index(place, i);
        if (other->survey.file_i != next->file_i &&
            !rs_points_file_ended(points, other->survey.file_i) &&
            likeness(points, other, next) > alike) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
add_to_place(rs_points *points, rs_point *point)
{
    GPtrArray *place = g_hash_table_lookup(points->places, point);
    if (place == NULL) {
        place = g_ptr_array_new();
        g_hash_table_insert(points->places, point, place);
    }
    g_ptr_array_add(place, point);
}

/* A point for this origin at an interface: of an earlier file, if this one follows on. */
static rs_point *
make_point(rs_points *points, const point_key *key, const rs_interface *interface,
           guint64 time_ns)
{
    rs_point *point = g_new0(rs_point, 1);
    point->file_i = key->file_i;
    point->interface = g_strdup(interface->name);
    point->interface_i = key->interface_i;
    point->section = interface->section;
    point->first_section_number = point->section_number = interface->section_number;
    point->number = key->interface_i - interface->section;
    point->origin = key->origin;
    point->link_type = interface->link_type;
    point->link = interface->link;
    rs_point *before = rs_points_before(points, point, time_ns);
    if (before != NULL && !may_follow_another(points, before, point)) {
        free_point(point);
        before->file_i = before->packets == 0 ? key->file_i : before->file_i;
        before->survey.file_i = key->file_i;
        before->section = interface->section;
        before->section_number = interface->section_number;
        return before;
    }
    point->n_ended_before = points->n_ended;
    point->id = points->list->len;
    roce_survey_point_init(&point->survey, point->id, key->file_i);
    point->survey.is_at_host =
        points->vantages != NULL && points->options->files != NULL &&
        rs_vantages_is_host(points->vantages, points->options->files[key->file_i]);
    point->speed_bps = interface->speed_bps;
    if (points->options->link_speed_bps != 0) {
        point->speed_bps = points->options->link_speed_bps;
        point->speed_from_user = TRUE;
    }
    g_ptr_array_add(points->list, point);
    add_to_place(points, point);
    return point;
}

/* ---- frames and files ---- */

gboolean
rs_points_have_recall(const rs_points *points)
{
    return points->recall != NULL;
}

void
rs_points_remember_car(rs_points *points, const rs_point *point, guint64 frame,
                       const roce_wire_identity *identity)
{
    if (points->recall != NULL) {
        rs_recall_note(points->recall, point->id, frame, identity);
    }
}

void
rs_points_remember(rs_points *points, const rs_point *point, const roce_frame *frame,
                   const roce_packet *packet)
{
    if (points->recall != NULL) {
        rs_recall_add(points->recall, point->id, frame, packet);
    }
}

static void
note_itself(rs_points *points, const point_key *key, rs_point *point)
{
    if (key->file_i >= points->itself->len) {
        g_ptr_array_set_size(points->itself, (gint)key->file_i + 1);
    }
    if (points->itself->pdata[key->file_i] == NULL) {
        points->itself->pdata[key->file_i] = g_ptr_array_new();
    }
    GPtrArray *of_file = points->itself->pdata[key->file_i];
    if (key->interface_i >= of_file->len) {
        g_ptr_array_set_size(of_file, (gint)key->interface_i + 1);
    }
    of_file->pdata[key->interface_i] = point;
}

static rs_point *
find_or_make(rs_points *points, const point_key *key, const rs_reader *reader,
             guint64 time_ns)
{
    rs_point *point = g_hash_table_lookup(points->by_key, key);
    if (point != NULL) {
        return point;
    }
    gboolean is_further = key->origin.kind != ROCE_ORIGIN_INTERFACE;
    if (is_further && points->n_origins >= ROCE_MAX_ORIGINS) {
        point_key itself = {.file_i = key->file_i, .interface_i = key->interface_i};
        return find_or_make(points, &itself, reader, time_ns);
    }
    const rs_interface *interface = rs_reader_interface(reader, key->interface_i);
    point = make_point(points, key, interface, time_ns);
    points->n_origins += is_further ? 1 : 0;
    g_hash_table_insert(points->by_key, g_memdup2(key, sizeof *key), point);
    guint64 seen = rs_key_of(key->file_i, key->interface_i);
    if (!rs_keys_have(points->seen, seen)) {
        (void)rs_keys_insert(points->seen, seen, point);
    }
    if (!is_further) {
        note_itself(points, key, point);
    }
    return point;
}

/* Whether the frame before was captured at that interface itself. */
static gboolean
is_interface_of_newest(const rs_points *points, guint file_i, guint interface_i)
{
    const point_key *last = &points->last_key;
    return points->last != NULL && last->file_i == file_i &&
           last->interface_i == interface_i &&
           last->origin.kind == ROCE_ORIGIN_INTERFACE;
}

static gboolean
is_like_newest(const rs_points *points, guint file_i, guint interface_i,
               const roce_packet *packet)
{
    return is_interface_of_newest(points, file_i, interface_i) && packet != NULL &&
           packet->mirror.kind == ROCE_MIRROR_NONE && packet->sll2_ifindex == 0;
}

rs_point *
rs_points_itself(const rs_points *points, guint file_i, guint interface_i)
{
    const GPtrArray *of_file =
        file_i < points->itself->len ? points->itself->pdata[file_i] : NULL;
    return of_file != NULL && interface_i < of_file->len ? of_file->pdata[interface_i]
                                                         : NULL;
}

rs_point *
rs_points_of(rs_points *points, guint file_i, const rs_reader *reader,
             guint interface_i, const roce_packet *packet, guint64 time_ns)
{
    if (is_like_newest(points, file_i, interface_i, packet)) {
        return points->last;
    }
    point_key key = {.file_i = file_i, .interface_i = interface_i};
    if (packet != NULL) {
        key.origin = roce_origin_of(packet);
    }
    if (points->last != NULL && key_equal(&key, &points->last_key)) {
        return points->last;
    }
    rs_point *point = find_or_make(points, &key, reader, time_ns);
    points->last_key = key;
    points->last = point;
    return point;
}

const rs_point *
rs_points_of_interface(const rs_points *points, guint file_i, guint interface_i)
{
    return rs_keys_find(points->seen, rs_key_of(file_i, interface_i));
}

void
rs_points_end_file(rs_points *points, guint file_i, const rs_reader *reader)
{
    if (points->ended->len <= file_i) {
        g_array_set_size(points->ended, file_i + 1);
    }
    g_array_index(points->ended, guint, file_i) = ++points->n_ended;
    guint n = reader != NULL ? rs_reader_n_interfaces(reader) : 0;
    for (guint i = 0; i < n; i++) {
        const rs_interface *interface = rs_reader_interface(reader, i);
        if (rs_keys_have(points->seen, rs_key_of(file_i, i)) &&
            !interface->dropped_known) {
            continue;
        }
        rs_point *point = rs_points_of(points, file_i, reader, i, NULL, SILENT_NS);
        point->dropped += interface->dropped;
        point->dropped_known |= interface->dropped_known;
    }
}

/* Whether it had frames before the file that it goes on with came to its end: of several
 * interfaces in one file, the stamps of one step back behind those of another. */
static gboolean
began_early(const rs_points *points, const rs_point *before, const rs_point *next)
{
    guint ended = g_array_index(points->ended, guint, before->survey.file_i);
    return ended > next->n_ended_before;
}

/* What began before the end of what it goes on with is put behind it by its stamps: what
 * was left of that came before the survey's end, and so no later than the newest here. */
static void
put_behind(rs_point *next)
{
    roce_survey_point *survey = &next->survey;
    if (survey->order == ROCE_ORDER_FILE) {
        survey->order = ROCE_ORDER_CLOCK;
    }
    guint64 early_ns = next->newest_ns - next->first_ns + RS_FOLLOW_ON_TOLERANCE_NS;
    survey->horizon_ns = MAX(survey->horizon_ns, MIN(early_ns, MAX_EARLY_NS));
}

void
rs_points_join_rotated(rs_points *points)
{
    for (guint i = 0; i < points->list->len; i++) {
        rs_point *point = rs_points_at(points, i);
        if (point->survey.n_surveys == 0 || point->rotation_known) {
            continue;
        }
        rs_point *before = rs_points_before(points, point, point->first_ns);
        if (before != NULL) {
            roce_survey_point_join(&before->survey, &point->survey);
            if (began_early(points, before, point)) {
                put_behind(point);
            }
        }
        point->rotation_known = TRUE;
    }
}

/* Whether two of these differ in file and in group. */
static gboolean
place_overlaps(const GPtrArray *place)
{
    const rs_point *first = NULL;
    gboolean other_group = FALSE; /* in the first's file */
    gboolean other_file = FALSE;  /* in the first's group */
    for (guint i = 0; i < place->len; i++) {
        const rs_point *point = g_ptr_array_index(place, i);
        if (point->packets == 0) {
            continue;
        }
        first = first == NULL ? point : first;
        gboolean same_file = point->file_i == first->file_i;
        gboolean same_group = point->survey.group == first->survey.group;
        if (!same_file && !same_group) {
            return TRUE;
        }
        other_group |= same_file && !same_group;
        other_file |= !same_file && same_group;
    }
    return other_group && other_file;
}

gboolean
rs_points_overlap(const rs_points *points)
{
    GHashTableIter iter;
    gpointer place;
    g_hash_table_iter_init(&iter, points->places);
    while (g_hash_table_iter_next(&iter, NULL, &place)) {
        if (place_overlaps(place)) {
            return TRUE;
        }
    }
    return FALSE;
}

/* ---- names ---- */

static gint
by_name(gconstpointer a, gconstpointer b)
{
    const rs_point *x = *(const rs_point *const *)a;
    const rs_point *y = *(const rs_point *const *)b;
    gint order = g_strcmp0(x->interface, y->interface);
    order = order != 0 ? order : rs_by_number(x->file_i, y->file_i);
    return order != 0 ? order : rs_by_number(x->interface_i, y->interface_i);
}

static gboolean
same_name(const rs_point *a, const rs_point *b)
{
    return g_strcmp0(a->interface, b->interface) == 0;
}

static gboolean
same_name_and_file(const rs_point *a, const rs_point *b)
{
    return same_name(a, b) && a->file_i == b->file_i;
}

/* Where those end that are the same as the one at `begin`. */
static guint
end_of_same(const GPtrArray *sorted, guint begin,
            gboolean (*same)(const rs_point *, const rs_point *))
{
    guint end = begin + 1;
    while (end < sorted->len &&
           same(g_ptr_array_index(sorted, begin), g_ptr_array_index(sorted, end))) {
        end++;
    }
    return end;
}

/* Of one name. */
static void
tell_namesakes_apart(const GPtrArray *sorted, guint begin, guint end)
{
    const rs_point *first = g_ptr_array_index(sorted, begin);
    const rs_point *last = g_ptr_array_index(sorted, end - 1);
    gboolean several_files = first->file_i != last->file_i;
    while (begin < end) {
        guint file_end = end_of_same(sorted, begin, same_name_and_file);
        first = g_ptr_array_index(sorted, begin);
        last = g_ptr_array_index(sorted, file_end - 1);
        gboolean several_here = first->interface_i != last->interface_i;
        for (; begin < file_end; begin++) {
            rs_point *point = g_ptr_array_index(sorted, begin);
            point->named_by_file = several_files;
            point->named_by_number = several_here;
        }
    }
}

void
rs_points_tell_apart(rs_points *points)
{
    g_autoptr(GPtrArray) sorted = g_ptr_array_sized_new(points->list->len);
    for (guint i = 0; i < points->list->len; i++) {
        g_ptr_array_add(sorted, rs_points_at(points, i));
    }
    g_ptr_array_sort(sorted, by_name);
    for (guint i = 0; i < sorted->len;) {
        guint end = end_of_same(sorted, i, same_name);
        tell_namesakes_apart(sorted, i, end);
        i = end;
    }
}

gboolean
rs_point_clock_moves(const rs_point *point)
{
    return point->first_ns != point->newest_ns || point->steps_back > 0;
}

gboolean
rs_point_stands_still(const rs_point *point)
{
    return point->packets >= RS_STILL_PACKETS && !rs_point_clock_moves(point);
}

guint64
rs_point_follow_time(rs_point *point, guint64 time_ns)
{
    guint64 step = 0;
    if (point->packets == 0) {
        point->first_ns = point->newest_ns = time_ns;
    } else if (time_ns < point->last_ns) {
        step = point->last_ns - time_ns;
        point->steps_back++;
        point->largest_step_ns = MAX(point->largest_step_ns, step);
    }
    point->packets++;
    point->last_ns = time_ns;
    point->newest_ns = MAX(point->newest_ns, time_ns);
    return step;
}
