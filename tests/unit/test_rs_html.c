/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages: text that wants to be markup, data that wants to end its block, and tables. */
#include "check.h"
#include "html_page.h"
#include "html_table.h"

#include <glib.h>

/* What rs_html_printf() makes of a string. */
static const struct {
    const char *name, *text, *want;
} texts[] = {
    {"plain", "10.0.0.1", "10.0.0.1"},
    {"an element", "</p><img src=x onerror=y>",
     "&lt;/p&gt;&lt;img src=x onerror=y&gt;"},
    {"an attribute", "\" onload=\"x", "&quot; onload=&quot;x"},
    {"an apostrophe", "' x", "&apos; x"},
    {"a reference", "&lt;", "&amp;lt;"},
    {"no UTF-8", "a\xff", "a\\xff"},
    {"written backwards", "a\342\200\256b", "a\\x202eb"},
    {"letters", "µ–→", "µ–→"},
};

/* A string inside a block of data. */
static const struct {
    const char *name, *text, *want;
} data[] = {
    {"plain", "a", "[\"a\"]"},
    {"the end of the block", "</script>", "[\"\\u003c/script\\u003e\"]"},
    {"a comment", "<!--", "[\"\\u003c!--\"]"},
    {"a reference", "&amp;", "[\"\\u0026amp;\"]"},
    {"ends of lines of scripts", "\342\200\250\342\200\251", "[\"\\u2028\\u2029\"]"},
};

/* One row, one column. */
static const struct {
    const char *name, *row, *path;
    rs_html_cell cell;
    const char *want; /* the cell's markup from its class on */
} cells[] = {
    {"a count", "{\"a\":1234567}", "a", RS_HTML_COUNT, " class=\"n\">1,234,567<"},
    {"nothing", "{\"a\":0}", "a", RS_HTML_COUNT, " class=\"n zero\">0<"},
    {"null", "{\"a\":null}", "a", RS_HTML_COUNT, " class=\"n null\">–<"},
    {"not there", "{}", "a", RS_HTML_COUNT, " class=\"n null\">–<"},
    {"inside another", "{\"a\":{\"b\":7}}", "a.b", RS_HTML_COUNT, " class=\"n\">7<"},
    {"inside null", "{\"a\":null}", "a.b", RS_HTML_COUNT, " class=\"n null\">–<"},
    {"a sum", "{\"a\":{\"b\":7},\"c\":5}", "a.b+c", RS_HTML_COUNT, " class=\"n\">12<"},
    {"a sum with null", "{\"a\":{\"b\":7},\"c\":null}", "a.b+c", RS_HTML_COUNT,
     " class=\"n null\">–<"},
    {"a share of a sum", "{\"a\":1,\"b\":7}", "a/a+b", RS_HTML_SHARE,
     " class=\"n\" data-sort=\"0.125\">12.5 %<"},
    {"a share of nothing", "{\"a\":0,\"b\":0}", "a/a+b", RS_HTML_SHARE,
     " class=\"n null\">–<"},
    {"the first of two", "{\"a\":{\"b\":\"x\"},\"c\":\"y\"}", "a.b|c", RS_HTML_TEXT,
     ">x<"},
    {"the second of two", "{\"a\":null,\"c\":\"y\"}", "a.b|c", RS_HTML_TEXT, ">y<"},
    {"a name that is a number", "{\"a\":12345}", "a", RS_HTML_NUMBER,
     " class=\"n\">12345<"},
    {"hexadecimal", "{\"a\":255}", "a", RS_HTML_HEX,
     " class=\"n\" data-sort=\"255\">0xff<"},
    {"a duration", "{\"a\":1500000}", "a", RS_HTML_DURATION,
     " class=\"n\" data-sort=\"1500000\">1.50 ms<"},
    {"a time, after the origin", "{\"a\":1500000000}", "a", RS_HTML_TIME,
     " class=\"n\" data-sort=\"500000000\" title=\"1970-01-01 00:00:01.500000000 "
     "UTC\">0.500000 s<"},
    {"a time before it", "{\"a\":999999000}", "a", RS_HTML_TIME,
     " class=\"n\" data-sort=\"-1000\" title=\"1970-01-01 00:00:00.999999000 "
     "UTC\">−0.000001 s<"},
    {"a share", "{\"a\":0.125}", "a", RS_HTML_SHARE,
     " class=\"n\" data-sort=\"0.125\">12.5 %<"},
    {"a list", "{\"a\":[3,4]}", "a", RS_HTML_TEXT, ">3, 4<"},
    {"hostile text", "{\"a\":\"<b>\"}", "a", RS_HTML_TEXT, ">&lt;b&gt;<"},
    {"a severity", "{\"a\":\"note\"}", "a", RS_HTML_SEVERITY,
     " data-sort=\"0\"><span class=\"severity note\">note</span><"},
    {"a worse one", "{\"a\":\"critical\"}", "a", RS_HTML_SEVERITY,
     " data-sort=\"2\"><span class=\"severity critical\">critical</span><"},
    {"a report", "{\"a\":\"x y\"}", "a", RS_HTML_REPORT,
     "><a href=\"./captures/x%20y.html\">x y</a><"},
    {"a report that would be a script", "{\"a\":\"javascript:alert(1)\"}", "a",
     RS_HTML_REPORT,
     "><a href=\"./captures/javascript%3Aalert%281%29.html\">javascript:alert(1)</a><"},
    {"streams", "{\"a\":[3,12]}", "a", RS_HTML_STREAMS,
     "><a href=\"#streams-3\">3</a>, <a href=\"#streams-12\">12</a><"},
};

