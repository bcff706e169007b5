/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "told.h"

#include "error.h"

/* A file's fault is kept for the report; FALSE for the user's. */
static gboolean
keep_error(rs_told *told, GError *problem, GError **error)
{
    if (g_error_matches(problem, RS_ERROR, RS_ERROR_USAGE)) {
        g_propagate_error(error, problem);
        return FALSE;
    }
    g_ptr_array_add(told->errors, g_strdup(problem->message));
    g_error_free(problem);
    return TRUE;
}

static gboolean
read_hosts(rs_told *told, const rs_options *options, GError **error)
{
    GError *problem = NULL;
    if (options->hosts_path == NULL) {
        return TRUE;
    }
    told->hosts = rs_hosts_read(options->hosts_path, &problem);
    return told->hosts != NULL || keep_error(told, problem, error);
}

static gboolean
read_qp_maps(rs_told *told, const rs_options *options, GError **error)
{
    for (guint i = 0; i < options->qp_maps->len; i++) {
        const rs_option_pair *given = g_ptr_array_index(options->qp_maps, i);
        GError *problem = NULL;
        g_autoptr(GArray) addrs =
            rs_hosts_parse_list(told->hosts, "--qp-map", given->subject, error);
        if (addrs == NULL) {
            return FALSE;
        }
        if (!rs_qp_maps_read(told->qp_maps, addrs, given->path, &problem) &&
            !keep_error(told, problem, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
take_vantages(rs_told *told, const rs_options *options, GError **error)
{
    for (guint i = 0; i < options->captured_at->len; i++) {
        const rs_option_pair *given = g_ptr_array_index(options->captured_at, i);
        if (!rs_vantages_add(told->vantages, told->hosts, given->subject, given->path,
                             error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static void
free_counters(gpointer data)
{
    rs_told_counters *c = data;
    if (c->addrs != NULL) {
        g_array_unref(c->addrs);
    }
    rs_counter_set_free(c->before);
    rs_counter_set_free(c->after);
    g_free(c);
}

static const char *
path_of_subject(const GPtrArray *pairs, const char *subject)
{
    for (guint i = 0; i < pairs->len; i++) {
        const rs_option_pair *pair = g_ptr_array_index(pairs, i);
        if (g_strcmp0(pair->subject, subject) == 0) {
            return pair->path;
        }
    }
    return NULL; /* the options see to it that there is one */
}

/* NULL: the file's fault was kept. */
static rs_counter_set *
read_counter_file(rs_told *told, const char *path)
{
    GError *problem = NULL;
    rs_counter_set *set = rs_counter_set_read(path, &problem);
    if (set == NULL) {
        (void)keep_error(told, problem, NULL);
    }
    return set;
}

static gboolean
read_counters(rs_told *told, const rs_options *options, GError **error)
{
    for (guint i = 0; i < options->counters_before->len; i++) {
        const rs_option_pair *given = g_ptr_array_index(options->counters_before, i);
        rs_told_counters *c = g_new0(rs_told_counters, 1);
        g_ptr_array_add(told->counters, c);
        c->before_path = given->path;
        c->after_path = path_of_subject(options->counters_after, given->subject);
        if (given->subject != NULL) {
            c->addrs = rs_hosts_parse_list(told->hosts, "--counters-before",
                                           given->subject, error);
            if (c->addrs == NULL) {
                return FALSE;
            }
        }
        c->before = read_counter_file(told, c->before_path);
        c->after = read_counter_file(told, c->after_path);
        if (c->before == NULL || c->after == NULL) {
            g_ptr_array_remove_index(told->counters, told->counters->len - 1);
        }
    }
    return TRUE;
}

rs_told *
rs_told_new(const rs_options *options, GError **error)
{
    g_autoptr(rs_told) told = g_new0(rs_told, 1);
    told->qp_maps = rs_qp_maps_new();
    told->vantages = rs_vantages_new();
    told->counters = g_ptr_array_new_with_free_func(free_counters);
    told->errors = g_ptr_array_new_with_free_func(g_free);
    gboolean good =
        read_hosts(told, options, error) && read_qp_maps(told, options, error) &&
        read_counters(told, options, error) && take_vantages(told, options, error);
    if (!good && told->errors->len > 0) { /* why a name is not known, most likely */
        g_prefix_error(error, "%s; ", (const char *)told->errors->pdata[0]);
    }
    return good ? g_steal_pointer(&told) : NULL;
}

void
rs_told_free(rs_told *told)
{
    if (told == NULL) {
        return;
    }
    rs_hosts_free(told->hosts);
    rs_qp_maps_free(told->qp_maps);
    rs_vantages_free(told->vantages);
    g_ptr_array_unref(told->counters);
    g_ptr_array_unref(told->errors);
    g_free(told);
}
