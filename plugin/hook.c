/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes the places that Wireshark's own dissectors hold, and gives them back.
 *
 * The one rule: whoever disables one of our protocols has stock Wireshark again, and
 * whoever disables the built-in gets what he got without us.
 *
 * 1. A wrapper under the built-in protocol's id is put where the built-in's handle
 *    stands.  It calls our dissector and, where that declines, the built-in.
 * 2. The places are looked for anew whenever dissection starts (the init routine), in
 *    the whole table: a changed preference of the built-in moves its handle to another
 *    port, and back, without asking us.
 * 3. `dissector_change_uint` makes the entry a changed one.  UDP asks the changed one
 *    of two ports first, whatever the other is registered to: so destination port 4791
 *    wins against a source port that is, say, TFTP's 69.
 * 4. Only the destination port makes a packet RoCEv2 (IBTA A17.3.2).  What comes by its
 *    source port, and what our dissector declines, is the built-in's, but not before a
 *    dissector of the other port has been asked where that is lower, as UDP does by itself:
 *    DNS from or to port 4791 stays DNS.
 * 5. The built-in is called through a table of our own, which allows to call a
 *    dissector without naming it in the packet's layers once more.
 *
 * Limitations: where the user has changed the source port's dissector too (Decode As),
 * UDP asks the lower port first, and that may be the source port; a dissector that
 * another one attached to the conversation always comes first.  Decode As shows the
 * places taken as changed entries.
 */
#include "plugin.h"

#include "roce/decode.h"

#include <epan/proto_data.h>

#define BUILTIN_TABLE "rocescope.builtin"

typedef struct takeover {
    const char *table; /* where the built-in stands, */
    uint32_t key;      /* and at what key unless preferences moved it */
    const char *builtin_name;
    dissector_t wrapper_fn;
    int builtin_proto;
    dissector_handle_t builtin; /* NULL: this Wireshark has none there */
    dissector_handle_t wrapper;
    dissector_handle_t ours;
} takeover;

static int
wrap_udp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data);
static int
wrap_grh(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data);
static int
wrap_mac_control(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data);

/* Set once, at handoff. */
static takeover takeovers[HOOK_N_PLACES] = {
    [HOOK_UDP] = {.table = "udp.port",
                  .key = ROCE_UDP_PORT,
                  .builtin_name = "infiniband",
                  .wrapper_fn = wrap_udp},
    [HOOK_GRH] = {.table = "ethertype",
                  .key = ROCE_ETHERTYPE_V1,
                  .builtin_name = "infiniband",
                  .wrapper_fn = wrap_grh},
    [HOOK_MAC_CONTROL] = {.table = "ethertype",
                          .key = ROCE_ETHERTYPE_MAC_CONTROL,
                          .builtin_name = "macc",
                          .wrapper_fn = wrap_mac_control},
};
static dissector_table_t builtins;
static dissector_table_t udp_ports;
static dissector_handle_t udp_handle;

static bool
is_enabled(dissector_handle_t handle)
{
    int proto = dissector_handle_get_protocol_index(handle);
    return proto_is_protocol_enabled(find_protocol_by_id(proto));
}

int
hook_call_builtin(hook_place place, hook_naming naming, tvbuff_t *tvb,
                  packet_info *pinfo, proto_tree *tree, void *data)
{
    const takeover *t = &takeovers[place];
    if (t->builtin == NULL) {
        return 0;
    }
    switch (naming) {
    case HOOK_NAMED_ALREADY:
        return compat_try_uint_unnamed(builtins, t->key, tvb, pinfo, tree, data);
    case HOOK_NAME_IT:
        break;
    }
    return call_dissector_only(t->builtin, tvb, pinfo, tree, data);
}

int
hook_builtin_proto(hook_place place)
{
    return takeovers[place].builtin_proto;
}

/* Whether UDP is to ask another port's dissector before the built-in, as it does without us:
 * that of the lower port.  Once for each packet: where that one declines, UDP asks here
 * again. */
static bool
yields(tvbuff_t *tvb, packet_info *pinfo, uint32_t port, uint32_t other)
{
    static char yielded;
    int proto = dissector_handle_get_protocol_index(takeovers[HOOK_UDP].ours);
    uint32_t key = (uint32_t)tvb_raw_offset(tvb);
    if (other >= port || dissector_get_uint_handle(udp_ports, other) == NULL ||
        p_get_proto_data(pinfo->pool, pinfo, proto, key) != NULL) {
        return false;
    }
    p_add_proto_data(pinfo->pool, pinfo, proto, key, &yielded);
    return true;
}