/* A page with what `write` puts into it; g_free(). */
static char *
make_page(void (*write)(rs_html *page, gconstpointer what), gconstpointer what)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    const rs_html_head head = {
        .kind = "Test", .title = "<i>", .charts = RS_HTML_CHARTS};
    rs_html *page = rs_html_open(out, &head);
    write(page, what);
    gsize written = rs_html_written(page);
    CHECK(written > 0);
    rs_html_close(page);
    fclose(out);
    CHECK(written < n);
    return text;
}

static void
write_text(rs_html *page, gconstpointer what)
{
    rs_html_printf(page, "<p id=\"it\" title=\"%s\">", (const char *)what);
}

static void
write_data(rs_html *page, gconstpointer what)
{
    json_t *json = json_array();
    json_array_append_new(json, json_string(what));
    rs_html_data(page, "it", json);
}

typedef struct table_row {
    const char *row, *path;
    rs_html_cell cell;
} table_row;

static void
write_table(rs_html *page, gconstpointer what)
{
    const table_row *t = what;
    const rs_html_table_style style = {
        .id = "it", .caption = "Rows", .origin_ns = 1000000000};
    const rs_html_column columns[] = {
        {.heading = "#", .path = "none", .cell = RS_HTML_TEXT},
        {.heading = "A", .path = t->path, .cell = t->cell},
        {.heading = "Empty", .path = "zero", .use = RS_HTML_IF_ANY},
    };
    g_autoptr(rs_html_table) table =
        rs_html_table_new(&style, columns, G_N_ELEMENTS(columns));
    json_t *row = json_loads(t->row, 0, NULL);
    rs_html_table_add(table, row);
    json_decref(row);
    CHECK_INT(rs_html_table_n_rows(table), 1);
    CHECK(rs_html_table_size(table) > 0);
    rs_html_table_write(table, page);
}

static void
check_contains(const char *page, const char *want)
{
    if (strstr(page, want) == NULL) {
        check_fail(__FILE__, __LINE__);
        const char *body = strstr(page, "<main");
        fprintf(stderr, "no \"%s\" in %.600s\n", want, body != NULL ? body : page);
    }
}

int
main(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        check_row(texts[i].name);
        g_autofree char *page = make_page(write_text, texts[i].text);
        g_autofree char *want =
            g_strdup_printf("<p id=\"it\" title=\"%s\">", texts[i].want);
        check_contains(page, want);
        check_contains(page, "<h1>&lt;i&gt;</h1>");
    }
    for (guint i = 0; i < G_N_ELEMENTS(data); i++) {
        check_row(data[i].name);
        g_autofree char *page = make_page(write_data, data[i].text);
        g_autofree char *want =
            g_strdup_printf("id=\"data-it\">%s</script>", data[i].want);
        check_contains(page, want);
    }
    for (guint i = 0; i < G_N_ELEMENTS(cells); i++) {
        check_row(cells[i].name);
        const table_row row = {cells[i].row, cells[i].path, cells[i].cell};
        g_autofree char *page = make_page(write_table, &row);
        g_autofree char *want = g_strdup_printf("<td%s/td></tr>", cells[i].want);
        check_contains(page, want);
        check_contains(page, "left out: Empty");
    }
    return check_status();
}
