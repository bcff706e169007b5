/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hosts.h"

#include "arrays.h"
#include "error.h"
#include "format.h"
#include "small_file.h"

#include "roce/hash.h"

#include <arpa/inet.h>
#include <string.h>

#define MAX_WORD_BYTES 255
#define MAC_FAMILY 48 /* a MAC address as a key: beside 4 and 6 */

struct rs_hosts {
    GPtrArray *all;      /* rs_host, in the order of the file */
    GHashTable *by_addr; /* roce_addr -> rs_host */
    GHashTable *by_name; /* name -> GArray of roce_addr */
};

guint
rs_addr_hash(gconstpointer addr)
{
    return (guint)(roce_hash_addr(0, addr) >> 16);
}

gboolean
rs_addr_equal(gconstpointer a, gconstpointer b)
{
    return roce_addr_equal(a, b);
}

/* ---- addresses ---- */

gboolean
rs_hosts_parse_addr(const char *text, roce_addr *addr)
{
    static const guint8 mapped[12] = {[10] = 0xff, [11] = 0xff};
    roce_addr found = {0};
    if (inet_pton(AF_INET, text, found.bytes) == 1) {
        found.family = 4;
    } else if (inet_pton(AF_INET6, text, found.bytes) != 1) {
        return FALSE;
    } else if (memcmp(found.bytes, mapped, sizeof mapped) == 0) {
        roce_addr inner = {.family = 4};
        memcpy(inner.bytes, found.bytes + sizeof mapped, 4);
        found = inner;
    } else {
        found.family = 6;
    }
    *addr = found;
    return TRUE;
}

static roce_addr
key_of_mac(const guint8 mac[6])
{
    roce_addr key = {.family = MAC_FAMILY};
    memcpy(key.bytes, mac, 6);
    return key;
}

/* "02:00:00:00:01:01", also with "-". */
static gboolean
parse_mac(const char *text, roce_addr *key)
{
    guint8 mac[6];
    if (strlen(text) != 17) {
        return FALSE;
    }
    for (guint i = 0; i < 6; i++) {
        int high = g_ascii_xdigit_value(text[3 * i]);
        int low = g_ascii_xdigit_value(text[3 * i + 1]);
        if (high < 0 || low < 0 || (i < 5 && strchr(":-", text[3 * i + 2]) == NULL)) {
            return FALSE;
        }
        mac[i] = (guint8)(high << 4 | low);
    }
    *key = key_of_mac(mac);
    return TRUE;
}

/* ---- the file ---- */

static void
free_host(gpointer data)
{
    rs_host *host = data;
    g_free(host->name);
    g_free(host->rail);
    g_free(host->port);
    g_free(host->label);
    g_free(host);
}

static void
append_part(GString *label, const char *kind, const char *part)
{
    if (part != NULL) {
        gboolean number = strspn(part, "0123456789") == strlen(part);
        g_string_append_printf(label, "/%s%s", number ? kind : "", part);
    }
}

static char *
make_label(const rs_host *host)
{
    g_autoptr(GString) label = g_string_new(host->name);
    append_part(label, "rail", host->rail);
    append_part(label, "port", host->port);
    return rs_format_safe(label->str);
}

static void
add_host(rs_hosts *hosts, const roce_addr *addr, const char *const words[3])
{
    if (g_hash_table_contains(hosts->by_addr, addr)) {
        return;
    }
    rs_host *host = g_new0(rs_host, 1);
    host->name = g_strdup(words[0]);
    host->rail = g_strdup(words[1]);
    host->port = g_strdup(words[2]);
    host->label = make_label(host);
    g_ptr_array_add(hosts->all, host);
    g_hash_table_insert(hosts->by_addr, g_memdup2(addr, sizeof *addr), host);
    GArray *addrs = g_hash_table_lookup(hosts->by_name, host->name);
    if (addrs == NULL) {
        addrs = g_array_new(FALSE, FALSE, sizeof(roce_addr));
        g_hash_table_insert(hosts->by_name, host->name, addrs);
    }
    if (addr->family != MAC_FAMILY) {
        g_array_append_val(addrs, *addr);
    }
}

/* The words of a line; what is not there is "" in lists with commas. */
static GPtrArray *
split(char *line)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    gboolean commas = strchr(line, ',') != NULL;
    g_auto(GStrv) parts = g_strsplit_set(line, commas ? "," : " \t", -1);
    for (guint i = 0; parts[i] != NULL; i++) {
        g_strstrip(parts[i]);
        if (commas || *parts[i] != '\0') {
            g_ptr_array_add(words, g_strdup(parts[i]));
        }
    }
    return words;
}

/* In /etc/hosts aliases follow the name: with domains, or the name without its domain. */
static gboolean
is_alias(const char *word, const char *name)
{
    gsize first_label = strcspn(name, ".");
    return strchr(word, '.') != NULL ||
           (strlen(word) == first_label && strncmp(word, name, first_label) == 0);
}

