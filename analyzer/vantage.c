/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vantage.h"

#include "error.h"

#define OPTION "--captured-at"

/* What was said of a file, or of all. */
typedef struct place {
    char *path; /* NULL: all */
    gboolean network;
    GHashTable *addrs; /* a set of roce_addr: of the host */
} place;

struct rs_vantages {
    GPtrArray *places; /* place */
};

static void
free_place(gpointer data)
{
    place *p = data;
    g_free(p->path);
    g_hash_table_unref(p->addrs);
    g_free(p);
}

rs_vantages *
rs_vantages_new(void)
{
    rs_vantages *vantages = g_new0(rs_vantages, 1);
    vantages->places = g_ptr_array_new_with_free_func(free_place);
    return vantages;
}

void
rs_vantages_free(rs_vantages *vantages)
{
    if (vantages != NULL) {
        g_ptr_array_unref(vantages->places);
        g_free(vantages);
    }
}

static place *
find_place(const rs_vantages *vantages, const char *path)
{
    for (guint i = 0; i < vantages->places->len; i++) {
        place *p = g_ptr_array_index(vantages->places, i);
        if (g_strcmp0(p->path, path) == 0) {
            return p;
        }
    }
    return NULL;
}

gboolean
rs_vantages_add(rs_vantages *vantages, const rs_hosts *hosts, const char *where,
                const char *path, GError **error)
{
    gboolean network = g_str_equal(where, "network");
    g_autoptr(GArray) addrs = NULL;
    if (!network) {
        addrs = rs_hosts_parse_list(hosts, OPTION, where, error);
        if (addrs == NULL) {
            return FALSE;
        }
    }
    place *p = find_place(vantages, path);
    if (p == NULL) {
        p = g_new0(place, 1);
        p->path = g_strdup(path);
        p->network = network;
        p->addrs = g_hash_table_new_full(rs_addr_hash, rs_addr_equal, g_free, NULL);
        g_ptr_array_add(vantages->places, p);
    } else if (p->network != network) {
        g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                    OPTION " %s: taken at a host, or in the network?", where);
        return FALSE;
    }
    for (guint i = 0; !network && i < addrs->len; i++) {
        const roce_addr *addr = &g_array_index(addrs, roce_addr, i);
        g_hash_table_add(p->addrs, g_memdup2(addr, sizeof *addr));
    }
    return TRUE;
}

/* What was said of a file, else of all; NULL: nothing. */
static const place *
place_of(const rs_vantages *vantages, const char *path)
{
    const place *p = find_place(vantages, path);
    return p != NULL ? p : find_place(vantages, NULL);
}

gboolean
rs_vantages_is_host(const rs_vantages *vantages, const char *path)
{
    const place *p = place_of(vantages, path);
    return p != NULL && !p->network;
}

roce_vantage
rs_vantages_find(const rs_vantages *vantages, const char *path, const roce_addr *src,
                 const roce_addr *dst)
{
    const place *p = place_of(vantages, path);
    if (p == NULL) {
        return ROCE_VANTAGE_UNKNOWN;
    }
    if (p->network) {
        return ROCE_VANTAGE_MIDDLE;
    }
    gboolean sends = g_hash_table_contains(p->addrs, src);
    gboolean receives = g_hash_table_contains(p->addrs, dst);
    if (sends == receives) {
        return ROCE_VANTAGE_UNKNOWN;
    }
    return sends ? ROCE_VANTAGE_REQUESTER : ROCE_VANTAGE_RESPONDER;
}
