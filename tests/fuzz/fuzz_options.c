/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the words of a command line, one on each line: what is taken is in the
 * range that options.h promises, and what is not is refused with a word about it. */
#include "error.h"
#include "option_parser.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define MOST_BYTES 4096

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static rs_options *
parse(GStrv words, GError **error)
{
    static const rs_option_group groups[] = {
        RS_OPTIONS_FILES,    RS_OPTIONS_TABLES,  RS_OPTIONS_REPORT,
        RS_OPTIONS_ROWS,     RS_OPTIONS_CAPTURE, RS_OPTIONS_NETWORK,
        RS_OPTIONS_COUNTERS, RS_OPTIONS_OUTCOME, RS_OPTIONS_PROGRAM,
    };
    g_autoptr(rs_option_parser) parser =
        rs_option_parser_new("rocescope", "FILE…", "summary", "description");
    for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
        rs_option_parser_take(parser, groups[i]);
    }
    return rs_option_parser_run(parser, (int)g_strv_length(words), words, error);
}

/* Help ends the program. */
static gboolean
asks_for_help(GStrv words)
{
    for (guint i = 0; words[i] != NULL; i++) {
        gboolean is_short = words[i][0] == '-' && words[i][1] != '-';
        if (g_str_has_prefix(words[i], "--help") ||
            (is_short && strchr(words[i], 'h') != NULL)) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
check_pairs(const GPtrArray *pairs)
{
    for (guint i = 0; i < pairs->len; i++) {
        const rs_option_pair *pair = g_ptr_array_index(pairs, i);
        assert(pair->subject != NULL || pair->path != NULL);
    }
}

static void
check(const rs_options *o)
{
    assert(o->ports.n_ports >= 1 && o->ports.n_ports <= ROCE_MAX_PORTS);
    assert(o->link_speed_bps <= UINT64_C(100000000000000));
    assert(o->burst_bps <= UINT64_C(100000000000000));
    for (guint i = 0; i < RS_N_DSCPS; i++) {
        assert(o->dscp_map[i] <= 7);
    }
    assert(o->watchdog <= RS_WATCHDOG_MS);
    assert(o->watchdog != RS_WATCHDOG_MS || o->watchdog_ms >= 1);
    assert(o->icrc <= RS_ICRC_OFF && o->fail_on <= RS_SEVERITY_NEVER);
    check_pairs(o->qp_maps);
    check_pairs(o->captured_at);
    check_pairs(o->counters_before);
    check_pairs(o->counters_after);
    assert(o->counters_before->len == o->counters_after->len);
    assert(o->files == NULL || g_strv_length(o->files) > 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MOST_BYTES) {
        return 0;
    }
    g_autofree char *text = g_strndup((const char *)data, size);
    g_autofree char *line = g_strconcat("rocescope\n", text, NULL);
    g_auto(GStrv) words = g_strsplit(line, "\n", -1);
    if (asks_for_help(words)) {
        return 0;
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_options) options = parse(words, &error);
    assert((options == NULL) == (error != NULL));
    if (options != NULL) {
        check(options);
    } else {
        assert(error->domain == RS_ERROR && error->message[0] != '\0');
    }
    return 0;
}
