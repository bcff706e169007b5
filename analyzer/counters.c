/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters.h"

#include "arrays.h"
#include "error.h"
#include "format.h"
#include "small_file.h"

#include <jansson.h>
#include <string.h>

#define MAX_NESTING 16
#define MAX_DEVICES 256
#define MAX_NAME_BYTES 128

/* mlx5's queue pair counters have 32 bits, which drivers hand on as they are.  One that
 * was in their upper half and is in their lower half has more likely passed the end than
 * been reset. */
#define HALF_OF_32_BITS ((guint64)1 << 31)
#define ALL_OF_32_BITS ((guint64)1 << 32)

/* A counter of one device or port. */
typedef struct part {
    guint device_i;
    guint64 value;
} part;

struct rs_counter_set {
    GHashTable *counters; /* name -> GArray of part */
    GPtrArray *devices;   /* names, safe for a terminal; "" where none is told */
};

/* A file while it is read. */
typedef struct reading {
    rs_counter_set *set;
    const char *path;
    guint64 line; /* of text, from 1 */
    GError **error;
} reading;

void
rs_counter_set_free(rs_counter_set *set)
{
    if (set == NULL) {
        return;
    }
    g_hash_table_unref(set->counters);
    g_ptr_array_unref(set->devices);
    g_free(set);
}

static gboolean
damaged(const reading *r, const char *name, const char *what)
{
    g_autofree char *start = g_strndup(name, MAX_NAME_BYTES);
    g_autofree char *safe = rs_format_safe(start);
    g_autofree char *where =
        r->line > 0 ? g_strdup_printf("line %" G_GUINT64_FORMAT ": ", r->line)
                    : g_strdup("");
    g_set_error(r->error, RS_ERROR, RS_ERROR_DAMAGED, "%s: %s\"%s\" %s", r->path, where,
                safe, what);
    return FALSE;
}

/* ---- counters ---- */

/* Where a device stands in the list; -1: there are too many. */
static gint
device_index(const rs_counter_set *set, const char *device)
{
    guint i;
    g_autofree char *safe = rs_format_safe(device);
    if (g_ptr_array_find_with_equal_func(set->devices, safe, g_str_equal, &i)) {
        return (gint)i;
    }
    if (set->devices->len == MAX_DEVICES) {
        return -1;
    }
    g_ptr_array_add(set->devices, g_steal_pointer(&safe));
    return (gint)set->devices->len - 1;
}

static guint64 *
find_part(const GArray *parts, guint device_i)
{
    for (guint i = 0; i < parts->len; i++) {
        part *one = &g_array_index(parts, part, i);
        if (one->device_i == device_i) {
            return &one->value;
        }
    }
    return NULL;
}

/* Where a device has a counter twice, what stands there last counts. */
static gboolean
add_counter(const reading *r, const char *device, const char *name, guint64 value)
{
    if (strlen(name) > MAX_NAME_BYTES || *name == '\0') {
        return damaged(r, name, "is no name of a counter");
    }
    gint device_i = device_index(r->set, device);
    if (device_i < 0) {
        return damaged(r, device, "is one device too many");
    }
    GArray *parts = g_hash_table_lookup(r->set->counters, name);
    if (parts == NULL) {
        parts = g_array_new(FALSE, FALSE, sizeof(part));
        g_hash_table_insert(r->set->counters, g_strdup(name), parts);
    }
    guint64 *before = find_part(parts, (guint)device_i);
    if (before != NULL) {
        *before = value;
        return TRUE;
    }
    const part one = {.device_i = (guint)device_i, .value = value};
    g_array_append_val(parts, one);
    return TRUE;
}

static gboolean
is_number(const char *text, guint64 *value)
{
    return g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, value, NULL);
}

/* ---- text ---- */

