/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_key.h"

#include "background.h"
#include "digest.h"
#include "rocescope_version.h"

#include <pcap/pcap.h>

static void
add_number(rs_digest *digest, const char *name, guint64 value)
{
    g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, value);
    rs_digest_add_value(digest, name, text);
}

/* A file that cannot be read is told of in reports, as what it is. */
static void
add_content(rs_digest *digest, const char *name, const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *content = path != NULL ? rs_digest_file(path, NULL, &error) : NULL;
    rs_digest_add_value(digest, name, error != NULL ? error->message : content);
}

typedef enum pair_kind {
    WITH_PATHS,
    WITH_CONTENTS
} pair_kind;

static void
add_pairs(rs_digest *digest, const char *name, const GPtrArray *pairs, pair_kind kind)
{
    add_number(digest, name, pairs->len);
    for (guint i = 0; i < pairs->len; i++) {
        const rs_option_pair *pair = g_ptr_array_index(pairs, i);
        rs_digest_add_value(digest, "of", pair->subject);
        switch (kind) {
        case WITH_PATHS:
            rs_digest_add_value(digest, "path", pair->path);
            break;
        case WITH_CONTENTS:
            add_content(digest, "content", pair->path);
            break;
        }
    }
}

static void
add_program(rs_digest *digest)
{
    rs_digest_add_value(digest, "version", ROCESCOPE_VERSION);
    add_content(digest, "program", "/proc/self/exe");
    rs_digest_add_value(digest, "ndpi", rs_background_ndpi_version());
    rs_digest_add_value(digest, "pcap", pcap_lib_version());
}

char *
rs_batch_key_common(const rs_options *o)
{
    g_autoptr(rs_digest) digest = rs_digest_new();
    add_program(digest);
    rs_digest_add_value(digest, "filter", o->filter);
    add_number(digest, "ports", o->ports.n_ports);
    for (guint i = 0; i < o->ports.n_ports; i++) {
        add_number(digest, "port", o->ports.port[i]);
    }
    add_number(digest, "icrc", o->icrc);
    add_number(digest, "link-speed", o->link_speed_bps);
    add_number(digest, "burst", o->burst_bps);
    add_content(digest, "hosts", o->hosts_path);
    add_pairs(digest, "qp-map", o->qp_maps, WITH_CONTENTS);
    add_pairs(digest, "captured-at", o->captured_at, WITH_PATHS);
    add_pairs(digest, "counters-before", o->counters_before, WITH_CONTENTS);
    add_pairs(digest, "counters-after", o->counters_after, WITH_CONTENTS);
    add_number(digest, "dscp-map", (guint64)o->dscp_map_given);
    rs_digest_add(digest, o->dscp_map, sizeof o->dscp_map);
    add_number(digest, "watchdog", o->watchdog);
    add_number(digest, "watchdog-ms", o->watchdog_ms);
    add_number(digest, "events", o->max_events);
    add_number(digest, "max-streams", o->max_streams);
    return rs_digest_text(digest);
}

char *
rs_batch_key(const char *common, const char *const *paths, const char *const *digests,
             guint n_files)
{
    g_autoptr(rs_digest) digest = rs_digest_new();
    rs_digest_add_value(digest, "common", common);
    for (guint i = 0; i < n_files; i++) {
        rs_digest_add_value(digest, "path", paths[i]);
        rs_digest_add_value(digest, "content", digests[i]);
    }
    return rs_digest_text(digest);
}

char *
rs_batch_key_found(const GPtrArray *files, const char *label)
{
    g_autoptr(rs_digest) digest = rs_digest_new();
    if (label != NULL) {
        rs_digest_add_value(digest, "label", label);
    }
    for (guint i = 0; i < files->len; i++) {
        const rs_batch_file *file = g_ptr_array_index(files, i);
        rs_digest_add_value(digest, "path", file->path);
        add_number(digest, "bytes", file->bytes);
    }
    return rs_digest_text(digest);
}
