/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files are sorted into families by what their names have beside the number; a family is
 * put in order of time and cut where rule 2 or 3 of rotation.h fails.
 */
#include "rotation.h"

#include "arrays.h"
#include "points.h"
#include "sorting.h"

#include <string.h>

#define MAX_DIGITS 9 /* of a number that counts files */
#define DUMPCAP_DIGITS 5
#define DUMPCAP_NUMBERS 100000
#define DATE_DIGITS 14 /* YYYYmmddHHMMSS */

static const char *const compressions[] = {".gz", ".zst", ".lz4", ".xz"};
static const char *const extensions[] = {".pcap", ".pcapng", ".cap", ".dmp", ".dump"};

/* What a name says. */
typedef struct numbered_name {
    char *family; /* what all files of a set have in common; NULL: can be in none */
    guint number;
    guint n_digits;     /* 0: no number; counts as 0 */
    gboolean dumpcap;   /* else of tcpdump */
    gboolean extension; /* of a capture stands before the number, or behind it */
} numbered_name;

typedef struct member {
    guint file_i;
    const numbered_name *name;
    rs_span span;
} member;

/* ---- names ---- */

static void
free_name(gpointer data)
{
    numbered_name *name = data;
    g_free(name->family);
    g_free(name);
}

static void
strip_compression(char *name)
{
    gsize length = strlen(name);
    for (guint i = 0; i < G_N_ELEMENTS(compressions); i++) {
        if (g_str_has_suffix(name, compressions[i])) {
            name[length - strlen(compressions[i])] = '\0';
            return;
        }
    }
}

static gboolean
ends_as_capture(const char *name)
{
    gsize length = strlen(name);
    for (guint i = 0; i < G_N_ELEMENTS(extensions); i++) {
        gsize size = strlen(extensions[i]);
        if (length > size &&
            g_ascii_strcasecmp(name + length - size, extensions[i]) == 0) {
            return TRUE;
        }
    }
    return FALSE;
}

static gsize
digits_at(const char *text)
{
    return strspn(text, "0123456789");
}

static guint
read_digits(const char *text, gsize n)
{
    guint value = 0;
    for (gsize i = 0; i < n; i++) {
        value = value * 10 + (guint)(text[i] - '0');
    }
    return value;
}

/* Month, day, hour, minute and second are where a date has them. */
static gboolean
is_date(const char *text)
{
    static const struct {
        guint at, least, greatest;
    } parts[] = {{4, 1, 12}, {6, 1, 31}, {8, 0, 23}, {10, 0, 59}, {12, 0, 60}};
    for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
        guint value = read_digits(text + parts[i].at, 2);
        if (value < parts[i].least || value > parts[i].greatest) {
            return FALSE;
        }
    }
    return TRUE;
}

/* The number behind the "_" here, if number and date stand here in one of both orders, and
 * in `rest` what follows; NULL: not so. */
static const char *
find_dumpcap(const char *at, const char **rest)
{
    gsize first = at[0] == '_' ? digits_at(at + 1) : 0;
    const char *second_at = at + 1 + first;
    if (first == 0 || *second_at != '_') {
        return NULL;
    }
    gsize second = digits_at(second_at + 1);
    *rest = second_at + 1 + second;
    if (**rest != '\0' && **rest != '.') {
        return NULL;
    }
    if (first == DUMPCAP_DIGITS && second == DATE_DIGITS && is_date(second_at + 1)) {
        return at + 1;
    }
    if (first == DATE_DIGITS && second == DUMPCAP_DIGITS && is_date(at + 1)) {
        return second_at + 1;
    }
    return NULL;
}

/* "x_00001_20261121031245.pcapng" */
static gboolean
parse_dumpcap(const char *dir, const char *name, numbered_name *parsed)
{
    for (const char *at = strchr(name, '_'); at != NULL; at = strchr(at + 1, '_')) {
        const char *rest;
        const char *number = find_dumpcap(at, &rest);
        if (number == NULL || at == name) {
            continue;
        }
        parsed->number = read_digits(number, DUMPCAP_DIGITS);
        parsed->n_digits = DUMPCAP_DIGITS;
        parsed->dumpcap = parsed->extension = TRUE;
        parsed->family = g_strdup_printf("%s/%.*s_%c%s", dir, (int)(at - name), name,
                                         number == at + 1 ? 'n' : 't', rest);
        return TRUE;
    }
    return FALSE;
}

/* "x.pcap", "x.pcap1", "x.pcap00" */
static void
parse_tcpdump(const char *dir, const char *name, numbered_name *parsed)
{
    gsize length = strlen(name);
    gsize n = 0;
    while (n < length && g_ascii_isdigit(name[length - 1 - n])) {
        n++;
    }
    if (n == length || n > MAX_DIGITS) {
        return;
    }
    g_autofree char *base = g_strndup(name, length - n);
    parsed->number = read_digits(name + length - n, n);
    parsed->n_digits = (guint)n;
    parsed->extension = ends_as_capture(base);
    parsed->family = g_strdup_printf("%s/%s", dir, base);
}

