/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of findings as a document. */
#include "findings.h"

static const char head[] =
    "# Findings\n"
    "\n"
    "What rocescope can find, worst first; of one severity, causes before what comes "
    "of them, in the order of this page. It is the program's own table, written by "
    "`rocescope --list-findings`.\n"
    "\n"
    "A finding claims no more than its numbers prove, and names the frames that show "
    "it. `wireshark_filter` shows exactly the frames that it names; where there are "
    "more than it names, `wireshark_filter_all` shows all of them, with the plugin. A "
    "clean capture has none above `note`. `--fail-on` compares with the severity.\n"
    "\n"
    "A finding about streams sums over all queue pairs between two addresses, and its "
    "shares are of all requests and READ responses (of marks: data packets) from the "
    "one to "
    "the other, also of queue pairs that have nothing of it. Commands under *Look at* "
    "only show: `PRIO`, `IF` and `DEV` stand for a priority, an interface and an RDMA "
    "device.\n";

/* "CE_PERCENT = 1 %" */
static void
print_thresholds(FILE *out, const rs_finding_row *row)
{
    for (guint i = 0; i < RS_THRESHOLDS && row->thresholds[i].name != NULL; i++) {
        const rs_threshold *threshold = &row->thresholds[i];
        fprintf(out, "%s`%s` = %" G_GUINT64_FORMAT " %s", i == 0 ? " (" : ", ",
                threshold->name, threshold->value, threshold->unit);
    }
    fputs(row->thresholds[0].name != NULL ? ")" : "", out);
}

static void
print_look(FILE *out, const rs_look *look)
{
    for (guint i = 0; look != NULL && look[i].system != NULL; i++) {
        fprintf(out, "%s %s: `%s`", i == 0 ? "- **Look at**" : ";", look[i].system,
                look[i].what);
    }
    fputs(look != NULL ? "\n" : "", out);
}

static void
print_row(FILE *out, const rs_finding_row *row)
{
    fprintf(out, "\n## `%s`\n\n%s. %s\n\n", row->id, row->title, row->meaning);
    fprintf(out, "- **Severity**: %s", row->rule);
    print_thresholds(out, row);
    fprintf(out, "\n- **What to do**: %s\n", row->advice);
    print_look(out, row->look);
    fprintf(out, "- **Frames**: %s\n", row->evidence);
}

void
rs_findings_print_table(FILE *out)
{
    fputs(head, out);
    for (guint i = 0; i < rs_n_finding_rows; i++) {
        print_row(out, &rs_finding_rows[i]);
    }
}
