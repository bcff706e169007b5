/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file_frames.h"

#define BLOCK_BYTES ((gsize)64 * 1024)
#define TURN_BYTES 10 /* that a number of 64 bits takes at most, 7 of them in each */

/* Turns are numbers of any length, one behind the other: `length * n_files + file_i`. */
struct rs_file_frames {
    guint n_files;
    GPtrArray *blocks; /* guint8 of BLOCK_BYTES */
    gsize n_bytes, most_bytes;
    guint file_i;     /* whose turn it is */
    guint64 length;   /* so far */
    gboolean is_full; /* later turns are not kept, and this one is none of them */
};

rs_file_frames *
rs_file_frames_new(guint n_files, gsize most_bytes)
{
    rs_file_frames *all = g_new0(rs_file_frames, 1);
    all->n_files = n_files;
    all->most_bytes = most_bytes;
    all->blocks = g_ptr_array_new_with_free_func(g_free);
    return all;
}

void
rs_file_frames_free(rs_file_frames *all)
{
    if (all == NULL) {
        return;
    }
    g_ptr_array_unref(all->blocks);
    g_free(all);
}

static void
add_byte(rs_file_frames *all, guint8 byte)
{
    gsize at = all->n_bytes++ % BLOCK_BYTES;
    if (at == 0) {
        g_ptr_array_add(all->blocks, g_malloc(BLOCK_BYTES));
    }
    guint8 *block = g_ptr_array_index(all->blocks, all->blocks->len - 1);
    block[at] = byte;
}

static void
add_turn(rs_file_frames *all)
{
    guint64 turn = all->length * all->n_files + all->file_i;
    for (; turn >= 0x80; turn >>= 7) {
        add_byte(all, (guint8)(0x80 | (turn & 0x7f)));
    }
    add_byte(all, (guint8)turn);
}

void
rs_file_frames_count(rs_file_frames *all, guint file_i, guint64 n)
{
    if (file_i != all->file_i && all->length > 0 && !all->is_full) {
        add_turn(all);
        all->length = 0;
        all->is_full = all->n_bytes + TURN_BYTES > all->most_bytes;
    }
    all->file_i = file_i;
    all->length += n;
}

/* A way through all turns. */
typedef struct walk {
    const rs_file_frames *all;
    gsize at;        /* byte behind the turn */
    guint64 last;    /* frame of the turn; 0 before the first */
    guint file_i;    /* whose it is */
    guint64 *counts; /* by file: how many it has had, this turn included */
} walk;

static guint64
read_turn(walk *w)
{
    guint64 turn = 0;
    guint8 byte;
    guint shift = 0;
    do {
        const guint8 *block = g_ptr_array_index(w->all->blocks, w->at / BLOCK_BYTES);
        byte = block[w->at++ % BLOCK_BYTES];
        turn |= (guint64)(byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) != 0);
    return turn;
}

static void
take_turn(walk *w, guint file_i, guint64 length)
{
    w->file_i = file_i;
    w->counts[file_i] += length;
    w->last += length;
}

/* FALSE: that was the last that is known. */
static gboolean
go_on(walk *w)
{
    const rs_file_frames *all = w->all;
    if (w->at < all->n_bytes) {
        guint64 turn = read_turn(w);
        take_turn(w, (guint)(turn % all->n_files), turn / all->n_files);
        return TRUE;
    }
    if (w->at > all->n_bytes || all->is_full) {
        return FALSE;
    }
    w->at++; /* the turn that has not ended */
    take_turn(w, all->file_i, all->length);
    return TRUE;
}

void
rs_file_frames_find(const rs_file_frames *all, const guint64 *frames, guint n,
                    rs_file_frame *found)
{
    g_autofree guint64 *counts = g_new0(guint64, all->n_files);
    walk w = {.all = all, .counts = counts};
    gboolean known = TRUE;
    for (guint i = 0; i < n; i++) {
        while (known && w.last < frames[i]) {
            known = go_on(&w);
        }
        found[i] =
            known ? (rs_file_frame){w.file_i, counts[w.file_i] - (w.last - frames[i])}
                  : (rs_file_frame){0};
    }
}