/* "NAME VALUE NAME VALUE …" */
static gboolean
take_pairs(const reading *r, char *const *words, const char *device)
{
    for (guint i = 0; words[i] != NULL; i += 2) {
        guint64 value;
        if (words[i + 1] == NULL) {
            return damaged(r, words[i], "has no value");
        }
        if (!is_number(words[i + 1], &value)) {
            return damaged(r, words[i], "is followed by what is no number");
        }
        if (!add_counter(r, device, words[i], value)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/NAME" -> "mlx5_0/1" and the name. */
static char *
device_of_path(const char *path)
{
    g_auto(GStrv) parts = g_strsplit(path, "/", -1);
    guint n = g_strv_length(parts);
    for (guint i = 1; i + 1 < n; i++) {
        if (g_str_equal(parts[i], "ports")) {
            return g_strdup_printf("%s/%s", parts[i - 1], parts[i + 1]);
        }
    }
    return g_strdup("");
}

/* "NAME: VALUE", or a heading that ends with the colon. */
static gboolean
take_line_with_colon(const reading *r, char *line, char *colon, const char *device)
{
    *colon = '\0';
    char *name = g_strstrip(line);
    const char *text = g_strstrip(colon + 1);
    guint64 value;
    if (*text == '\0') {
        return TRUE;
    }
    if (!is_number(text, &value)) {
        return damaged(r, name, "is followed by what is no number");
    }
    const char *slash = strrchr(name, '/');
    if (slash == NULL) {
        return add_counter(r, device, name, value);
    }
    g_autofree char *from_path = device_of_path(name);
    return add_counter(r, from_path, slash + 1, value);
}

static char **
words_of(const char *line)
{
    g_auto(GStrv) parts = g_strsplit_set(line, " \t", -1);
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (guint i = 0; parts[i] != NULL; i++) {
        if (*parts[i] != '\0') {
            g_strv_builder_add(builder, parts[i]);
        }
    }
    return g_strv_builder_end(builder);
}

/* `device` is that of the rdma tool whose counters are being listed. */
static gboolean
take_line(const reading *r, char *line, char **device)
{
    g_auto(GStrv) words = words_of(line);
    if (g_strv_length(words) >= 2 && g_str_equal(words[0], "link")) {
        g_free(*device);
        *device = g_strdup(words[1]);
        return take_pairs(r, words + 2, *device);
    }
    char *colon = strrchr(line, ':');
    if (colon != NULL) {
        return take_line_with_colon(r, line, colon, "");
    }
    if (*device != NULL) {
        return take_pairs(r, words, *device);
    }
    return damaged(r, line, "is no counter");
}

static gboolean
take_text(reading *r, const char *text, gsize size)
{
    g_autofree char *device = NULL;
    const char *end = text + size;
    for (gboolean is_text;;) {
        g_autofree char *line = rs_small_file_line(&text, end, &is_text);
        if (line == NULL) {
            return TRUE;
        }
        r->line++;
        if (!is_text) {
            return damaged(r, line, "is no text");
        }
        g_strstrip(line);
        if (*line != '\0' && *line != '#' && !take_line(r, line, &device)) {
            return FALSE;
        }
    }
}

/* ---- JSON ---- */

/* What names a device and is no counter, in what the rdma tool prints. */
static gboolean
is_label(const json_t *object, const char *key)
{
    static const char *const labels[] = {"ifindex", "port", "cntn",
                                         "pid",     "lqpn", NULL};
    return json_object_get(object, "ifname") != NULL && g_strv_contains(labels, key);
}

static char *
device_of_object(const json_t *object, const char *above)
{
    const char *name = json_string_value(json_object_get(object, "ifname"));
    const json_t *port = json_object_get(object, "port");
    if (name == NULL) {
        return g_strdup(above);
    }
    return json_is_integer(port) ? g_strdup_printf("%s/%" JSON_INTEGER_FORMAT, name,
                                                   json_integer_value(port))
                                 : g_strdup(name);
}

/* Folders of sysfs that tell no devices apart. */
static char *
device_below(const char *device, const char *key)
{
    static const char *const folders[] = {"ports", "hw_counters", "counters", NULL};
    if (g_strv_contains(folders, key)) {
        return g_strdup(device);
    }
    return *device == '\0' ? g_strdup(key) : g_strdup_printf("%s/%s", device, key);
}

static gboolean
take_value(const reading *r, const char *device, const char *key, const json_t *json)
{
    guint64 value;
    if (json_is_integer(json)) {
        json_int_t n = json_integer_value(json);
        return n >= 0 ? add_counter(r, device, key, (guint64)n)
                      : damaged(r, key, "is below 0");
    }
    if (json_is_real(json)) {
        return damaged(r, key, "is no integer");
    }
    if (json_is_string(json)) { /* as a script reads it from sysfs */
        g_autofree char *text = g_strstrip(g_strdup(json_string_value(json)));
        return is_number(text, &value) ? add_counter(r, device, key, value) : TRUE;
    }
    return TRUE;
}

/* What is still to be looked at: objects and arrays, with the device they are about. */
typedef struct level {
    const json_t *json;
    char *device;
    guint depth;
} level;

static void
clear_level(gpointer data)
{
    level *l = data;
    g_free(l->device);
}

static void
push(GArray *todo, const json_t *json, char *device, guint depth)
{
    const level next = {.json = json, .device = device, .depth = depth};
    g_array_append_val(todo, next);
}

static gboolean
take_object(const reading *r, GArray *todo, const level *at)
{
    g_autofree char *device = device_of_object(at->json, at->device);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(guintptr)at->json, key, value)
    {
        if (is_label(at->json, key)) {
            continue;
        }
        if (strlen(key) > MAX_NAME_BYTES ||
            strlen(device) > MAX_NESTING * MAX_NAME_BYTES) {
            return damaged(r, key, "is too long a name");
        }
        if (json_is_object(value) || json_is_array(value)) {
            push(todo, value, device_below(device, key), at->depth + 1);
        } else if (!take_value(r, device, key, value)) {
            return FALSE;
        }
    }
    return TRUE;
}

static void
take_array(GArray *todo, const level *at)
{
    for (size_t i = 0; i < json_array_size(at->json); i++) {
        const json_t *value = json_array_get(at->json, i);
        if (json_is_object(value) || json_is_array(value)) {
            push(todo, value, g_strdup(at->device), at->depth + 1);
        }
    }
}

static gboolean
take_levels(const reading *r, const json_t *json)
{
    g_autoptr(GArray) todo = g_array_new(FALSE, FALSE, sizeof(level));
    g_array_set_clear_func(todo, clear_level);
    push(todo, json, g_strdup(""), 0);
    for (guint i = 0; i < todo->len; i++) {
        const level at = g_array_index(todo, level, i);
        if (at.depth > MAX_NESTING) {
            return damaged(r, at.device, "is nested too deep");
        }
        if (json_is_array(at.json)) {
            take_array(todo, &at);
        } else if (!take_object(r, todo, &at)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
take_json(const reading *r, const char *text, gsize size)
{
    json_t *json = rs_small_file_json(r->path, text, size, r->error);
    if (json == NULL) {
        return FALSE;
    }
    gboolean good = take_levels(r, json);
    json_decref(json);
    return good;
}

/* ---- files ---- */

rs_counter_set *
rs_counter_set_parse(const char *text, gsize size, const char *path, GError **error)
{
    g_autoptr(rs_counter_set) set = g_new0(rs_counter_set, 1);
    set->counters =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, rs_unref_array);
    set->devices = g_ptr_array_new_with_free_func(g_free);
    reading r = {.set = set, .path = path, .error = error};
    gsize blank = 0;
    while (blank < size && g_ascii_isspace(text[blank])) {
        blank++;
    }
    gboolean is_json = blank < size && (text[blank] == '{' || text[blank] == '[');
    if (!(is_json ? take_json(&r, text, size) : take_text(&r, text, size))) {
        return NULL;
    }
    if (g_hash_table_size(set->counters) == 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_DAMAGED,
                    "%s: has no counters, as \"rdma statistic show\" or \"ethtool -S\" "
                    "prints them",
                    path);
        return NULL;
    }
    return g_steal_pointer(&set);
}

rs_counter_set *
rs_counter_set_read(const char *path, GError **error)
{
    gsize size;
    g_autofree char *text = rs_small_file_read(path, &size, error);
    return text != NULL ? rs_counter_set_parse(text, size, path, error) : NULL;
}

gboolean
rs_counter_set_get(const rs_counter_set *set, const char *name, guint64 *value)
{
    const GArray *parts = g_hash_table_lookup(set->counters, name);
    if (parts == NULL) {
        return FALSE;
    }
    guint64 sum = 0;
    for (guint i = 0; i < parts->len; i++) {
        sum += g_array_index(parts, part, i).value;
    }
    *value = sum;
    return TRUE;
}

guint
rs_counter_set_n(const rs_counter_set *set)
{
    return g_hash_table_size(set->counters);
}

guint
rs_counter_set_n_devices(const rs_counter_set *set)
{
    return set->devices->len;
}

const char *
rs_counter_set_device(const rs_counter_set *set, guint i)
{
    return g_ptr_array_index(set->devices, i);
}

/* ---- between two files ---- */

/* Of one device. */
static rs_counter_state
increase_of(guint64 was, guint64 is, guint64 *increase)
{
    if (is >= was) {
        *increase = is - was;
        return RS_COUNTER_COUNTED;
    }
    if (was >= HALF_OF_32_BITS && was < ALL_OF_32_BITS && is < HALF_OF_32_BITS) {
        *increase = is + (ALL_OF_32_BITS - was);
        return RS_COUNTER_WRAPPED;
    }
    return RS_COUNTER_RESET;
}

/* The value that a device of another file has here. */
static guint64 *
find_same(const rs_counter_set *set, const GArray *parts, const char *device)
{
    guint i;
    return g_ptr_array_find_with_equal_func(set->devices, device, g_str_equal, &i)
               ? find_part(parts, i)
               : NULL;
}

rs_counter_state
rs_counter_increase(const rs_counter_set *before, const rs_counter_set *after,
                    const char *name, guint64 *increase)
{
    const GArray *was = g_hash_table_lookup(before->counters, name);
    const GArray *is = g_hash_table_lookup(after->counters, name);
    if (was == NULL || is == NULL || was->len != is->len) {
        return RS_COUNTER_MISSING;
    }
    guint64 sum = 0;
    rs_counter_state worst = RS_COUNTER_COUNTED;
    for (guint i = 0; i < is->len; i++) {
        const part *now = &g_array_index(is, part, i);
        guint64 one = 0;
        const guint64 *then =
            find_same(before, was, g_ptr_array_index(after->devices, now->device_i));
        if (then == NULL) {
            return RS_COUNTER_MISSING;
        }
        worst = MAX(worst, increase_of(*then, now->value, &one));
        sum += one;
    }
    if (worst != RS_COUNTER_RESET) {
        *increase = sum;
    }
    return worst;
}

const char *
rs_counter_state_name(rs_counter_state state)
{
    static const char *const names[] = {
        [RS_COUNTER_COUNTED] = "counted",
        [RS_COUNTER_WRAPPED] = "wrapped",
        [RS_COUNTER_RESET] = "reset",
        [RS_COUNTER_MISSING] = "missing",
    };
    return names[state];
}
