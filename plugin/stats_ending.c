/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a capture that is read once.
 *
 * Wireshark's window and tshark -2 dissect a capture, say that it is at its end, and
 * only then ask for statistics.  A single pass of tshark asks while it dissects, and says
 * nothing at the end but that statistics are to be shown.
 *
 * The one rule: only a program that reads a capture once and then shows everything may
 * take "show" for the end.  The window shows all the time while a capture grows.
 *
 * A session of tshark -M ends like a capture: the next one knows nothing of its packets.
 *
 * Listeners are shown newest first, so one that is registered with the first packet
 * comes before all that were asked for on the command line.
 */
#include "stats.h"

#include "points.h"

#include <string.h>

/* Packets that one statistic takes in a single pass. */
typedef struct kept_packets {
    ending_take_fn take;
    void *data;
    GArray *packets; /* taken_packet */
} kept_packets;

static GArray *kept;        /* kept_packets; NULL: none */
static uint32_t n_sessions; /* that have ended with packets kept */

static bool
reads_once(void)
{
    return g_strcmp0(g_get_prgname(), "tshark") == 0;
}

static void
settle(void)
{
    GArray *ended = kept;
    if (ended == NULL) {
        return;
    }
    kept = NULL;
    analysis_finish();
    for (guint i = 0; i < ended->len; i++) {
        const kept_packets *k = &g_array_index(ended, kept_packets, i);
        for (guint j = 0; j < k->packets->len; j++) {
            k->take(k->data, &g_array_index(k->packets, taken_packet, j));
        }
        g_array_free(k->packets, TRUE);
    }
    g_array_free(ended, TRUE);
    n_sessions++;
}

static void
end(void *data)
{
    (void)data;
    settle();
}

void
ending_register(void)
{
    analysis_before_forgetting(settle);
}

static void
start_keeping(void)
{
    static bool is_listening;
    kept = g_array_new(FALSE, FALSE, sizeof(kept_packets));
    if (is_listening) {
        return;
    }
    is_listening = true;
    GString *error = register_tap_listener("frame", &kept, NULL, TL_REQUIRES_NOTHING,
                                           NULL, NULL, end, NULL);
    if (error != NULL) { /* statistics stay empty */
        g_string_free(error, TRUE);
    }
}

static GArray *
packets_of(ending_take_fn take, void *data)
{
    if (kept == NULL) {
        start_keeping();
    }
    for (guint i = 0; i < kept->len; i++) {
        const kept_packets *k = &g_array_index(kept, kept_packets, i);
        if (k->take == take && k->data == data) {
            return k->packets;
        }
    }
    const kept_packets fresh = {
        .take = take,
        .data = data,
        .packets = g_array_new(FALSE, FALSE, sizeof(taken_packet)),
    };
    g_array_append_val(kept, fresh);
    return fresh.packets;
}

void
ending_take(ending_take_fn take, void *data, const packet_info *pinfo,
            const tapped_packet *tapped)
{
    bool is_kept = tapped->is_new && reads_once();
    taken_packet packet = {
        .frame = pinfo->num,
        .session = n_sessions,
        .bytes = pinfo->fd->pkt_len,
        .point = points_of(pinfo, &tapped->packet->whole),
        .is_final = is_kept || !tapped->is_new,
    };
    memcpy(packet.src_mac, tapped->packet->whole.src_mac, sizeof packet.src_mac);
    if (is_kept) {
        g_array_append_val(packets_of(take, data), packet);
    } else {
        take(data, &packet);
    }
}
