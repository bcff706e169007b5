/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all captures of a batch say together of hosts, links, rails and days: the tables
 * host_pairs, links, rail_pairs and days of the database.
 *
 * The same stream may be in several captures and at several points of each.  Those that it
 * was seen at at the same time count once: of each number the greatest.  Those that follow
 * one another add up.  What overlaps belongs to the day (UTC) of its first packet.
 *
 * The one rule: no packet counts twice for having been captured twice.
 */
#ifndef RS_FLEET_H
#define RS_FLEET_H

#include "database.h"

#include <glib.h>

/* Fills the tables from those of the captures. */
gboolean
rs_fleet_fill(rs_database *database, GError **error);

#endif
