/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of findings by the files that they stand in. */
#include "findings_files.h"

#include "format.h"
#include "sorting.h"

static void
free_part(gpointer data)
{
    rs_finding_file *part = data;
    g_array_unref(part->frames);
    g_free(part->name);
    g_free(part->filter);
    g_free(part);
}

GPtrArray *
rs_finding_files_new(void)
{
    return g_ptr_array_new_with_free_func(free_part);
}

/* What a finding has of a file, made if need be; files come in the order given. */
static rs_finding_file *
part_of(const rs_analysis *analysis, GPtrArray *files, guint file_i)
{
    guint at = 0;
    for (; at < files->len; at++) {
        rs_finding_file *part = g_ptr_array_index(files, at);
        if (part->file_i >= file_i) {
            if (part->file_i == file_i) {
                return part;
            }
            break;
        }
    }
    rs_finding_file *part = g_new0(rs_finding_file, 1);
    part->file_i = file_i;
    part->file = g_ptr_array_index(analysis->files, file_i);
    part->name = rs_file_name(analysis, file_i);
    part->frames = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_ptr_array_insert(files, (gint)at, part);
    return part;
}

/* Of all findings, in order; one that several name stands there as often. */
static GArray *
all_frames(const GPtrArray *list)
{
    GArray *frames = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint i = 0; i < list->len; i++) {
        const rs_finding *f = g_ptr_array_index(list, i);
        g_array_append_vals(frames, f->frames->data, f->frames->len);
    }
    rs_sort_array_u64(frames);
    return frames;
}

static void
place(const rs_analysis *analysis, rs_finding *f, GArray *frames,
      const rs_file_frame *found)
{
    for (guint i = 0; i < f->frames->len; i++) {
        guint at = 0;
        g_array_binary_search(frames, &g_array_index(f->frames, guint64, i), rs_by_u64,
                              &at);
        if (found[at].number == 0) {
            f->more_frames = TRUE;
            continue;
        }
        rs_finding_file *part = part_of(analysis, f->files, found[at].file_i);
        g_array_append_val(part->frames, found[at].number);
    }
}

/* One way through all turns of files, for all findings together. */
static void
place_all(const rs_findings *all)
{
    const rs_analysis *analysis = all->analysis;
    g_autoptr(GArray) frames = all_frames(all->list);
    if (frames->len == 0) {
        return;
    }
    g_autofree rs_file_frame *found = g_new0(rs_file_frame, frames->len);
    rs_file_frames_find(analysis->file_frames, &g_array_index(frames, guint64, 0),
                        frames->len, found);
    for (guint i = 0; i < all->list->len; i++) {
        place(analysis, g_ptr_array_index(all->list, i), frames, found);
    }
}

/* The numbers of an only file are those of the capture. */
static void
place_in_only_file(const rs_analysis *analysis, rs_finding *f)
{
    if (f->frames->len > 0) {
        rs_finding_file *part = part_of(analysis, f->files, 0);
        g_array_append_vals(part->frames, f->frames->data, f->frames->len);
    }
}

static void
set_filters(rs_finding *f)
{
    for (guint i = 0; i < f->files->len; i++) {
        rs_finding_file *part = g_ptr_array_index(f->files, i);
        part->filter = rs_format_frame_filter(&g_array_index(part->frames, guint64, 0),
                                              part->frames->len);
    }
}

void
rs_findings_place(const rs_findings *all)
{
    if (all->analysis->file_frames != NULL) {
        place_all(all);
    }
    for (guint i = 0; i < all->list->len; i++) {
        rs_finding *f = g_ptr_array_index(all->list, i);
        if (all->analysis->file_frames == NULL) {
            place_in_only_file(all->analysis, f);
        }
        set_filters(f);
    }
}
