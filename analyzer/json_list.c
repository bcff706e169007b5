/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_list.h"

#include "append.h"
#include "thread.h"

/* Elements that a thread writes at a time: some hundred kilobytes of streams. */
#define BLOCK 128

typedef struct block {
    const rs_json_list *list;
    guint from, until; /* elements */
    GString *text;
} block;

/* A json_dump_callback_t, which is called for each comma. */
static int
add(const char *bytes, size_t n, void *text)
{
    rs_append(text, bytes, n);
    return 0;
}

static void
add_value(GString *text, json_t *value)
{
    (void)json_dump_callback(value, add, text, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(value);
}

static void
put_text(FILE *out, const GString *text)
{
    (void)fwrite(text->str, 1, text->len, out);
}

void
rs_json_put(FILE *out, json_t *value)
{
    GString *text = g_string_new(NULL);
    add_value(text, value);
    put_text(out, text);
    g_string_free(text, TRUE);
}

static gpointer
fill(gpointer data)
{
    block *b = data;
    for (guint i = b->from; i < b->until; i++) {
        g_string_append(b->text, i > 0 ? ",\n" : "\n");
        add_value(b->text, b->list->element(b->list->ctx, i));
    }
    return NULL;
}

/* Fills all blocks: the first one here, each other by a thread of its own. */
static void
fill_all(block *blocks, guint n)
{
    g_autofree GThread **threads = g_new0(GThread *, n);
    for (guint i = 1; i < n; i++) {
        threads[i] = rs_thread_new("report", fill, &blocks[i]);
    }
    (void)fill(&blocks[0]);
    for (guint i = 1; i < n; i++) {
        if (threads[i] != NULL) {
            (void)g_thread_join(threads[i]);
        } else {
            (void)fill(&blocks[i]);
        }
    }
}

void
rs_json_put_list(FILE *out, const rs_json_list *list, guint n_threads)
{
    guint most = MIN(n_threads, list->n / BLOCK + 1);
    g_autofree block *blocks = g_new(block, most);
    for (guint i = 0; i < most; i++) {
        blocks[i] = (block){.list = list, .text = g_string_new(NULL)};
    }
    (void)fputc('[', out);
    for (guint done = 0; done < list->n;) {
        guint n = 0;
        for (; n < most && done < list->n; n++) {
            blocks[n].from = done;
            done += MIN(BLOCK, list->n - done);
            blocks[n].until = done;
            g_string_truncate(blocks[n].text, 0);
        }
        fill_all(blocks, n);
        for (guint i = 0; i < n; i++) {
            put_text(out, blocks[i].text);
        }
    }
    (void)fputc(']', out);
    for (guint i = 0; i < most; i++) {
        g_string_free(blocks[i].text, TRUE);
    }
}
