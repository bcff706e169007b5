/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sample of the packets of a capture by which its clock can be compared with another's.
 *
 * The one rule: whether a packet is in the sample depends on its identity alone, so that
 * what one capture keeps the other keeps as well, however long both are.
 */
#ifndef RS_COMPARE_SAMPLE_H
#define RS_COMPARE_SAMPLE_H

#include "options.h"

#include <glib.h>

typedef struct rs_compare_sample rs_compare_sample;

/* Reads a whole file, as far as it can be. */
rs_compare_sample *
rs_compare_sample_of(const char *path, const rs_options *options);

void
rs_compare_sample_free(rs_compare_sample *sample);

/* Stamps of `high` minus those of `low`, gint64, of packets that both have; free it. */
GArray *
rs_compare_sample_differences(const rs_compare_sample *low,
                              const rs_compare_sample *high);

#endif
