/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qp_map.h"

#include "error.h"
#include "format.h"
#include "hosts.h"
#include "small_file.h"
#include "sorting.h"

#include <jansson.h>
#include <string.h>

#define MAX_QPN 0xffffff
#define MAX_NESTING 8 /* of arrays in arrays */

/* A connected queue pair. */
typedef struct row {
    guint32 lqpn, rqpn;
    rs_process process;
} row;

/* A host's table. */
typedef struct host {
    GArray *addrs;       /* roce_addr */
    GArray *rows;        /* row, sorted by lqpn and rqpn */
    GStringChunk *comms; /* what the rows' names point to */
} host;

struct rs_qp_maps {
    GPtrArray *hosts;    /* host */
    GHashTable *by_addr; /* roce_addr -> host */
};

static void
free_host(gpointer data)
{
    host *h = data;
    g_array_unref(h->addrs);
    g_array_unref(h->rows);
    g_string_chunk_free(h->comms);
    g_free(h);
}

rs_qp_maps *
rs_qp_maps_new(void)
{
    rs_qp_maps *maps = g_new0(rs_qp_maps, 1);
    maps->hosts = g_ptr_array_new_with_free_func(free_host);
    maps->by_addr = g_hash_table_new_full(rs_addr_hash, rs_addr_equal, g_free, NULL);
    return maps;
}

void
rs_qp_maps_free(rs_qp_maps *maps)
{
    if (maps == NULL) {
        return;
    }
    g_hash_table_unref(maps->by_addr);
    g_ptr_array_unref(maps->hosts);
    g_free(maps);
}

/* ---- the JSON ---- */

/* A file while it is read. */
typedef struct reading {
    const char *path;
    guint64 entry; /* the object at hand, from 1 */
    GArray *rows;
    GStringChunk *comms;
    GError **error;
} reading;

static gboolean
wrong(const reading *r, const char *key, const char *what)
{
    g_set_error(r->error, RS_ERROR, RS_ERROR_DAMAGED,
                "%s: queue pair %" G_GUINT64_FORMAT ": \"%s\" %s", r->path, r->entry,
                key, what);
    return FALSE;
}

/* An integer from 0 to `max`; -1 if there is none. */
static gboolean
take_number(const reading *r, const json_t *object, const char *key, gint64 max,
            gint64 *number)
{
    const json_t *value = json_object_get(object, key);
    *number = -1;
    if (value == NULL || json_is_null(value)) {
        return TRUE;
    }
    if (!json_is_integer(value)) {
        return wrong(r, key, "is no integer");
    }
    *number = json_integer_value(value);
    return (*number >= 0 && *number <= max) || wrong(r, key, "is out of range");
}

/* A string; NULL if there is none. */
static gboolean
take_string(const reading *r, const json_t *object, const char *key, const char **text)
{
    const json_t *value = json_object_get(object, key);
    *text = NULL;
    if (value == NULL || json_is_null(value)) {
        return TRUE;
    }
    *text = json_string_value(value);
    return *text != NULL || wrong(r, key, "is no string");
}

/* Whether a queue pair of this type and state has a peer. */
static gboolean
is_connected(const char *type, const char *state)
{
    gboolean service = type == NULL || g_str_equal(type, "RC") ||
                       g_str_equal(type, "UC") || g_str_has_prefix(type, "XRC");
    return service && g_strcmp0(state, "RESET") != 0 && g_strcmp0(state, "INIT") != 0;
}

static gboolean
take_object(reading *r, const json_t *object)
{
    gint64 lqpn, rqpn, pid;
    const char *type, *state, *comm;
    r->entry++;
    if (!take_number(r, object, "lqpn", MAX_QPN, &lqpn) ||
        !take_number(r, object, "rqpn", MAX_QPN, &rqpn) ||
        !take_number(r, object, "pid", G_MAXINT32, &pid) ||
        !take_string(r, object, "type", &type) ||
        !take_string(r, object, "state", &state) ||
        !take_string(r, object, "comm", &comm)) {
        return FALSE;
    }
    if (lqpn < 0) {
        return wrong(r, "lqpn",
                     "is missing; is this what \"rdma -j resource show qp\" prints?");
    }
    if (lqpn <= ROCE_GSI_QPN || rqpn <= ROCE_GSI_QPN || !is_connected(type, state)) {
        return TRUE;
    }
    row one = {
        .lqpn = (guint32)lqpn,
        .rqpn = (guint32)rqpn,
        .process = {.pid = pid},
    };
    if (comm != NULL) {
        one.process.comm = g_string_chunk_insert_const(r->comms, comm);
    }
    g_array_append_val(r->rows, one);
    return TRUE;
}

