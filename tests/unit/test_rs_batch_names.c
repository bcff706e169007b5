/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of reports: safe, and no two paths have the same. */
#include "batch_names.h"

#include "check.h"

#define N_ROWS(table) (sizeof(table) / sizeof(table)[0])

static void
check_names(void)
{
    /* clang-format off */
    static const struct {
        const char *name, *path, *want;
    } cases[] = {
        {"plain", "x.pcap", "x.pcap"},
        {"below", "a/b/x.pcap", "a/b/x.pcap"},
        {"from the root", "/data/x.pcap", "~/data/x.pcap"},
        {"up", "../x.pcap", "~2E./x.pcap"},
        {"up in the middle", "a/../x.pcap", "a/~2E./x.pcap"},
        {"not tidy", "./a//b/./x.pcap", "a/b/x.pcap"},
        {"hidden", "a/.x.pcap", "a/~2Ex.pcap"},
        {"like an option", "-x.pcap", "~2Dx.pcap"},
        {"a dash inside", "x-1.pcap", "x-1.pcap"},
        {"what the escape is made of", "~2Dx.pcap", "~7E2Dx.pcap"},
        {"a tilde", "~/x.pcap", "~7E/x.pcap"},
        {"markup", "<b>\"&'.pcap", "~3Cb~3E~22~26~27.pcap"},
        {"for URLs", "a#b?c%20:d.pcap", "a~23b~3Fc~2520~3Ad.pcap"},
        {"lines and escapes", "a\nb\x1b[1m", "a~0Ab~1B~5B1m"},
        {"no UTF-8", "\xff\xc3", "~FF~C3"},
        {"UTF-8", "\xc3\xa4", "~C3~A4"},
        {"a formula", "=1+2@x,", "=1+2@x,"},
        {"a directory like a report", "x.json/y.pcap", "x~2Ejson/y.pcap"},
        {"a capture like a report", "x.json", "x.json"},
        {"a directory like a page", "x.html/y", "x~2Ehtml/y"},
        {"of one letter", "a", "a"},
    };
    /* clang-format on */
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        g_autofree char *name = rs_batch_name(NULL, cases[i].path);
        CHECK_STR(name, cases[i].want);
        CHECK(rs_batch_name_is_safe(name));
    }
}

static void
check_labels(void)
{
    static const struct {
        const char *label, *path, *want;
    } cases[] = {
        {"node1", "x.pcap", "node1/x.pcap"},
        {"node1", "/data/x.pcap", "node1/~/data/x.pcap"},
        {"rack 1/node1/", "x.pcap", "rack~201/node1/x.pcap"},
        {"../..", "x.pcap", "~2E./~2E./x.pcap"},
        {"node.json", "x.pcap", "node~2Ejson/x.pcap"},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].want);
        g_autofree char *name = rs_batch_name(cases[i].label, cases[i].path);
        CHECK_STR(name, cases[i].want);
        CHECK(rs_batch_name_is_safe(name));
    }
}

static void
check_long_names(void)
{
    check_row("long words");
    g_autofree char *longest = g_strnfill(180, 'x');
    g_autofree char *kept = rs_batch_name(NULL, longest);
    CHECK_STR(kept, longest);
    g_autofree char *longer = g_strconcat(longest, "y", NULL);
    g_autofree char *other = g_strconcat(longest, "z", NULL);
    g_autofree char *cut = rs_batch_name(NULL, longer);
    g_autofree char *other_cut = rs_batch_name(NULL, other);
    CHECK_INT(strlen(cut), 140 + 2 + 32);
    CHECK(rs_batch_name_is_safe(cut));
    CHECK(strcmp(cut, other_cut) != 0);
    check_row("a long path");
    g_autoptr(GString) path = g_string_new("a");
    while (path->len < 3100) {
        g_string_append(path, "/0123456789");
    }
    g_autofree char *name = rs_batch_name(NULL, path->str);
    CHECK_INT(strlen(name), 2 + 32);
    CHECK(rs_batch_name_is_safe(name));
}

static void
check_unsafe(void)
{
    static const char *const unsafe[] = {"",     "/x",   "a//b", "../x", "a/../b",
                                         ".git", "-rf",  "a/",   "a b",  "a\nb",
                                         "a\\b", "\xff", "."};
    for (size_t i = 0; i < N_ROWS(unsafe); i++) {
        check_row(unsafe[i]);
        CHECK(!rs_batch_name_is_safe(unsafe[i]));
    }
}

static void
check_tidy(void)
{
    static const struct {
        const char *path, *want;
    } cases[] = {{"a", "a"},         {"./a", "a"},     {"a/", "a"},
                 {"a//b", "a/b"},    {"/", "/"},       {"//a", "/a"},
                 {".", "."},         {"./", "."},      {"a/..", "a/.."},
                 {"/a/./b", "/a/b"}, {"../a/", "../a"}};
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].path);
        g_autofree char *tidy = rs_batch_path_tidy(cases[i].path);
        CHECK_STR(tidy, cases[i].want);
    }
}

int
main(void)
{
    check_names();
    check_labels();
    check_long_names();
    check_unsafe();
    check_tidy();
    return check_status();
}