static numbered_name *
parse_name(const char *path)
{
    numbered_name *parsed = g_new0(numbered_name, 1);
    const char *slash = strrchr(path, '/');
    const char *last = slash != NULL ? slash + 1 : path;
    g_autofree char *dir = g_strndup(path, (gsize)(last - path));
    g_autofree char *name = g_strdup(last);
    strip_compression(name);
    if (!parse_dumpcap(dir, name, parsed)) {
        parse_tcpdump(dir, name, parsed);
    }
    return parsed;
}

/* ---- families ---- */

static gboolean
leads_with_zero(const numbered_name *name)
{
    guint least = 1; /* of so many digits */
    for (guint i = 1; i < name->n_digits; i++) {
        least *= 10;
    }
    return name->n_digits >= 2 && name->number < least;
}

/* Bits of what the tcpdump names of a family have: n: numbers of n digits that begin with
 * 0; 0: a plain "0". */
static guint
form_bits(const numbered_name *name)
{
    if (leads_with_zero(name)) {
        return 1u << name->n_digits;
    }
    return name->n_digits == 1 && name->number == 0 ? 1u : 0;
}

/* Numbers with leading zeros count another set than those without; a file without a number
 * begins one only if there is no "0" that does. */
static void
narrow_family(numbered_name *name, guint forms)
{
    if (name->dumpcap) {
        return;
    }
    gboolean padded = name->n_digits >= 2 && (forms & 1u << name->n_digits) != 0;
    guint width = padded ? name->n_digits : 0;
    gboolean apart = name->n_digits == 0 && (forms & 1u) != 0;
    char *narrow =
        g_strdup_printf("%s\n%u%s", name->family, width, apart ? " alone" : "");
    g_free(name->family);
    name->family = narrow;
}

static GPtrArray *
parse_names(const char *const *paths, guint n_paths)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(free_name);
    g_autoptr(GHashTable) forms =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < n_paths; i++) {
        numbered_name *name = parse_name(paths[i]);
        g_ptr_array_add(names, name);
        if (name->family != NULL) {
            guint bits = GPOINTER_TO_UINT(g_hash_table_lookup(forms, name->family));
            g_hash_table_insert(forms, g_strdup(name->family),
                                GUINT_TO_POINTER(bits | form_bits(name)));
        }
    }
    for (guint i = 0; i < n_paths; i++) {
        numbered_name *name = g_ptr_array_index(names, i);
        if (name->family != NULL) {
            gpointer bits = g_hash_table_lookup(forms, name->family);
            narrow_family(name, GPOINTER_TO_UINT(bits));
        }
    }
    return names;
}

/* By their numbers alone. */
static gint
by_number(gconstpointer a, gconstpointer b)
{
    const member *x = a;
    const member *y = b;
    if (x->name->number != y->name->number) {
        return x->name->number < y->name->number ? -1 : 1;
    }
    return rs_by_number(x->file_i, y->file_i);
}

/* Of each family the members (GArray of member) in the order of their numbers; their stamps
 * are not known yet. */
static GHashTable *
make_families(const GPtrArray *names)
{
    GHashTable *families =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, rs_unref_array);
    for (guint i = 0; i < names->len; i++) {
        const numbered_name *name = g_ptr_array_index(names, i);
        if (name->family == NULL) {
            continue;
        }
        GArray *members = g_hash_table_lookup(families, name->family);
        if (members == NULL) {
            members = g_array_new(FALSE, FALSE, sizeof(member));
            g_hash_table_insert(families, name->family, members);
        }
        const member m = {.file_i = i, .name = name};
        g_array_append_val(members, m);
    }
    GHashTableIter iter;
    gpointer members;
    g_hash_table_iter_init(&iter, families);
    while (g_hash_table_iter_next(&iter, NULL, &members)) {
        g_array_sort(members, by_number);
    }
    return families;
}

/* The number behind the greatest, where 0 comes again; 0: nowhere.  `members` stand in the
 * order of their numbers. */
static guint
ring_size(const GArray *members)
{
    guint expected = 0;
    for (guint i = 0; i < members->len; i++) {
        const numbered_name *name = g_array_index(members, member, i).name;
        if (name->dumpcap) {
            return DUMPCAP_NUMBERS;
        }
        if (name->number > expected || (i == 0 && name->n_digits == 0)) {
            return 0;
        }
        expected = name->number + 1;
    }
    return expected;
}

static gboolean
is_next(const member *before, const member *next, guint ring)
{
    guint wanted = before->name->number + 1;
    return next->name->number == (wanted == ring ? 0 : wanted);
}

/* ---- candidates ---- */

/* Whose number is next to that of another. */
static void
mark_candidates(GArray *members, gboolean *candidate)
{
    guint ring = ring_size(members);
    guint n = members->len;
    const member *all = (const member *)(const void *)members->data;
    gboolean wraps = n > 1 && is_next(&all[n - 1], &all[0], ring);
    for (guint i = 0; i < n; i++) {
        gboolean next = i + 1 < n && all[i + 1].name->number - all[i].name->number <= 1;
        gboolean previous = i > 0 && all[i].name->number - all[i - 1].name->number <= 1;
        gboolean at_edge = i == 0 || i + 1 == n;
        candidate[all[i].file_i] = next || previous || (wraps && at_edge);
    }
}

