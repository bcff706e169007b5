/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was seen at each point, so that the same traffic is known when it comes again:
 * two files of one path whose clocks differ by more than they are long look like one
 * file that goes on with the other.
 *
 * The one rule: whether a packet is remembered depends on its identity alone, so that
 * packets remembered at one point are those that are looked for at another.  The table
 * is bounded: the fuller it was, the fewer packets stand for all.
 */
#ifndef RS_RECALL_H
#define RS_RECALL_H

#include "roce/decode.h"
#include "roce/wire_identity.h"

#include <glib.h>

typedef struct rs_recall rs_recall;

rs_recall *
rs_recall_new(void);

/* NULL is fine. */
void
rs_recall_free(rs_recall *recall);

/* Notes a packet of a point; `frame->number` counts over all points. */
void
rs_recall_add(rs_recall *recall, guint point, const roce_frame *frame,
              const roce_packet *packet);

/* Notes one that may not well come again as it is, as data does not. */
void
rs_recall_note(rs_recall *recall, guint point, guint64 frame,
               const roce_wire_identity *identity);

/* How a file begins: RoCE packets with the interface of each.  Empty for a file that
 * cannot be read. */
typedef struct rs_beginning rs_beginning;

rs_beginning *
rs_beginning_read(const char *path, const roce_ports *ports);

void
rs_beginning_free(rs_beginning *beginning);

/* Whether most of what the interface begins with was seen at the point, shortly enough
 * before that PSNs cannot have come round; or, if the point began later, most of what it has
 * from some packet on, or a quarter of much, since it may see a part.  Of what one sender has
 * there, the same says as much, if it numbers its packets: the other may be of one direction.
 * What a sender that does not had sent last of all here says nothing: it may send it again. */
gboolean
rs_recall_knows(const rs_recall *recall, guint point, const rs_beginning *beginning,
                guint interface_i);

/* Whether the interface of a section, as they are numbered, goes on in a file with what stands
 * in the sections before it, rather than to begin with that once more.  FALSE if the file
 * cannot be read again, or has more than `bytes_left`, from which it is taken. */
gboolean
rs_recall_section_is_new(const char *path, const roce_ports *ports, guint interface_i,
                         guint section, guint64 *bytes_left);

#endif
