/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report.h"

#include "findings.h"
#include "output.h"

rs_report *
rs_report_new(const rs_analysis *analysis)
{
    rs_report *report = g_new0(rs_report, 1);
    report->analysis = analysis;
    report->summary = rs_summary_new(analysis);
    report->findings = rs_findings_new(analysis, report->summary);
    return report;
}

void
rs_report_free(rs_report *report)
{
    if (report == NULL) {
        return;
    }
    g_ptr_array_unref(report->findings);
    rs_summary_free(report->summary);
    g_free(report);
}

void
rs_report_leave(rs_report *report, rs_analysis *analysis)
{
#ifdef ROCESCOPE_INSTRUMENTED
    rs_report_free(report);
    rs_analysis_free(analysis);
#else
    (void)report;
    (void)analysis;
#endif
}

gboolean
rs_report_write(const rs_report *report, rs_reporter reporter, const char *path,
                GError **error)
{
    if (path == NULL) {
        return TRUE;
    }
    rs_output *output = rs_output_open(path, error);
    if (output == NULL) {
        return FALSE;
    }
    reporter(rs_output_stream(output), report->analysis, report->summary,
             report->findings);
    return rs_output_commit(output, error);
}

gboolean
rs_report_has_content(const rs_report *report)
{
    const GPtrArray *files = report->analysis->files;
    for (guint i = 0; i < files->len; i++) {
        const rs_file *file = g_ptr_array_index(files, i);
        if (file->format != NULL) {
            return TRUE;
        }
    }
    return FALSE;
}
