/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host begins with a hop limit of 64, 128 or 255 (or 1 for what is to stay on its
 * link), and each router on the way lowers it; bridges leave it alone.  So RoCE with such
 * a hop limit comes from the NIC whose MAC address it has, and what has another one was
 * forwarded by a router, whose port's MAC address it has.  A router may send packets of
 * its own, but no RoCE other than CNPs; those show nothing.
 *
 * A port of a bridge does not show in the packets that it forwards at all: a MAC address
 * that pauses and that no packet is to or from, where there is RoCE, is the network's.
 * (A NIC that pauses by one MAC address and sends all its packets by others, those of
 * virtual functions, is taken for the network's.)
 */
#include "macs.h"

#include "keys.h"

#include "roce/hash.h"

#include <string.h>

#define GROUP_BIT 1 /* of the first byte: no address of one port (IEEE 802, 8.2) */

/* What is common to all IP packets of a point. */
typedef struct wire {
    const rs_mac *common[2]; /* n of them hold so far */
    guint n;
    gboolean any;
    gboolean has_roce;
    guint8 greatest_hop_limit;
} wire;

struct rs_macs {
    GHashTable *by_key; /* guint64 in the value -> entry */
    GPtrArray *all;     /* entry */
    GArray *wires;      /* wire, by point */
};

typedef struct entry {
    guint64 key; /* point, then address; of points beyond 65,535 nothing is known */
    rs_mac mac;
} entry;

rs_macs *
rs_macs_new(void)
{
    rs_macs *macs = g_new0(rs_macs, 1);
    macs->by_key = g_hash_table_new(rs_key_hash, g_int64_equal);
    macs->all = g_ptr_array_new_with_free_func(g_free);
    macs->wires = g_array_new(FALSE, TRUE, sizeof(wire));
    return macs;
}

void
rs_macs_free(rs_macs *macs)
{
    if (macs != NULL) {
        g_hash_table_unref(macs->by_key);
        g_ptr_array_unref(macs->all);
        g_array_unref(macs->wires);
        g_free(macs);
    }
}

static guint64
key_of(guint32 point, const guint8 mac[6])
{
    guint64 key = point;
    for (guint i = 0; i < 6; i++) {
        key = key << 8 | mac[i];
    }
    return key;
}

rs_mac *
rs_macs_get(rs_macs *macs, guint32 point, const guint8 mac[6])
{
    guint64 key = key_of(point, mac);
    entry *known = g_hash_table_lookup(macs->by_key, &key);
    if (known != NULL) {
        return &known->mac;
    }
    if (macs->all->len == RS_MACS || point > G_MAXUINT16) {
        return NULL;
    }
    entry *e = g_new0(entry, 1);
    e->key = key;
    e->mac.id = macs->all->len;
    e->mac.point = point;
    memcpy(e->mac.bytes, mac, 6);
    for (guint i = 0; i < G_N_ELEMENTS(e->mac.pauses); i++) {
        e->mac.pauses[i] = ROCE_NO_PAUSE;
    }
    g_ptr_array_add(macs->all, e);
    g_hash_table_add(macs->by_key, &e->key);
    return &e->mac;
}

guint
rs_macs_n(const rs_macs *macs)
{
    return macs->all->len;
}

rs_mac *
rs_macs_at(const rs_macs *macs, guint32 id)
{
    entry *e = g_ptr_array_index(macs->all, id);
    return &e->mac;
}

/* ---- learning ---- */

/* Whether a host begins with this hop limit, as far as one can see: a usual one. */
static gboolean
is_first_hop_limit(guint8 hop_limit)
{
    return hop_limit == 1 || hop_limit == 64 || hop_limit == 128 || hop_limit == 255;
}

static void
add_addr(rs_one_addr *one, const roce_addr *addr)
{
    if (one->addr.family == 0) {
        one->addr = *addr;
    } else if (!one->several && !roce_addr_equal(&one->addr, addr)) {
        one->several = TRUE;
    }
}

static void
add_partner(rs_mac *mac, rs_mac *partner)
{
    if (mac->partner == NULL) {
        mac->partner = partner;
    } else if (mac->partner != partner) {
        mac->several_partners = TRUE;
    }
}

static gboolean
is_own(const roce_packet *packet)
{
    return packet->kind == ROCE_CLASS_ROCE && packet->has_bth &&
           packet->transport != ROCE_TRANSPORT_CNP &&
           is_first_hop_limit(packet->hop_limit);
}

static wire *
wire_at(rs_macs *macs, guint32 point)
{
    if (point >= macs->wires->len) {
        g_array_set_size(macs->wires, point + 1);
    }
    return &g_array_index(macs->wires, wire, point);
}

/* Leaves of what all packets before have in common what this one has too. */
static void
intersect(wire *w, const rs_mac *src, const rs_mac *dst)
{
    if (!w->any) {
        w->common[0] = src;
        w->common[1] = dst;
        w->n = 2;
        w->any = TRUE;
        return;
    }
    guint n = 0;
    for (guint i = 0; i < w->n; i++) {
        if (w->common[i] == src || w->common[i] == dst) {
            w->common[n++] = w->common[i];
        }
    }
    w->n = n;
}

void
rs_macs_learn_own(rs_mac *src, const roce_packet *packet)
{
    src->sends_own = src->sends_own || is_own(packet);
}

void
rs_macs_learn(rs_macs *macs, rs_mac *src, rs_mac *dst, const roce_packet *packet)
{
    if (src == NULL) {
        return;
    }
    src->in_ip = TRUE;
    add_addr(&src->sources, &packet->src);
    rs_macs_learn_own(src, packet);
    src->sends_other |= !is_first_hop_limit(packet->hop_limit);
    wire *w = wire_at(macs, src->point);
    w->has_roce |= packet->kind == ROCE_CLASS_ROCE;
    w->greatest_hop_limit = MAX(w->greatest_hop_limit, packet->hop_limit);
    src->greatest_hop_limit = MAX(src->greatest_hop_limit, packet->hop_limit);
    if (dst == NULL || (dst->bytes[0] & GROUP_BIT) != 0) {
        return;
    }
    dst->in_ip = TRUE;
    add_addr(&dst->receivers, &packet->dst);
    add_partner(src, dst);
    add_partner(dst, src);
    intersect(w, src, dst);
}

gboolean
rs_macs_is_common(const rs_macs *macs, const rs_mac *mac)
{
    gboolean found = FALSE;
    if (mac->point < macs->wires->len) {
        const wire *w = &g_array_index(macs->wires, wire, mac->point);
        for (guint i = 0; i < w->n; i++) {
            found |= w->common[i] == mac;
        }
    }
    return found;
}

/* ---- judging ---- */

static gboolean
has_roce(const rs_macs *macs, guint32 point)
{
    return point < macs->wires->len && g_array_index(macs->wires, wire, point).has_roce;
}

/* Whether routers have forwarded what it sends: for several hosts, or with a hop limit
 * that is lower than another one here.  Else it may be a host that begins with an odd
 * one. */
static gboolean
forwards(const rs_macs *macs, const rs_mac *mac)
{
    const wire *w = &g_array_index(macs->wires, wire, mac->point);
    return mac->sends_other &&
           (mac->sources.several || mac->greatest_hop_limit < w->greatest_hop_limit);
}

static rs_sender_evidence
evidence_on(const rs_macs *macs, const rs_mac *mac)
{
    if (!mac->in_ip) {
        return has_roce(macs, mac->point) ? RS_SENDER_BY_ABSENCE : RS_SENDER_BY_NOTHING;
    }
    if (forwards(macs, mac)) {
        return mac->several_partners ? RS_SENDER_BY_PARTNERS : RS_SENDER_BY_FORWARDING;
    }
    if (mac->passes_on) {
        return RS_SENDER_BY_WAY;
    }
    return mac->sends_own && !mac->sends_other ? RS_SENDER_BY_OWN_PACKETS
                                               : RS_SENDER_BY_NOTHING;
}

rs_sender
rs_macs_sender(const rs_macs *macs, const rs_mac *mac, rs_sender_evidence *evidence)
{
    static const rs_sender senders[] = {
        [RS_SENDER_BY_NOTHING] = RS_SENDER_UNKNOWN,
        [RS_SENDER_BY_OWN_PACKETS] = RS_SENDER_HOST,
        [RS_SENDER_BY_FORWARDING] = RS_SENDER_NETWORK,
        [RS_SENDER_BY_WAY] = RS_SENDER_NETWORK,
        [RS_SENDER_BY_ABSENCE] = RS_SENDER_NETWORK,
        [RS_SENDER_BY_PARTNERS] = RS_SENDER_AMBIGUOUS,
    };
    *evidence = evidence_on(macs, mac);
    return senders[*evidence];
}

const rs_mac *
rs_macs_stopped_end(const rs_macs *macs, guint32 point)
{
    if (point >= macs->wires->len) {
        return NULL;
    }
    const wire *w = &g_array_index(macs->wires, wire, point);
    if (w->n != 2) {
        return w->n == 1 ? w->common[0] : NULL;
    }
    rs_sender_evidence evidence;
    for (guint i = 0; i < 2; i++) {
        if (rs_macs_sender(macs, w->common[i], &evidence) == RS_SENDER_HOST &&
            rs_macs_sender(macs, w->common[1 - i], &evidence) == RS_SENDER_NETWORK) {
            return w->common[i];
        }
    }
    return NULL;
}

const char *
rs_sender_name(rs_sender sender)
{
    static const char *const names[] = {
        [RS_SENDER_UNKNOWN] = NULL,
        [RS_SENDER_HOST] = "from_host",
        [RS_SENDER_NETWORK] = "from_network",
        [RS_SENDER_AMBIGUOUS] = "ambiguous",
    };
    return names[sender];
}

const char *
rs_sender_evidence_name(rs_sender_evidence evidence)
{
    static const char *const names[] = {
        [RS_SENDER_BY_NOTHING] = NULL,
        [RS_SENDER_BY_OWN_PACKETS] = "own_packets",
        [RS_SENDER_BY_FORWARDING] = "forwarding",
        [RS_SENDER_BY_WAY] = "way",
        [RS_SENDER_BY_ABSENCE] = "absence",
        [RS_SENDER_BY_PARTNERS] = "partners",
    };
    return names[evidence];
}
