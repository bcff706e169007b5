/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare_sample.h"

#include "analysis.h"
#include "path_time.h"
#include "reader.h"

#include "roce/decode.h"
#include "roce/hash.h"
#include "roce/wire_identity.h"

#define MOST_KEPT 65536

struct rs_compare_sample {
    GHashTable *stamps; /* guint64 identity -> gint64 stamp */
    guint64 below;      /* identities whose hash is less are kept */
};

static gboolean
is_kept(const rs_compare_sample *sample, guint64 narrow)
{
    return roce_hash_mix(0, narrow) <= sample->below;
}

static gboolean
is_superfluous(gpointer key, gpointer value, gpointer data)
{
    (void)value;
    return !is_kept(data, *(const guint64 *)key);
}

/* The first copy stands for all. */
static void
keep(rs_compare_sample *sample, guint64 narrow, guint64 stamp_ns)
{
    if (!is_kept(sample, narrow) || g_hash_table_contains(sample->stamps, &narrow)) {
        return;
    }
    gint64 stamp = rs_time_of_stamp(stamp_ns);
    g_hash_table_insert(sample->stamps, g_memdup2(&narrow, sizeof narrow),
                        g_memdup2(&stamp, sizeof stamp));
    while (g_hash_table_size(sample->stamps) > MOST_KEPT) {
        sample->below /= 2;
        g_hash_table_foreach_remove(sample->stamps, is_superfluous, sample);
    }
}

rs_compare_sample *
rs_compare_sample_of(const char *path, const rs_options *options)
{
    rs_compare_sample *sample = g_new0(rs_compare_sample, 1);
    sample->stamps = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    sample->below = G_MAXUINT64;
    g_autoptr(rs_reader) reader = rs_reader_open(path, NULL);
    rs_record record;
    while (reader != NULL && !rs_analysis_is_interrupted() &&
           rs_reader_next(reader, &record, NULL) > 0) {
        roce_packet packet;
        roce_wire_identity identity;
        roce_decode(&record.frame, &options->ports, &packet);
        if (packet.kind == ROCE_CLASS_ROCE && packet.has_bth &&
            packet.bth.opcode != ROCE_OPCODE_CNP && /* many may be equal */
            roce_wire_identity_of(&record.frame, &packet, &identity)) {
            keep(sample, identity.narrow, record.frame.time_ns);
        }
    }
    return sample;
}

void
rs_compare_sample_free(rs_compare_sample *sample)
{
    if (sample != NULL) {
        g_hash_table_unref(sample->stamps);
        g_free(sample);
    }
}

GArray *
rs_compare_sample_differences(const rs_compare_sample *low,
                              const rs_compare_sample *high)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(gint64));
    GHashTableIter iter;
    gpointer key;
    gpointer value;
    g_hash_table_iter_init(&iter, low->stamps);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const gint64 *other = g_hash_table_lookup(high->stamps, key);
        if (other != NULL) {
            gint64 difference = rs_time_apart(*other, *(const gint64 *)value);
            g_array_append_val(out, difference);
        }
    }
    return out;
}
