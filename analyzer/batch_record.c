/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_record.h"

#include "digest.h"
#include "error.h"
#include "json_parts.h"
#include "sorting.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A share that is here. */
typedef struct held {
    guint number;
    rs_batch_share_size size;
} held;

/* A batch, or what is here of it. */
typedef struct origin {
    char *options, *found;
    rs_batch_share_size all;
    guint of;       /* shares; 1: all of it is here */
    GArray *shares; /* held, by number */
} origin;

struct rs_batch_record {
    GPtrArray *origins; /* origin, sorted */
};

static void
free_origin(gpointer data)
{
    origin *o = data;
    g_free(o->options);
    g_free(o->found);
    g_array_unref(o->shares);
    g_free(o);
}

rs_batch_record *
rs_batch_record_new(void)
{
    rs_batch_record *record = g_new0(rs_batch_record, 1);
    record->origins = g_ptr_array_new_with_free_func(free_origin);
    return record;
}

void
rs_batch_record_free(rs_batch_record *record)
{
    if (record != NULL) {
        g_ptr_array_unref(record->origins);
        g_free(record);
    }
}

/* ---- adding up ---- */

static const origin *
origin_at(const rs_batch_record *record, guint i)
{
    return g_ptr_array_index(record->origins, i);
}

/* The same batch, however it was divided. */
static gboolean
is_same_batch(const origin *a, const origin *b)
{
    return g_str_equal(a->options, b->options) && g_str_equal(a->found, b->found);
}

static gint
by_batch(gconstpointer a, gconstpointer b)
{
    const origin *x = *(origin *const *)a;
    const origin *y = *(origin *const *)b;
    int order = strcmp(x->options, y->options);
    order = order != 0 ? order : strcmp(x->found, y->found);
    return order != 0 ? order : rs_by_number(x->of, y->of);
}

/* Puts a share where its number belongs, once. */
static void
hold(origin *o, const held *share)
{
    guint at = 0;
    while (at < o->shares->len &&
           g_array_index(o->shares, held, at).number < share->number) {
        at++;
    }
    if (at == o->shares->len ||
        g_array_index(o->shares, held, at).number != share->number) {
        g_array_insert_val(o->shares, at, *share);
    }
}

/* All of it is here: other divisions of it say nothing more. */
static void
make_whole(rs_batch_record *record, origin *whole)
{
    whole->of = 1;
    g_array_set_size(whole->shares, 0);
    for (guint i = record->origins->len; i > 0; i--) {
        origin *other = g_ptr_array_index(record->origins, i - 1);
        if (other != whole && is_same_batch(other, whole)) {
            g_ptr_array_remove_index(record->origins, i - 1);
        }
    }
}

/* The batch divided so, made if it is not there; or the same as a whole. */
static origin *
find(rs_batch_record *record, const origin *like)
{
    for (guint i = 0; i < record->origins->len; i++) {
        origin *o = g_ptr_array_index(record->origins, i);
        if (is_same_batch(o, like) && (o->of == like->of || o->of == 1)) {
            return o;
        }
    }
    origin *new = g_new0(origin, 1);
    new->options = g_strdup(like->options);
    new->found = g_strdup(like->found);
    new->all = like->all;
    new->of = like->of;
    new->shares = g_array_new(FALSE, FALSE, sizeof(held));
    g_ptr_array_add(record->origins, new);
    return new;
}

static void
add(rs_batch_record *record, const origin *like)
{
    origin *o = find(record, like);
    for (guint i = 0; o->of > 1 && i < like->shares->len; i++) {
        hold(o, &g_array_index(like->shares, held, i));
    }
    if (o->of == 1 || o->shares->len == o->of) {
        make_whole(record, o);
    }
    g_ptr_array_sort(record->origins, by_batch);
}

void
rs_batch_record_add(rs_batch_record *record, const char *options, const char *found,
                    const rs_batch_share *share, const rs_batch_share_size *all,
                    const rs_batch_share_size *size)
{
    g_autoptr(GArray) shares = g_array_new(FALSE, FALSE, sizeof(held));
    const held only = {.number = share->number, .size = *size};
    const origin like = {.options = (char *)(guintptr)options,
                         .found = (char *)(guintptr)found,
                         .all = *all,
                         .of = share->of,
                         .shares = shares};
    g_array_append_val(shares, only);
    add(record, &like);
}

void
rs_batch_record_merge(rs_batch_record *record, const rs_batch_record *other)
{
    for (guint i = 0; i < other->origins->len; i++) {
        add(record, origin_at(other, i));
    }
}

/* ---- what it says ---- */

guint
rs_batch_record_n_options(const rs_batch_record *record)
{
    guint n = 0;
    for (guint i = 0; i < record->origins->len; i++) {
        n += i == 0 || !g_str_equal(origin_at(record, i)->options,
                                    origin_at(record, i - 1)->options);
    }
    return n;
}

static void
tell_lack(const origin *o, rs_batch_record_visitor visit, void *ctx)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(guint));
    rs_batch_lack lack = {.of = o->of, .numbers = numbers, .size = o->all};
    guint at = 0;
    for (guint number = 1; number <= o->of; number++) {
        const held *h =
            at < o->shares->len ? &g_array_index(o->shares, held, at) : NULL;
        if (h == NULL || h->number != number) {
            g_array_append_val(numbers, number);
            continue;
        }
        lack.size.inputs -= h->size.inputs;
        lack.size.bytes -= h->size.bytes;
        at++;
    }
    visit(&lack, ctx);
}

void
rs_batch_record_lacks(const rs_batch_record *record, rs_batch_record_visitor visit,
                      void *ctx)
{
    for (guint i = 0; i < record->origins->len; i++) {
        if (origin_at(record, i)->of > 1) {
            tell_lack(origin_at(record, i), visit, ctx);
        }
    }
}

