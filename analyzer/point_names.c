/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "point_names.h"

#include "format.h"

#include <string.h>

#define MOST_NAMES 3     /* of points that are taken together */
#define ALONE (1u << 31) /* of a place: this point alone, not those it is taken with */

/* The end of a path that begins a number of names before its last one; the path itself when
 * it has no more. */
static const char *
tail_of(const char *path, guint n_before)
{
    const char *tail = path + strlen(path);
    for (;;) {
        while (tail > path && tail[-1] != G_DIR_SEPARATOR) {
            tail--;
        }
        if (tail == path || n_before-- == 0) {
            return tail;
        }
        tail--;
    }
}

/* Whether another file has the same end. */
static gboolean
is_shared(const rs_analysis *analysis, const char *path, guint n_before)
{
    const char *tail = tail_of(path, n_before);
    for (guint i = 0; i < analysis->files->len; i++) {
        const rs_file *other = g_ptr_array_index(analysis->files, i);
        if (!g_str_equal(other->path, path) &&
            g_str_equal(tail_of(other->path, n_before), tail)) {
            return TRUE;
        }
    }
    return FALSE;
}

char *
rs_file_name(const rs_analysis *analysis, guint file_i)
{
    const rs_file *file = g_ptr_array_index(analysis->files, file_i);
    if (g_str_equal(file->path, "-")) {
        return g_strdup("standard input");
    }
    guint n_before = 0;
    while (is_shared(analysis, file->path, n_before)) {
        n_before++;
    }
    return rs_format_safe(tail_of(file->path, n_before));
}

/* What it is called, with its file and its number where that alone tells it from others. */
static char *
interface_name(const rs_analysis *analysis, const rs_point *p)
{
    GString *name = g_string_new(NULL);
    if (p->interface == NULL || p->named_by_file) {
        g_autofree char *file = rs_file_name(analysis, p->file_i);
        g_string_append(name, file);
    }
    if (p->interface != NULL) {
        g_autofree char *called = rs_format_safe(p->interface);
        g_string_append_printf(name, "%s%s", name->len > 0 ? ", " : "", called);
    }
    if (p->named_by_number) {
        g_string_append_printf(name, ", interface %u", p->interface_i);
    }
    return g_string_free(name, FALSE);
}

char *
rs_point_name(const rs_analysis *analysis, guint32 point)
{
    const rs_point *p = rs_analysis_point(analysis, point);
    g_autofree char *name = interface_name(analysis, p);
    g_autofree char *source = rs_hosts_label(analysis->told->hosts, &p->origin.source);
    g_autofree char *session =
        roce_origin_has_session(&p->origin)
            ? g_strdup_printf("mirror session %u of %s", p->origin.number, source)
            : g_strdup_printf("mirror of %s", source);
    gboolean has_direction = p->origin.direction != ROCE_MIRROR_DIRECTION_UNKNOWN;
    switch (p->origin.kind) {
    case ROCE_ORIGIN_INTERFACE:
        break;
    case ROCE_ORIGIN_IFINDEX:
        return g_strdup_printf("%s, interface %u", name, p->origin.number);
    case ROCE_ORIGIN_MIRROR:
        return g_strdup_printf(
            "%s, %s%s%s", name, session, has_direction ? ", " : "",
            has_direction ? roce_mirror_direction_name(p->origin.direction) : "");
    }
    return g_steal_pointer(&name);
}

/* Whether those that are taken together are an interface of this name each, as pieces of a
 * rotated capture are, and no other one is called so. */
static gboolean
is_one_interface(const rs_analysis *analysis, const rs_point *p)
{
    gboolean one = p->interface != NULL && p->origin.kind == ROCE_ORIGIN_INTERFACE;
    for (guint32 i = 0; one && i < rs_points_n(analysis->points); i++) {
        const rs_point *other = rs_analysis_point(analysis, i);
        gboolean joined = other->survey.group == p->survey.group;
        one = joined == (g_strcmp0(other->interface, p->interface) == 0) &&
              (!joined || other->origin.kind == ROCE_ORIGIN_INTERFACE);
    }
    return one;
}

/* "sA+sB" */
static char *
all_names(const rs_analysis *analysis, guint32 group)
{
    GString *names = g_string_new(NULL);
    for (guint32 i = 0; i < rs_points_n(analysis->points); i++) {
        if (rs_analysis_point(analysis, i)->survey.group == group) {
            g_autofree char *name = rs_point_name(analysis, i);
            g_string_append_printf(names, "%s%s", names->len > 0 ? "+" : "", name);
        }
    }
    return g_string_free(names, FALSE);
}

/* Of the points that are taken together with this one. */
static char *
group_name(const rs_analysis *analysis, guint32 point)
{
    const rs_point *p = rs_analysis_point(analysis, point);
    guint n = 0;
    gboolean one_file = TRUE;
    for (guint32 i = 0; i < rs_points_n(analysis->points); i++) {
        const rs_point *other = rs_analysis_point(analysis, i);
        gboolean joined = other->survey.group == p->survey.group;
        n += joined ? 1 : 0;
        one_file &= !joined || other->file_i == p->file_i;
    }
    if (n > 1 && !one_file && is_one_interface(analysis, p)) {
        return rs_format_safe(p->interface);
    }
    g_autofree char *name = rs_point_name(analysis, point);
    if (n < 2 || !one_file) {
        return n < 2 ? g_steal_pointer(&name)
                     : g_strdup_printf("%s and %u more", name, n - 1);
    }
    if (n <= MOST_NAMES && p->interface != NULL &&
        p->origin.kind == ROCE_ORIGIN_INTERFACE) {
        return all_names(analysis, p->survey.group);
    }
    g_autofree char *file = rs_file_name(analysis, p->file_i);
    return g_strdup_printf("%s (%u points)", file, n);
}

/* Whether those that are taken together are interfaces of one file, and no pieces of a rotated
 * capture. */
static gboolean
are_of_one_file(const roce_survey_point *of)
{
    const roce_survey_point *one = of->next;
    while (one != of && one->file_i == of->file_i) {
        one = one->next;
    }
    return of->next != of && one == of;
}

rs_place
rs_stream_place(const rs_analysis *analysis, guint32 stream)
{
    guint32 group = roce_tracker_stream(analysis->tracker, stream)->point;
    guint32 point;
    gboolean alone = are_of_one_file(&rs_analysis_point(analysis, group)->survey) &&
                     rs_members_only(analysis->members, stream, &point);
    return alone ? point | ALONE : group;
}

char *
rs_place_name(const rs_analysis *analysis, rs_place place)
{
    return (place & ALONE) != 0 ? rs_point_name(analysis, place & ~ALONE)
                                : group_name(analysis, place);
}
