/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mirrors.h"

#include "roce/hash.h"
#include "roce/train.h"

#include <string.h>

#define SETS 64      /* by who sends the copies, and where they come in */
#define WAYS 4       /* sessions of each */
#define SOURCE_AT 26 /* the IPv4 source in an untagged frame, as wrappers have it */
#define LEAST_BYTES (SOURCE_AT + 4)

typedef struct mirror {
    guint file_i, interface;
    guint32 point;
    roce_wrapper wrapper;
} mirror;

typedef struct set {
    mirror ways[WAYS];
    guint n, oldest;
} set;

struct rs_mirrors {
    gboolean any;
    set *sets[SETS]; /* NULL: none yet */
};

rs_mirrors *
rs_mirrors_new(void)
{
    return g_new0(rs_mirrors, 1);
}

void
rs_mirrors_free(rs_mirrors *mirrors)
{
    for (guint i = 0; mirrors != NULL && i < SETS; i++) {
        g_free(mirrors->sets[i]);
    }
    g_free(mirrors);
}

static guint
set_of(guint file_i, guint interface, const roce_frame *frame)
{
    guint32 source;
    memcpy(&source, frame->bytes + SOURCE_AT, sizeof source);
    guint64 where = (guint64)file_i << 32 | interface;
    return (guint)(roce_hash_mix(where, source) >> 32) % SETS;
}

static const mirror *
find(const rs_mirrors *mirrors, guint file_i, guint interface, const roce_frame *frame,
     roce_frame *inner)
{
    const set *s = frame->captured_bytes >= LEAST_BYTES
                       ? mirrors->sets[set_of(file_i, interface, frame)]
                       : NULL;
    for (guint i = 0; s != NULL && i < s->n; i++) {
        const mirror *m = &s->ways[i];
        if (m->file_i == file_i && m->interface == interface &&
            roce_wrapper_open(&m->wrapper, frame, inner)) {
            return m;
        }
    }
    return NULL;
}

static mirror *
make_room(rs_mirrors *mirrors, guint i)
{
    if (mirrors->sets[i] == NULL) {
        mirrors->sets[i] = g_new0(set, 1);
    }
    set *s = mirrors->sets[i];
    return &s->ways[s->n < WAYS ? s->n++ : s->oldest++ % WAYS];
}

void
rs_mirrors_note(rs_mirrors *mirrors, guint file_i, guint interface,
                const roce_frame *frame, const roce_packet *packet)
{
    roce_frame inner;
    roce_wrapper wrapper;
    if (packet->mirror.kind == ROCE_MIRROR_NONE ||
        find(mirrors, file_i, interface, frame, &inner) != NULL ||
        !roce_wrapper_take(frame, packet, &wrapper)) {
        return;
    }
    *make_room(mirrors, set_of(file_i, interface, frame)) = (mirror){
        .file_i = file_i,
        .interface = interface,
        .point = frame->point,
        .wrapper = wrapper,
    };
    mirrors->any = TRUE;
}

gboolean
rs_mirrors_any(const rs_mirrors *mirrors)
{
    return mirrors->any;
}

gboolean
rs_mirrors_open(const rs_mirrors *mirrors, guint file_i, guint interface,
                const roce_frame *frame, roce_frame *inner)
{
    const mirror *m = find(mirrors, file_i, interface, frame, inner);
    if (m == NULL) {
        return FALSE;
    }
    inner->point = m->point;
    return TRUE;
}
