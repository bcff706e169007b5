/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recall.h"

#include "reader.h"

#include "roce/hash.h"
#include "roce/wire_identity.h"

#include <glib/gstdio.h>
#include <sys/stat.h>

#define SLOTS (1u << 17)
#define MAX_ENTRIES (SLOTS / 2)
#define PSNS_COME_ROUND ((guint64)1 << 23) /* packets; no stream has twice as many */
#define BEGINNING_FRAMES 8192
#define BEGINNING_PACKETS 256
#define ROUND_PACKETS 256 /* so many may be sent again in a row ... */
#define PART_PACKETS 1024 /* ... and so many, while others are sent */
#define ROUND_SHARE 4     /* of few packets: no more than a fourth of them */
#define SENDER_PACKETS 8  /* of one that numbers them, to say anything */
#define LEAST_COST ((guint64)4 * 1024 * 1024) /* bytes: what it takes to look at all */

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
    guint64 sender; /* hash of its address in its tenant */
    guint interface_i;
    guint16 ipv4_ident;
} opening;

struct rs_beginning {
    GArray *packets;   /* opening; each packet once, however often it is sent again */
    GHashTable *taken; /* their identities, with the interfaces */
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

static rs_beginning *
beginning_new(void)
{
    rs_beginning *beginning = g_new0(rs_beginning, 1);
    beginning->packets = g_array_new(FALSE, FALSE, sizeof(opening));
    beginning->taken = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    return beginning;
}

static void
add_opening(rs_beginning *beginning, const rs_record *record, const roce_packet *packet)
{
    opening o = {
        .interface_i = record->interface,
        .sender = roce_hash_addr(roce_hash_tenant(0, &packet->tenant), &packet->src),
        .ipv4_ident = packet->ipv4_ident,
    };
    if (!is_telling(&record->frame, packet, &o.narrow)) {
        return;
    }
    guint64 key = roce_hash_mix(o.narrow, o.interface_i);
    if (g_hash_table_add(beginning->taken, g_memdup2(&key, sizeof key))) {
        g_array_append_val(beginning->packets, o);
    }
}

rs_beginning *
rs_beginning_read(const char *path, const roce_ports *ports)
{
    rs_beginning *beginning = beginning_new();
    g_autoptr(rs_reader) reader = rs_reader_open(path, NULL);
    rs_record record;
    for (guint i = 0; i < BEGINNING_FRAMES && reader != NULL &&
                      rs_reader_next(reader, &record, NULL) > 0;
         i++) {
        roce_packet packet;
        roce_decode(&record.frame, ports, &packet);
        add_opening(beginning, &record, &packet);
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
    g_hash_table_unref(beginning->taken);
    g_free(beginning);
}

/* Of what an interface begins with, or what one sender has of it. */
typedef struct known {
    guint n, known;             /* of the first packets */
    guint n_all, known_all;     /* of all that were read */
    guint n_behind, known_from; /* of those from the first on that is known */
    guint n_numbered;           /* of the first packets */
    guint16 ipv4_ident;         /* of the very first */
} known;

/* An opening, beside what was seen before. */
typedef struct compared {
    gboolean is_numbered; /* not as the first of its sender */
    gboolean is_known;
} compared;

static void
count_known(known *k, const opening *o, compared c)
{
    guint one = c.is_known ? 1 : 0;
    if (k->n == 0) {
        k->ipv4_ident = o->ipv4_ident;
    }
    if (k->n < BEGINNING_PACKETS) {
        k->n++;
        k->known += one;
        k->n_numbered += c.is_numbered ? 1 : 0;
    }
    if (c.is_known || k->n_behind > 0) {
        k->n_behind++;
        k->known_from += one;
    }
    k->n_all++;
    k->known_all += one;
}

static gboolean
is_numbered(const known *k)
{
    return k->n_numbered * 2 >= k->n;
}

/* If the other one began later, most of those behind the first that is known.  These are
 * more than a requester sends again, since where nothing numbers packets that looks the
 * same. */
static gboolean
goes_on_the_same(const known *k)
{
    return (k->known_from > ROUND_PACKETS && k->known_from * 2 > k->n_behind) ||
           (k->known_from > PART_PACKETS && k->known_from * 4 >= k->n_behind);
}

/* Where nothing numbers packets, a round that is cut by the end of a file looks the same as far
 * as it goes: the other one has most of what comes behind as well, if it is as long. */
static gboolean
is_no_round(const rs_recall *recall, const known *k)
{
    return is_numbered(k) || k->known_all > PART_PACKETS ||
           k->known_all * 2 > MIN(k->n_all, recall->n);
}

static gboolean
begins_the_same(const rs_recall *recall, const known *k)
{
    return (k->known * 2 > k->n && is_no_round(recall, k)) || goes_on_the_same(k);
}

/* The other one may have seen no other sender.  One that numbers its packets sends none as
 * it was again. */
static gboolean
sender_begins_the_same(const known *k)
{
    return (is_numbered(k) && k->known >= SENDER_PACKETS && k->known * 2 > k->n) ||
           goes_on_the_same(k);
}

static gboolean
any_sender_begins_the_same(GHashTable *senders)
{
    GHashTableIter iter;
    gpointer of_sender;
    g_hash_table_iter_init(&iter, senders);
    while (g_hash_table_iter_next(&iter, NULL, &of_sender)) {
        if (sender_begins_the_same(of_sender)) {
            return TRUE;
        }
    }
    return FALSE;
}

static known *
known_of_sender(GHashTable *senders, guint64 sender)
{
    known *k = g_hash_table_lookup(senders, &sender);
    if (k == NULL) {
        k = g_new0(known, 1);
        g_hash_table_insert(senders, g_memdup2(&sender, sizeof sender), k);
    }
    return k;
}

/* Whether what was seen is among the last, which may be sent again. */
static gboolean
may_be_sent_again(const rs_recall *recall, const entry *slot)
{
    guint most = MIN(ROUND_PACKETS, recall->n / ROUND_SHARE);
    return recall->newest - slot->number < most;
}

static compared
compare(const rs_recall *recall, guint point, const opening *o, const known *of_sender)
{
    const entry *slot = slot_of(recall, point, o->narrow);
    compared c = {
        .is_numbered = of_sender->n > 0 && o->ipv4_ident != of_sender->ipv4_ident,
        .is_known =
            slot->narrow != 0 && recall->newest - slot->number < PSNS_COME_ROUND,
    };
    if (!c.is_numbered && may_be_sent_again(recall, slot)) {
        c.is_known = FALSE;
    }
    return c;
}

gboolean
rs_recall_knows(const rs_recall *recall, guint point, const rs_beginning *beginning,
                guint interface_i)
{
    known all = {0};
    g_autoptr(GHashTable) senders =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    for (guint i = 0; i < beginning->packets->len; i++) {
        const opening *o = &g_array_index(beginning->packets, opening, i);
        if (o->interface_i != interface_i || !is_remembered(recall, o->narrow)) {
            continue;
        }
        known *of_sender = known_of_sender(senders, o->sender);
        const compared c = compare(recall, point, o, of_sender);
        count_known(&all, o, c);
        count_known(of_sender, o, c);
    }
    return begins_the_same(recall, &all) || any_sender_begins_the_same(senders);
}

/* Whether the file can be read again for what is left. */
static gboolean
may_read_again(const char *path, guint64 *bytes_left)
{
    GStatBuf st;
    if (*bytes_left < LEAST_COST || g_stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        return FALSE;
    }
    guint64 cost = MAX((guint64)st.st_size, LEAST_COST);
    if (cost > *bytes_left) {
        return FALSE;
    }
    *bytes_left -= cost;
    return TRUE;
}

gboolean
rs_recall_section_is_new(const char *path, const roce_ports *ports, guint interface_i,
                         guint section, guint64 *bytes_left)
{
    if (!may_read_again(path, bytes_left)) {
        return FALSE;
    }
    g_autoptr(rs_reader) reader = rs_reader_open(path, NULL);
    rs_recall *before = rs_recall_new();
    rs_beginning *beginning = beginning_new();
    rs_record record;
    guint n = 0; /* frames of the section */
    while (reader != NULL && n < BEGINNING_FRAMES &&
           rs_reader_next(reader, &record, NULL) > 0) {
        roce_packet packet;
        roce_decode(&record.frame, ports, &packet);
        if (rs_reader_interface(reader, record.interface)->section < section) {
            rs_recall_add(before, 0, &record.frame, &packet);
        } else {
            add_opening(beginning, &record, &packet);
            n++;
        }
    }
    gboolean is_new = n > 0 && !rs_recall_knows(before, 0, beginning, interface_i);
    rs_beginning_free(beginning);
    rs_recall_free(before);
    return is_new;
}
