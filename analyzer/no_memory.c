/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "no_memory.h"

#include <glib.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int end_status = EXIT_FAILURE;
static const char *end_message;
static gboolean is_told; /* GLib, which hears of it once */

static _Noreturn void
end(void)
{
    if (end_message != NULL) {
        (void)!write(STDERR_FILENO, end_message, strlen(end_message));
    }
    _exit(end_status);
}

/* GLib and the tracker's allocator end the program by an error of their own. */
static GLogWriterOutput
end_without_memory(GLogLevelFlags level, const GLogField *fields, gsize n_fields,
                   gpointer data)
{
    for (gsize i = 0; (level & G_LOG_LEVEL_ERROR) != 0 && i < n_fields; i++) {
        const char *text = fields[i].length < 0 ? fields[i].value : NULL;
        if (text != NULL && g_str_equal(fields[i].key, "MESSAGE") &&
            (strstr(text, "out of memory") != NULL ||
             strstr(text, "failed to allocate") != NULL)) {
            end();
        }
    }
    return g_log_writer_default(level, fields, n_fields, data);
}

void *
rs_no_memory_or_allocate(size_t n_bytes)
{
    void *bytes = malloc(n_bytes);
    if (bytes == NULL && n_bytes > 0) {
        end();
    }
    return bytes;
}

void
rs_no_memory_ends_with(int status, const char *message)
{
    end_status = status;
    end_message = message;
    if (!is_told) {
        is_told = TRUE;
        g_log_set_writer_func(end_without_memory, NULL, NULL);
        /* jansson would leave out silently what it has no memory for. */
        json_set_alloc_funcs(rs_no_memory_or_allocate, free);
    }
}
