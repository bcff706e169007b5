/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of the JSON report: each element once and in its place, by any number of threads. */
#include "check.h"
#include "json_list.h"

static const struct {
    const char *name;
    guint n;
} lists[] = {
    {"none", 0},
    {"one", 1},
    {"one less than a thread takes at a time", 127},
    {"as many", 128},
    {"one more", 129},
    {"some rounds of several threads", 2000},
};

static const guint threads[] = {1, 2, 3, 16};

/* No two elements are alike, and no two are of one length by chance alone. */
static json_t *
element(gconstpointer ctx, guint i)
{
    const guint *factor = ctx;
    return json_pack("{s:i, s:s#}", "i", (int)(i * *factor), "x",
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                     (int)(i % 59));
}

/* What is written; free(). */
static char *
write_list(guint n, guint n_threads, size_t *length)
{
    const guint factor = 3;
    const rs_json_list list = {.element = element, .ctx = &factor, .n = n};
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    rs_json_put_list(out, &list, n_threads);
    (void)fclose(out);
    return text;
}

static void
check_elements(const char *text, guint n)
{
    json_error_t error;
    json_t *list = json_loads(text, 0, &error);
    CHECK(json_is_array(list));
    CHECK_INT(json_array_size(list), n);
    for (guint i = 0; i < n; i++) {
        const json_t *one = json_array_get(list, i);
        CHECK_INT(json_integer_value(json_object_get(one, "i")), 3 * i);
        CHECK_INT(json_string_length(json_object_get(one, "x")), i % 59);
    }
    json_decref(list);
}

static void
check_lists(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
        check_row(lists[i].name);
        size_t length;
        char *alone = write_list(lists[i].n, 1, &length);
        check_elements(alone, lists[i].n);
        for (guint t = 0; t < G_N_ELEMENTS(threads); t++) {
            size_t other_length;
            char *other = write_list(lists[i].n, threads[t], &other_length);
            CHECK_INT(other_length, length);
            CHECK_STR(other, alone);
            free(other);
        }
        free(alone);
    }
}

int
main(void)
{
    check_lists();
    return check_status();
}
