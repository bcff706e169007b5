/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pages carry: style sheets, scripts and the licence of the library among them, made
 * into strings when the program is built.
 *
 * The one rule: what a browser is to run stands here, and nowhere else; pages have no other
 * scripts or styles, which is what their Content-Security-Policy says.
 */
#ifndef RS_HTML_ASSETS_H
#define RS_HTML_ASSETS_H

/* NUL-terminated UTF-8. */

extern const char rs_html_style[]; /* of all pages; dygraphs' own goes first */
extern const char
    rs_html_page_script[]; /* of all pages: tables, copying, light and dark */
extern const char rs_html_report_script[]; /* charts of the report of a capture */
extern const char rs_html_matrix_script[]; /* of these the matrix of hosts alone */
extern const char
    rs_html_dygraphs[]; /* the library, and what synchronises its charts */
extern const char rs_html_dygraphs_licence[]; /* plain text */

#endif
