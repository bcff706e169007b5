/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The matrix of hosts in index.html.  Of very many hosts it has those that most went wrong
 * with; the table behind it, and the database, have the others.
 */
#include "batch_files.h"
#include "database_schema.h"
#include "format.h"
#include "json_parts.h"

#define HOSTS 64
#define LEAST_HOSTS 3 /* else the table of pairs says it all */

/* The hosts of the matrix. */
#define WORST_HOSTS                                                                    \
    "SELECT host FROM ("                                                               \
    "SELECT src AS host, lost, resent, held_ns, ce, packets FROM host_pairs UNION "    \
    "ALL "                                                                             \
    "SELECT dst, lost, resent, held_ns, ce, packets FROM host_pairs) GROUP BY host "   \
    "ORDER BY sum(lost) DESC, sum(resent) DESC, sum(held_ns) DESC, sum(ce) DESC, "     \
    "sum(packets) DESC, host LIMIT ?1"

typedef struct matrix {
    GHashTable *numbers; /* char *, host -> its number + 1 */
    json_t *hosts, *cells;
} matrix;

static gboolean
take_host(const json_t *row, void *ctx)
{
    matrix *m = ctx;
    const char *host = json_string_value(json_object_get(row, "host"));
    json_array_append_new(m->hosts, rs_json_text(host));
    g_hash_table_insert(m->numbers, g_strdup(host),
                        GSIZE_TO_POINTER(json_array_size(m->hosts)));
    return TRUE;
}

static json_t *
number_of(const matrix *m, const json_t *row, const char *key)
{
    const char *host = json_string_value(json_object_get(row, key));
    gpointer number = g_hash_table_lookup(m->numbers, host != NULL ? host : "");
    return json_integer((json_int_t)GPOINTER_TO_SIZE(number) - 1);
}

/* In the order that the script has, hosts.js. */
static gboolean
take_cell(const json_t *row, void *ctx)
{
    static const char *const values[] = {"packets", "payload_bytes", "data_packets",
                                         "ce",      "lost",          "resent",
                                         "cnps",    "held_ns"};
    matrix *m = ctx;
    json_t *cell = json_array();
    json_array_append_new(cell, number_of(m, row, "src"));
    json_array_append_new(cell, number_of(m, row, "dst"));
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        json_array_append(cell, json_object_get(row, values[i]));
    }
    json_array_append_new(m->cells, cell);
    return TRUE;
}

static gboolean
fill(matrix *m, rs_database *database, GError **error)
{
    static const char hosts[] =
        "SELECT host FROM (" WORST_HOSTS ") ORDER BY host COLLATE NOCASE, host";
    static const char cells[] = "SELECT * FROM host_pairs WHERE src IN (" WORST_HOSTS
                                ") AND dst IN (" WORST_HOSTS ") ORDER BY src, dst";
    return rs_database_ask(database, hosts, HOSTS, take_host, m, error) &&
           rs_database_ask(database, cells, HOSTS, take_cell, m, error);
}

static void
write_matrix(matrix *m, rs_html *page, guint64 n_hosts)
{
    rs_html_section(page, "hosts", "Who sends to whom");
    rs_html_markup(
        page, "<p class=\"lead\">Senders are rows, receivers columns. What several "
              "captures saw at the same time counts once.</p>\n"
              "<div class=\"controls\" id=\"hosts-controls\">\n"
              "<label>Measure <select id=\"hosts-choice\"></select></label>\n"
              "</div>\n<div id=\"hosts-matrix\"></div>\n"
              "<noscript><p class=\"lead\">The matrix needs JavaScript; the tables "
              "below have the same numbers.</p></noscript>\n");
    if (n_hosts > HOSTS) {
        g_autofree char *more = rs_format_count(n_hosts - HOSTS);
        rs_html_printf(page,
                       "<p class=\"more\">… and %s more hosts with which less went "
                       "wrong: rocescope.sqlite has all of them.</p>\n",
                       more);
    }
    json_t *json = json_object();
    json_object_set(json, "hosts", m->hosts);
    json_object_set(json, "cells", m->cells);
    rs_html_data(page, "hosts", json);
    rs_html_end_section(page);
}

gboolean
rs_batch_matrix(rs_html *page, rs_database *database, GError **error)
{
    static const char hosts[] = "SELECT count(*) FROM (SELECT src FROM host_pairs "
                                "UNION SELECT dst FROM host_pairs)";
    guint64 n_hosts = 0;
    if (!rs_database_count(database, hosts, &n_hosts, error)) {
        return FALSE;
    }
    if (n_hosts < LEAST_HOSTS) {
        return TRUE;
    }
    matrix m = {
        .numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .hosts = json_array(),
        .cells = json_array(),
    };
    gboolean good = fill(&m, database, error);
    if (good) {
        write_matrix(&m, page, n_hosts);
    }
    g_hash_table_unref(m.numbers);
    json_decref(m.hosts);
    json_decref(m.cells);
    return good;
}
