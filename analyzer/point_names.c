/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "point_names.h"

#include "format.h"

char *
rs_point_name(const rs_analysis *analysis, guint32 point)
{
    const rs_point *p = rs_analysis_point(analysis, point);
    const rs_file *file = g_ptr_array_index(analysis->files, p->file_i);
    g_autofree char *base = g_path_get_basename(file->path);
    g_autofree char *name = rs_format_safe(p->interface != NULL ? p->interface : base);
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

char *
rs_point_group_name(const rs_analysis *analysis, guint32 point)
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
    g_autofree char *name = rs_point_name(analysis, point);
    if (n < 2 || !one_file) {
        return n < 2 ? g_steal_pointer(&name)
                     : g_strdup_printf("%s and %u more", name, n - 1);
    }
    const rs_file *file = g_ptr_array_index(analysis->files, p->file_i);
    g_autofree char *base = g_path_get_basename(file->path);
    g_autofree char *safe = rs_format_safe(base);
    return g_strdup_printf("%s (%u points)", safe, n);
}
