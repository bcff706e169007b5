/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classic capture files, parsed by libpcap: what the analyzer's own reader is compared to.
 *
 * The one rule: libpcap parses, and what it does not tell is read beside it: the header
 * (magic, snap length, link type) before it starts, and each record's place and its size
 * in the file from how far the stream moved.
 */
#ifndef LIBPCAP_READER_H
#define LIBPCAP_READER_H

#include "reader.h"

/* Opens any capture for libpcap to read, with times in ns: its pcap_t, or NULL.  `input`
 * has to stay until it is closed. */
struct pcap *
libpcap_open(rs_input *input);

/* Opens a classic capture, compressed or not.  As rs_reader_open(), but for files that are
 * no classic captures, of which it says nothing: NULL without an error. */
rs_reader *
libpcap_reader_open(const char *path, GError **error);

#endif