gboolean *
rs_rotation_candidates(const char *const *paths, guint n_paths)
{
    gboolean *candidate = g_new0(gboolean, MAX(n_paths, 1));
    g_autoptr(GPtrArray) names = parse_names(paths, n_paths);
    g_autoptr(GHashTable) families = make_families(names);
    GHashTableIter iter;
    gpointer members;
    g_hash_table_iter_init(&iter, families);
    while (g_hash_table_iter_next(&iter, NULL, &members)) {
        mark_candidates(members, candidate);
    }
    return candidate;
}

guint *
rs_rotation_units(const char *const *paths, guint n_paths)
{
    guint *unit = g_new0(guint, MAX(n_paths, 1));
    g_autoptr(GHashTable) firsts =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < n_paths; i++) {
        g_autofree numbered_name *name = parse_name(paths[i]);
        gpointer first;
        unit[i] = i;
        if (name->family == NULL) {
            continue;
        }
        if (g_hash_table_lookup_extended(firsts, name->family, NULL, &first)) {
            unit[i] = GPOINTER_TO_UINT(first);
            g_free(name->family);
        } else {
            g_hash_table_insert(firsts, name->family, GUINT_TO_POINTER(i));
        }
    }
    return unit;
}

/* ---- sets ---- */

static gint
by_time(gconstpointer a, gconstpointer b)
{
    const member *x = a;
    const member *y = b;
    if (x->span.first_ns != y->span.first_ns) {
        return x->span.first_ns < y->span.first_ns ? -1 : 1;
    }
    return by_number(a, b);
}

/* Asks for the stamps; leaves out who has none. */
static void
ask_spans(GArray *members, rs_rotation_span *span, void *ctx)
{
    for (guint i = 0; i < members->len;) {
        member *m = &g_array_index(members, member, i);
        if (span(ctx, m->file_i, &m->span)) {
            i++;
        } else {
            g_array_remove_index(members, i);
        }
    }
}

/* Whether a member goes on with the one before it, in the order of time. */
static gboolean
goes_on(const member *before, const member *next, guint ring)
{
    guint64 begin_ns = next->span.first_ns;
    guint64 end_ns = before->span.last_ns;
    return is_next(before, next, ring) &&
           (begin_ns >= end_ns || end_ns - begin_ns <= RS_FOLLOW_ON_TOLERANCE_NS);
}

/* How many members from here on are one capture. */
static guint
chain_length(const GArray *members, guint from, guint ring)
{
    const member *all = (const member *)(const void *)members->data;
    gboolean begins = all[from].name->number == 0;
    guint n = 1;
    while (from + n < members->len &&
           goes_on(&all[from + n - 1], &all[from + n], ring)) {
        begins |= all[from + n].name->number == 0;
        n++;
    }
    return begins || all[from].name->extension ? n : 1;
}

static void
cut_family(const GArray *members, guint ring, GArray **set_of)
{
    for (guint from = 0; from < members->len;) {
        guint n = chain_length(members, from, ring);
        GArray *set = g_array_new(FALSE, FALSE, sizeof(guint));
        for (guint i = from; i < from + n; i++) {
            guint file_i = g_array_index(members, member, i).file_i;
            g_array_append_val(set, file_i);
            set_of[file_i] = set;
        }
        from += n;
    }
}

static GPtrArray *
list_sets(GArray **set_of, guint n_paths)
{
    GPtrArray *sets = g_ptr_array_new_with_free_func(rs_unref_array);
    g_autoptr(GHashTable) listed = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < n_paths; i++) {
        if (set_of[i] == NULL) {
            set_of[i] = g_array_new(FALSE, FALSE, sizeof(guint));
            g_array_append_val(set_of[i], i);
        }
        if (g_hash_table_add(listed, set_of[i])) {
            g_ptr_array_add(sets, set_of[i]);
        }
    }
    return sets;
}

GPtrArray *
rs_rotation_group(const char *const *paths, guint n_paths, rs_rotation_span *span,
                  void *ctx)
{
    g_autofree gboolean *candidate = rs_rotation_candidates(paths, n_paths);
    g_autofree GArray **set_of = g_new0(GArray *, MAX(n_paths, 1));
    g_autoptr(GPtrArray) names = parse_names(paths, n_paths);
    g_autoptr(GHashTable) families = make_families(names);
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, families);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        GArray *members = value;
        guint ring = ring_size(members);
        for (guint i = members->len; i > 0; i--) {
            if (!candidate[g_array_index(members, member, i - 1).file_i]) {
                g_array_remove_index(members, i - 1);
            }
        }
        ask_spans(members, span, ctx);
        g_array_sort(members, by_time);
        cut_family(members, ring, set_of);
    }
    return list_sets(set_of, n_paths);
}
