/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture points: an interface of a section of the capture.
 *
 * The one rule: rules of sequence run per point, so two links are never taken for one.
 */
#include "points.h"

typedef struct point {
    uint32_t section, interface;
    uint64_t speed_bps;
} point;

static GArray *list; /* point, by number */

void
points_clear(void)
{
    if (list != NULL) {
        g_array_free(list, TRUE);
        list = NULL;
    }
}

static uint32_t
section_of(const packet_info *pinfo)
{
    bool known = (pinfo->rec->presence_flags & WTAP_HAS_SECTION_NUMBER) != 0;
    return known ? pinfo->rec->section_number : 0;
}

static uint32_t
interface_of(const packet_info *pinfo)
{
    bool known = (pinfo->rec->presence_flags & WTAP_HAS_INTERFACE_ID) != 0;
    return known ? pinfo->rec->rec_header.packet_header.interface_id : 0;
}

const char *
points_interface_name(const packet_info *pinfo)
{
    return compat_interface_name(pinfo->epan, interface_of(pinfo), section_of(pinfo));
}

static bool
is_at(const point *p, uint32_t section, uint32_t interface)
{
    return p->section == section && p->interface == interface;
}

uint32_t
points_of(const packet_info *pinfo, const roce_packet *packet)
{
    (void)packet;
    uint32_t section = section_of(pinfo);
    uint32_t interface = interface_of(pinfo);
    if (list == NULL) {
        list = g_array_new(FALSE, FALSE, sizeof(point));
    }
    for (guint i = 0; i < list->len; i++) {
        if (is_at(&g_array_index(list, point, i), section, interface)) {
            return i;
        }
    }
    const point fresh = {
        .section = section,
        .interface = interface,
        .speed_bps = pfc_speed_bps(points_interface_name(pinfo)),
    };
    g_array_append_val(list, fresh);
    return list->len - 1;
}

uint64_t
points_speed_bps(uint32_t p)
{
    return list != NULL && p < list->len ? g_array_index(list, point, p).speed_bps : 0;
}
