/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a file of names (--hosts), and each of its lines as a list of addresses and
 * names, as options have them: whoever stands in the file has a label, and labels are safe
 * to print.
 */
#include "format.h"
#include "hosts.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Printable text in one line, whatever terminal it goes to. */
static void
check_safe(const char *text)
{
    assert(g_utf8_validate(text, -1, NULL));
    g_autofree gunichar *letters = g_utf8_to_ucs4_fast(text, -1, NULL);
    for (const gunichar *letter = letters; *letter != 0; letter++) {
        assert(!g_unichar_iscntrl(*letter));
    }
}

/* An address is written as it can be read. */
static void
check_address(const rs_hosts *hosts, const roce_addr *addr)
{
    g_autofree char *written = rs_format_addr(addr);
    g_autofree char *label = rs_hosts_label(hosts, addr);
    roce_addr again;
    gboolean is_read = rs_hosts_parse_addr(written, &again);
    assert(is_read && rs_addr_equal(addr, &again));
    assert(rs_addr_hash(addr) == rs_addr_hash(&again));
    check_safe(written);
    check_safe(label);
}

static void
check_list(const rs_hosts *hosts, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) addrs = rs_hosts_parse_list(hosts, "--captured-at", text, &error);
    assert((addrs == NULL) == (error != NULL));
    for (guint i = 0; addrs != NULL && i < addrs->len; i++) {
        check_address(hosts, &g_array_index(addrs, roce_addr, i));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 20000) {
        return 0;
    }
    g_autofree char *text = g_malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_hosts) hosts = rs_hosts_parse(text, size, "f", &error);
    assert((hosts == NULL) == (error != NULL));
    if (hosts == NULL) {
        assert(g_str_has_prefix(error->message, "f: line "));
        assert(strchr(error->message, '\n') == NULL);
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        check_list(hosts, lines[i]);
        g_auto(GStrv) words = g_strsplit_set(lines[i], " \t,", -1);
        roce_addr addr;
        if (words[0] != NULL && rs_hosts_parse_addr(words[0], &addr)) {
            check_address(hosts, &addr);
            assert(hosts == NULL || rs_hosts_find(hosts, &addr) != NULL);
        }
    }
    return 0;
}