/* ---- reading ---- */

static gboolean
take_count(const json_t *json, guint64 *n)
{
    *n = (guint64)json_integer_value(json);
    return json_is_integer(json) && json_integer_value(json) >= 0;
}

/* [number, inputs, bytes] */
static gboolean
take_held(const json_t *json, origin *o)
{
    guint64 number;
    held h;
    if (!take_count(json_array_get(json, 0), &number) || number == 0 ||
        number > o->of || !take_count(json_array_get(json, 1), &h.size.inputs) ||
        !take_count(json_array_get(json, 2), &h.size.bytes)) {
        return FALSE;
    }
    h.number = (guint)number;
    hold(o, &h);
    return TRUE;
}

static gboolean
take_shares(const json_t *shares, origin *o)
{
    if (json_is_null(shares)) {
        o->of = 1;
        return TRUE;
    }
    guint64 of;
    gsize i;
    json_t *one;
    if (!take_count(json_object_get(shares, "of"), &of) || of < 2 ||
        of > RS_BATCH_MAX_SHARES) {
        return FALSE;
    }
    o->of = (guint)of;
    json_array_foreach(json_object_get(shares, "have"), i, one)
    {
        if (!take_held(one, o)) {
            return FALSE;
        }
    }
    return o->shares->len > 0;
}

/* Reads a batch into an origin of the caller's; its texts are the JSON's. */
static gboolean
take_origin(const json_t *json, origin *o)
{
    o->options = (char *)(guintptr)json_string_value(json_object_get(json, "options"));
    o->found = (char *)(guintptr)json_string_value(json_object_get(json, "found"));
    return o->options != NULL && o->found != NULL &&
           take_count(json_object_get(json, "inputs"), &o->all.inputs) &&
           take_count(json_object_get(json, "bytes"), &o->all.bytes) &&
           take_shares(json_object_get(json, "shares"), o);
}

static char *
digest_of(const json_t *batches)
{
    g_autoptr(rs_digest) digest = rs_digest_new();
    char *text = json_dumps(batches, JSON_COMPACT);
    g_assert(text != NULL);
    rs_digest_add(digest, text, strlen(text));
    free(text);
    return rs_digest_text(digest);
}

static gboolean
take_all(const json_t *json, rs_batch_record *record)
{
    const json_t *batches = json_object_get(json, "batches");
    g_autofree char *digest = json_is_array(batches) ? digest_of(batches) : NULL;
    const json_t *version = json_object_get(json, "rocescope_batch");
    if (json_integer_value(version) != RS_BATCH_RECORD_VERSION || digest == NULL ||
        g_strcmp0(json_string_value(json_object_get(json, "digest")), digest) != 0) {
        return FALSE;
    }
    gsize i;
    json_t *one;
    json_array_foreach(batches, i, one)
    {
        g_autoptr(GArray) shares = g_array_new(FALSE, FALSE, sizeof(held));
        origin o = {.shares = shares};
        if (!take_origin(one, &o)) {
            return FALSE;
        }
        add(record, &o);
    }
    return TRUE;
}

rs_batch_record *
rs_batch_record_read(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) problem = NULL;
    gsize length;
    if (!g_file_get_contents(path, &text, &length, &problem)) {
        g_set_error(error, RS_ERROR, RS_ERROR_OPEN, "%s: cannot be read: %s", path,
                    problem->message);
        return NULL;
    }
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    g_autoptr(rs_batch_record) record = rs_batch_record_new();
    gboolean good = take_all(json, record);
    json_decref(json);
    if (!good) {
        g_set_error(error, RS_ERROR, RS_ERROR_DAMAGED,
                    "%s: is damaged, or of another version of rocescope", path);
        return NULL;
    }
    return g_steal_pointer(&record);
}

/* ---- writing ---- */

static json_t *
size_json(const held *h)
{
    json_t *json = json_array();
    json_array_append_new(json, rs_json_count(h->number));
    json_array_append_new(json, rs_json_count(h->size.inputs));
    json_array_append_new(json, rs_json_count(h->size.bytes));
    return json;
}

static json_t *
shares_json(const origin *o)
{
    if (o->of == 1) {
        return json_null();
    }
    json_t *json = json_object();
    json_t *have = json_array();
    json_object_set_new(json, "of", rs_json_count(o->of));
    for (guint i = 0; i < o->shares->len; i++) {
        json_array_append_new(have, size_json(&g_array_index(o->shares, held, i)));
    }
    json_object_set_new(json, "have", have);
    return json;
}

static json_t *
batches_json(const rs_batch_record *record)
{
    json_t *batches = json_array();
    for (guint i = 0; i < record->origins->len; i++) {
        const origin *o = origin_at(record, i);
        json_t *json = json_object();
        json_object_set_new(json, "options", json_string(o->options));
        json_object_set_new(json, "found", json_string(o->found));
        json_object_set_new(json, "inputs", rs_json_count(o->all.inputs));
        json_object_set_new(json, "bytes", rs_json_count(o->all.bytes));
        json_object_set_new(json, "shares", shares_json(o));
        json_array_append_new(batches, json);
    }
    return batches;
}

void
rs_batch_record_write(const rs_batch_record *record, FILE *out)
{
    json_t *batches = batches_json(record);
    g_autofree char *digest = digest_of(batches);
    json_t *json = json_object();
    json_object_set_new(json, "rocescope_batch", json_integer(RS_BATCH_RECORD_VERSION));
    json_object_set_new(json, "batches", batches);
    json_object_set_new(json, "digest", json_string(digest));
    (void)json_dumpf(json, out, JSON_COMPACT);
    (void)fputc('\n', out);
    json_decref(json);
}