/* Objects, in arrays that may stand in arrays. */
static gboolean
take_json(reading *r, const json_t *json, guint depth)
{
    if (json_is_object(json)) {
        return take_object(r, json);
    }
    if (!json_is_array(json) || depth == MAX_NESTING) {
        g_set_error(r->error, RS_ERROR, RS_ERROR_DAMAGED,
                    "%s: is no array of queue pairs, as \"rdma -j resource show qp\" "
                    "prints it",
                    r->path);
        return FALSE;
    }
    for (size_t i = 0; i < json_array_size(json); i++) {
        if (!take_json(r, json_array_get(json, i), depth + 1)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gint
by_qpns(gconstpointer a, gconstpointer b)
{
    const row *x = a;
    const row *y = b;
    if (x->lqpn != y->lqpn) {
        return x->lqpn < y->lqpn ? -1 : 1;
    }
    return rs_by_number(x->rqpn, y->rqpn);
}

/* A QPN may have a peer for each device of its host, and no more. */
static gboolean
check_peers(const reading *r)
{
    guint n = 0;
    for (guint i = 1; i < r->rows->len; i++) {
        const row *before = &g_array_index(r->rows, row, i - 1);
        const row *one = &g_array_index(r->rows, row, i);
        n = one->lqpn != before->lqpn ? 0 : one->rqpn != before->rqpn ? n + 1 : n;
        if (n == ROCE_MAX_PEERS_OF_QPN) {
            g_set_error(r->error, RS_ERROR, RS_ERROR_DAMAGED,
                        "%s: local QPN %u has more than %u peers", r->path, one->lqpn,
                        ROCE_MAX_PEERS_OF_QPN);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
read_rows(reading *r, const char *text, gsize size)
{
    json_t *json = rs_small_file_json(r->path, text, size, r->error);
    if (json == NULL) {
        return FALSE;
    }
    gboolean good = take_json(r, json, 0);
    json_decref(json);
    if (good) {
        g_array_sort(r->rows, by_qpns);
    }
    return good && check_peers(r);
}

/* ---- hosts ---- */

/* The host that has these addresses, made if nobody has them. */
static host *
get_host(rs_qp_maps *maps, const GArray *addrs, const char *path, GError **error)
{
    host *found = NULL;
    for (guint i = 0; i < addrs->len; i++) {
        host *one =
            g_hash_table_lookup(maps->by_addr, &g_array_index(addrs, roce_addr, i));
        if (one != NULL && found != NULL && one != found) {
            g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                        "--qp-map: the addresses of %s were given for different hosts",
                        path);
            return NULL;
        }
        found = one != NULL ? one : found;
    }
    if (found == NULL) {
        found = g_new0(host, 1);
        found->addrs = g_array_new(FALSE, FALSE, sizeof(roce_addr));
        found->rows = g_array_new(FALSE, FALSE, sizeof(row));
        found->comms = g_string_chunk_new(1024);
        g_ptr_array_add(maps->hosts, found);
    }
    for (guint i = 0; i < addrs->len; i++) {
        const roce_addr *addr = &g_array_index(addrs, roce_addr, i);
        if (!g_hash_table_contains(maps->by_addr, addr)) {
            g_hash_table_insert(maps->by_addr, g_memdup2(addr, sizeof *addr), found);
            g_array_append_val(found->addrs, *addr);
        }
    }
    return found;
}

gboolean
rs_qp_maps_parse(rs_qp_maps *maps, const GArray *addrs, const char *text, gsize size,
                 const char *path, GError **error)
{
    host *h = get_host(maps, addrs, path, error);
    if (h == NULL) {
        return FALSE;
    }
    g_autoptr(GArray) rows = g_array_copy(h->rows);
    reading r = {.path = path, .rows = rows, .comms = h->comms, .error = error};
    if (!read_rows(&r, text, size)) {
        return FALSE;
    }
    GArray *before = h->rows;
    h->rows = g_steal_pointer(&rows);
    g_array_unref(before);
    return TRUE;
}

gboolean
rs_qp_maps_read(rs_qp_maps *maps, const GArray *addrs, const char *path, GError **error)
{
    gsize size;
    g_autofree char *text = rs_small_file_read(path, &size, error);
    return text != NULL && rs_qp_maps_parse(maps, addrs, text, size, path, error);
}

int
rs_qp_maps_tell(const rs_qp_maps *maps, roce_tracker *tracker)
{
    for (guint i = 0; i < maps->hosts->len; i++) {
        const host *h = g_ptr_array_index(maps->hosts, i);
        const roce_addr *addrs = &g_array_index(h->addrs, roce_addr, 0);
        for (guint k = 0; k < h->rows->len; k++) {
            const row *one = &g_array_index(h->rows, row, k);
            int result = roce_tracker_add_queue_pair(tracker, addrs, h->addrs->len,
                                                     one->lqpn, one->rqpn);
            if (result != ROCE_OK) {
                return result;
            }
        }
    }
    return ROCE_OK;
}

/* The first row of a local QPN or a higher one. */
static guint
find_row(const GArray *rows, guint32 lqpn)
{
    guint low = 0;
    guint high = rows->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(rows, row, middle).lqpn < lqpn) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

gboolean
rs_qp_maps_process(const rs_qp_maps *maps, const roce_addr *addr, guint32 lqpn,
                   const guint32 *rqpn, rs_process *process)
{
    const host *h = maps != NULL ? g_hash_table_lookup(maps->by_addr, addr) : NULL;
    const rs_process *found = NULL;
    if (h == NULL) {
        return FALSE;
    }
    for (guint i = find_row(h->rows, lqpn);
         i < h->rows->len && g_array_index(h->rows, row, i).lqpn == lqpn; i++) {
        const row *one = &g_array_index(h->rows, row, i);
        if (rqpn != NULL && one->rqpn != *rqpn) {
            continue;
        }
        if (found != NULL && (found->pid != one->process.pid ||
                              g_strcmp0(found->comm, one->process.comm) != 0)) {
            return FALSE; /* of two devices, and nobody can tell which */
        }
        found = &one->process;
    }
    if (found == NULL || (found->comm == NULL && found->pid < 0)) {
        return FALSE;
    }
    *process = *found;
    return TRUE;
}
