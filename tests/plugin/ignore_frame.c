/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded, has tshark ignore a frame, as Wireshark does on "Ignore Packet": its number is
 * in the environment, ROCESCOPE_IGNORE.
 *
 * The one rule: the frame is ignored before anything looks at it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <epan/frame_data.h>
#include <epan/packet.h>

typedef void (*init_fn)(frame_data *, guint32, const wtap_rec *, gint64, guint32);

static void
init_as_ever(frame_data *frame, guint32 number, const wtap_rec *rec, gint64 offset,
             guint32 bytes_before)
{
    init_fn init;
    void *symbol = dlsym(RTLD_NEXT, "frame_data_init");
    memcpy(&init, &symbol, sizeof init);
    init(frame, number, rec, offset, bytes_before);
}

void
frame_data_init(frame_data *frame, guint32 number, const wtap_rec *rec, gint64 offset,
                guint32 bytes_before)
{
    const char *ignored = getenv("ROCESCOPE_IGNORE");
    init_as_ever(frame, number, rec, offset, bytes_before);
    if (ignored != NULL && number == strtoul(ignored, NULL, 10)) {
        frame->ignored = 1;
    }
}
