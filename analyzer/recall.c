/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recall.h"

#include "reader.h"

#include "roce/hash.h"
#include "roce/wire_identity.h"

#define SLOTS (1u << 17)
#define MAX_ENTRIES (SLOTS / 2)
#define PSNS_COME_ROUND ((guint64)1 << 23) /* packets; no stream has twice as many */
#define BEGINNING_FRAMES 8192
#define BEGINNING_PACKETS 256
#define ENOUGH_KNOWN                                                                   \
    16 /* of which a quarter is enough, where more than half need not be */

typedef struct entry {
    guint64 narrow; /* identity; 0: none */
    guint64 number; /* of its frame */
    guint point;
} entry;

struct rs_recall {
    entry *slots;
    guint n;
    guint64 mask; /* of the mixed identity: remembered if those bits are 0 */
    guint64 newest;
};

typedef struct opening {
    guint64 narrow;
    guint interface_i;
} opening;

struct rs_beginning {
    GArray *packets; /* opening */
};

rs_recall *
rs_recall_new(void)
{
    rs_recall *recall = g_new0(rs_recall, 1);
    recall->slots = g_new0(entry, SLOTS);
    return recall;
}

void
rs_recall_free(rs_recall *recall)
{
    if (recall == NULL) {
        return;
    }
    g_free(recall->slots);
    g_free(recall);
}

/* FALSE for what may well come again as it is: strangers, CNPs. */
static gboolean
is_telling(const roce_frame *frame, const roce_packet *packet, guint64 *narrow)
{
    roce_wire_identity identity;
    if (!packet->has_bth || packet->transport == ROCE_TRANSPORT_CNP ||
        !roce_wire_identity_of(frame, packet, &identity)) {
        return FALSE;
    }
    *narrow = identity.narrow;
    return TRUE;
}

static gboolean
is_remembered(const rs_recall *recall, guint64 narrow)
{
    return (roce_hash_mix(0, narrow) >> 32 & recall->mask) == 0;
}

/* Where the packet is, or could be put: the table is never full. */
static entry *
slot_of(const rs_recall *recall, guint point, guint64 narrow)
{
    guint64 at = roce_hash_mix(narrow, point) >> 16;
    for (;; at++) {
        entry *slot = &recall->slots[at & (SLOTS - 1)];
        if (slot->narrow == 0 || (slot->narrow == narrow && slot->point == point)) {
            return slot;
        }
    }
}

/* Remembers every other of the packets from now on, and forgets the rest. */
static void
thin_out(rs_recall *recall)
{
    g_autofree entry *before = recall->slots;
    recall->slots = g_new0(entry, SLOTS);
    recall->mask = recall->mask << 1 | 1;
    recall->n = 0;
    for (guint i = 0; i < SLOTS; i++) {
        const entry *old = &before[i];
        if (old->narrow != 0 && is_remembered(recall, old->narrow)) {
            *slot_of(recall, old->point, old->narrow) = *old;
            recall->n++;
        }
    }
}

static void
note(rs_recall *recall, guint point, guint64 frame, guint64 narrow)
{
    if (!is_remembered(recall, narrow)) {
        return;
    }
    entry *slot = slot_of(recall, point, narrow);
    recall->n += slot->narrow == 0 ? 1 : 0;
    *slot = (entry){.narrow = narrow, .number = frame, .point = point};
    while (recall->n > MAX_ENTRIES) {
        thin_out(recall);
    }
}

void
rs_recall_add(rs_recall *recall, guint point, const roce_frame *frame,
              const roce_packet *packet)
{
    guint64 narrow;
    recall->newest = frame->number;
    if (is_telling(frame, packet, &narrow)) {
        note(recall, point, frame->number, narrow);
    }
}

void
rs_recall_note(rs_recall *recall, guint point, guint64 frame,
               const roce_wire_identity *identity)
{
    recall->newest = frame;
    note(recall, point, frame, identity->narrow);
}

rs_beginning *
rs_beginning_read(const char *path, const roce_ports *ports)
{
    rs_beginning *beginning = g_new0(rs_beginning, 1);
    beginning->packets = g_array_new(FALSE, FALSE, sizeof(opening));
    g_autoptr(rs_reader) reader = rs_reader_open(path, NULL);
    rs_record record;
    for (guint i = 0; i < BEGINNING_FRAMES && reader != NULL &&
                      rs_reader_next(reader, &record, NULL) > 0;
         i++) {
        roce_packet packet;
        opening o = {.interface_i = record.interface};
        roce_decode(&record.frame, ports, &packet);
        if (is_telling(&record.frame, &packet, &o.narrow)) {
            g_array_append_val(beginning->packets, o);
        }
    }
    return beginning;
}

void
rs_beginning_free(rs_beginning *beginning)
{
    if (beginning == NULL) {
        return;
    }
    g_array_unref(beginning->packets);
    g_free(beginning);
}

gboolean
rs_recall_knows(const rs_recall *recall, guint point, const rs_beginning *beginning,
                guint interface_i)
{
    guint n = 0; /* from the first that is known: before it, the other had not begun */
    guint known = 0;
    for (guint i = 0; i < beginning->packets->len && n < BEGINNING_PACKETS; i++) {
        const opening *o = &g_array_index(beginning->packets, opening, i);
        if (o->interface_i != interface_i || !is_remembered(recall, o->narrow)) {
            continue;
        }
        const entry *slot = slot_of(recall, point, o->narrow);
        gboolean is_known =
            slot->narrow != 0 && recall->newest - slot->number < PSNS_COME_ROUND;
        known += is_known ? 1 : 0;
        n += known > 0 ? 1 : 0;
    }
    return known * 2 > n || (known >= ENOUGH_KNOWN && known * 4 >= n);
}