static const char *
word_at(const GPtrArray *words, guint i)
{
    const char *word = i < words->len ? g_ptr_array_index(words, i) : "";
    return *word == '\0' || g_str_equal(word, "-") ? NULL : word;
}

/* What is wrong with a line; NULL: nothing, and it was taken. */
static const char *
take_line(rs_hosts *hosts, char *line)
{
    roce_addr addr;
    g_autoptr(GPtrArray) words = split(line);
    for (guint i = 0; i < words->len; i++) {
        if (strlen(g_ptr_array_index(words, i)) > MAX_WORD_BYTES) {
            return "has a word of more than 255 bytes";
        }
    }
    const char *first = word_at(words, 0);
    const char *name = word_at(words, 1);
    if (first == NULL ||
        (!rs_hosts_parse_addr(first, &addr) && !parse_mac(first, &addr))) {
        return "does not begin with an IPv4, IPv6 or MAC address";
    }
    if (name == NULL) {
        return "has no name behind the address";
    }
    const char *rail = word_at(words, 2);
    gboolean aliases = rail != NULL && is_alias(rail, name);
    if (words->len > 4 && !aliases) {
        return "has more than address, host, rail and port";
    }
    const char *const named[3] = {name, aliases ? NULL : rail,
                                  aliases ? NULL : word_at(words, 3)};
    add_host(hosts, &addr, named);
    return NULL;
}

rs_hosts *
rs_hosts_parse(const char *text, gsize size, const char *path, GError **error)
{
    g_autoptr(rs_hosts) hosts = g_new0(rs_hosts, 1);
    hosts->all = g_ptr_array_new_with_free_func(free_host);
    hosts->by_addr = g_hash_table_new_full(rs_addr_hash, rs_addr_equal, g_free, NULL);
    hosts->by_name =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, rs_unref_array);
    const char *end = text + size;
    gboolean is_text;
    for (guint64 number = 1; text < end; number++) {
        g_autofree char *line = rs_small_file_line(&text, end, &is_text);
        const char *wrong = is_text ? NULL : "is no text";
        line[strcspn(line, "#")] = '\0';
        g_strstrip(line);
        if (wrong == NULL && *line != '\0') {
            wrong = take_line(hosts, line);
        }
        if (wrong != NULL) {
            g_set_error(error, RS_ERROR, RS_ERROR_DAMAGED,
                        "%s: line %" G_GUINT64_FORMAT " %s", path, number, wrong);
            return NULL;
        }
    }
    return g_steal_pointer(&hosts);
}

rs_hosts *
rs_hosts_read(const char *path, GError **error)
{
    gsize size;
    g_autofree char *text = rs_small_file_read(path, &size, error);
    return text != NULL ? rs_hosts_parse(text, size, path, error) : NULL;
}

void
rs_hosts_free(rs_hosts *hosts)
{
    if (hosts == NULL) {
        return;
    }
    g_hash_table_unref(hosts->by_name);
    g_hash_table_unref(hosts->by_addr);
    g_ptr_array_unref(hosts->all);
    g_free(hosts);
}

/* ---- looking up ---- */

const rs_host *
rs_hosts_find(const rs_hosts *hosts, const roce_addr *addr)
{
    return hosts != NULL ? g_hash_table_lookup(hosts->by_addr, addr) : NULL;
}

const rs_host *
rs_hosts_find_mac(const rs_hosts *hosts, const guint8 mac[6])
{
    roce_addr key = key_of_mac(mac);
    return rs_hosts_find(hosts, &key);
}

char *
rs_hosts_label(const rs_hosts *hosts, const roce_addr *addr)
{
    const rs_host *host = rs_hosts_find(hosts, addr);
    return host != NULL ? g_strdup(host->label) : rs_format_addr(addr);
}

char *
rs_hosts_label_mac(const rs_hosts *hosts, const guint8 mac[6])
{
    const rs_host *host = rs_hosts_find_mac(hosts, mac);
    return host != NULL ? g_strdup(host->label) : rs_format_mac(mac);
}

GArray *
rs_hosts_parse_list(const rs_hosts *hosts, const char *option, const char *text,
                    GError **error)
{
    g_autoptr(GArray) addrs = g_array_new(FALSE, FALSE, sizeof(roce_addr));
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    guint n = MAX(g_strv_length(words), 1); /* nothing is a list of one empty word */
    for (guint i = 0; i < n; i++) {
        const char *word = words[i] != NULL ? words[i] : "";
        roce_addr addr;
        const GArray *named =
            hosts != NULL ? g_hash_table_lookup(hosts->by_name, word) : NULL;
        if (rs_hosts_parse_addr(word, &addr)) {
            g_array_append_val(addrs, addr);
        } else if (named != NULL && named->len > 0) {
            g_array_append_vals(addrs, named->data, named->len);
        } else {
            g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                        "%s %s: \"%s\" is no IP address, and no host of --hosts",
                        option, text, word);
            return NULL;
        }
    }
    return g_steal_pointer(&addrs);
}