static int
wrap(hook_place place, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    int used = call_dissector_only(takeovers[place].ours, tvb, pinfo, tree, data);
    if (used != 0) {
        return used;
    }
    return hook_call_builtin(place, HOOK_NAMED_ALREADY, tvb, pinfo, tree, data);
}

static bool
is_roce_port(uint32_t port)
{
    dissector_handle_t handle = dissector_get_uint_handle(udp_ports, port);
    return handle != NULL &&
           (handle == takeovers[HOOK_UDP].wrapper || handle == udp_handle);
}

static int
wrap_udp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    bool to_us = is_roce_port(pinfo->destport);
    int used =
        to_us ? call_dissector_only(takeovers[HOOK_UDP].ours, tvb, pinfo, tree, data)
              : 0;
    uint32_t port = to_us ? pinfo->destport : pinfo->srcport;
    uint32_t other = to_us ? pinfo->srcport : pinfo->destport;
    if (used != 0 || yields(tvb, pinfo, port, other)) {
        return used;
    }
    return hook_call_builtin(HOOK_UDP, HOOK_NAMED_ALREADY, tvb, pinfo, tree, data);
}

static int
wrap_grh(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return wrap(HOOK_GRH, tvb, pinfo, tree, data);
}

static int
wrap_mac_control(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return wrap(HOOK_MAC_CONTROL, tvb, pinfo, tree, data);
}

typedef struct holdings {
    dissector_handle_t holder;
    GArray *keys; /* uint32_t: where it stands */
} holdings;

static void
collect(const char *table, ftenum_t type, void *key, void *value, void *user_data)
{
    (void)table;
    (void)type;
    holdings *h = (holdings *)user_data;
    if (dtbl_entry_get_handle((dtbl_entry_t *)value) == h->holder) {
        uint32_t number = GPOINTER_TO_UINT(key);
        g_array_append_val(h->keys, number);
    }
}

/* Puts one handle wherever another stands; after the walk, since the walk does not bear
 * a table that changes. */
static void
replace(const char *table, dissector_handle_t from, dissector_handle_t to)
{
    holdings h = {from, g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    dissector_table_foreach(table, collect, &h);
    for (guint i = 0; i < h.keys->len; i++) {
        dissector_change_uint(table, g_array_index(h.keys, uint32_t, i), to);
    }
    g_array_free(h.keys, TRUE);
}

/* Before each run over a capture: preferences, Decode As and enabled protocols may have
 * changed since the last. */
static void
retake_places(void)
{
    for (unsigned place = 0; place < HOOK_N_PLACES; place++) {
        const takeover *t = &takeovers[place];
        if (t->builtin == NULL || t->ours == NULL) {
            continue;
        }
        if (is_enabled(t->ours)) {
            replace(t->table, t->builtin, t->wrapper);
        } else {
            replace(t->table, t->wrapper, t->builtin);
        }
    }
}

void
hook_register(int proto)
{
    builtins = register_dissector_table(BUILTIN_TABLE, "rocescope: dissectors wrapped",
                                        proto, FT_UINT32, BASE_DEC);
}

void
hook_take_places(const dissector_handle_t ours[HOOK_N_PLACES])
{
    udp_ports = find_dissector_table("udp.port");
    for (unsigned place = 0; place < HOOK_N_PLACES; place++) {
        takeover *t = &takeovers[place];
        t->ours = ours[place];
        t->builtin_proto = proto_get_id_by_filter_name(t->builtin_name);
        t->builtin = dissector_get_default_uint_handle(t->table, t->key);
        if (t->builtin_proto == -1 || t->builtin == NULL) {
            t->builtin = NULL;
            continue;
        }
        dissector_add_uint(BUILTIN_TABLE, t->key, t->builtin);
        t->wrapper = create_dissector_handle(t->wrapper_fn, t->builtin_proto);
    }
    register_init_routine(retake_places);
}

void
hook_add_udp_handle(dissector_handle_t handle)
{
    udp_handle = handle;
}
