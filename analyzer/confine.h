/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the program can do no more once it reads captures: whoever made one may have made it
 * for that.
 *
 * Programs cannot be started, nothing can be sent, no other process looked into, and the
 * kernel be asked for nothing unusual.  Threads, forks and files stay, as reports are
 * written by who reads.
 *
 * The one rule: nothing that any command does is refused, so that a user never notices.
 */
#ifndef RS_CONFINE_H
#define RS_CONFINE_H

#include <glib.h>

/* From here on, in this process and all that it forks; what is refused fails with EPERM.
 * FALSE: the kernel cannot do that, and all is as before. */
gboolean
rs_confine(void);

#endif
