/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a conversation (traffic.h) on a path of three points, each with a capture
 * and a clock of its own, compared.  A frame that a step repeats elsewhere is the same one
 * further on, or once more; one that no step repeats was lost.
 *
 *   0    how far the second clock is ahead of the first (2^n ns), and
 *   1    the third one, behind; 64 and above: not at all
 *   2    how many points: 2, else 3 (bit 0)
 *   3..  steps
 */
#include "difference.h"
#include "reports.h"
#include "traffic_file.h"

#include <string.h>
#include <unistd.h>

#define SETTINGS 3
#define MAX_STEPS 400

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a point's clock says. */
static guint64
time_at(guint point, guint64 time_ns, const uint8_t settings[SETTINGS])
{
    if (point == 0 || settings[point - 1] >= 64) {
        return time_ns;
    }
    guint64 offset_ns = UINT64_C(1) << settings[point - 1];
    return point == 1 ? time_ns + offset_ns : time_ns - offset_ns;
}

static void
add_steps(GByteArray *const files[TRAFFIC_POINTS], guint n_points, const uint8_t *data,
          const uint8_t *end)
{
    static traffic t; /* too large for a stack */
    traffic_init(&t);
    const uint8_t *at = data + SETTINGS;
    for (guint i = 0; i < MAX_STEPS && at + TRAFFIC_STEP_BYTES <= end; i++) {
        const traffic_step step = traffic_read(at);
        at += TRAFFIC_STEP_BYTES;
        if (traffic_take(&t, &step) == TRAFFIC_FRAME) {
            traffic_seal(&t);
            guint point = t.point < n_points ? t.point : 0;
            traffic_file_add(files[point], &t, 0, time_at(point, t.now_ns, data));
        }
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS) {
        return 0;
    }
    const guint n_points = (data[2] & 1) != 0 ? TRAFFIC_POINTS : 2;
    GByteArray *files[TRAFFIC_POINTS];
    const char *paths[TRAFFIC_POINTS + 1] = {NULL};
    char *owned[TRAFFIC_POINTS];
    int fds[TRAFFIC_POINTS];
    for (guint i = 0; i < n_points; i++) {
        files[i] = traffic_file_new(1, 1);
    }
    add_steps(files, n_points, data, data + size);
    for (guint i = 0; i < n_points; i++) {
        paths[i] = owned[i] = bytes_as_file(files[i]->data, files[i]->len, &fds[i]);
    }
    reports_check_compare(paths);
    for (guint i = 0; i < n_points; i++) {
        close(fds[i]);
        g_free(owned[i]);
        g_byte_array_unref(files[i]);
    }
    return 0;
}
