/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture points: an interface of a section of the capture, and of that the origin that
 * the frame itself names (an interface of a cooked capture, a mirror's session).
 *
 * The one rule: rules of sequence run per point, so two links are never taken for one.
 */
#include "points.h"

#include "roce/hash.h"
#include "roce/origin.h"

typedef struct point {
    uint32_t section, interface;
    roce_origin origin;
    uint64_t speed_bps;
    roce_survey_point survey;
    char *name; /* of the interface, or NULL */
} point;

static GPtrArray *list;     /* point, by number */
static GHashTable *numbers; /* the same, by what they are: point -> number + 1 */
static unsigned n_origins;

static void
free_point(gpointer data)
{
    point *p = data;
    g_free(p->name);
    g_free(p);
}

static guint
hash_point(gconstpointer data)
{
    const point *p = data;
    uint64_t h = roce_hash_mix(p->section, p->interface);
    return (guint)(roce_origin_hash(h, &p->origin) >> 32);
}

static gboolean
equal_points(gconstpointer a, gconstpointer b)
{
    const point *x = a;
    const point *y = b;
    return x->section == y->section && x->interface == y->interface &&
           roce_origin_equal(&x->origin, &y->origin);
}

void
points_clear(void)
{
    if (list != NULL) {
        g_hash_table_destroy(numbers);
        g_ptr_array_free(list, TRUE);
        list = NULL;
        n_origins = 0;
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

static uint32_t
add_point(const packet_info *pinfo, const point *key)
{
    point *fresh = g_new(point, 1);
    *fresh = *key;
    fresh->speed_bps = pfc_speed_bps(points_interface_name(pinfo));
    fresh->name = g_strdup(points_interface_name(pinfo));
    roce_survey_point_init(&fresh->survey, list->len, 0);
    n_origins += key->origin.kind != ROCE_ORIGIN_INTERFACE ? 1 : 0;
    g_ptr_array_add(list, fresh);
    g_hash_table_insert(numbers, fresh, GUINT_TO_POINTER(list->len));
    return list->len - 1;
}

uint32_t
points_of(const packet_info *pinfo, const roce_packet *packet)
{
    if (list == NULL) {
        list = g_ptr_array_new_with_free_func(free_point);
        numbers = g_hash_table_new(hash_point, equal_points);
    }
    point key = {
        .section = section_of(pinfo),
        .interface = interface_of(pinfo),
        .origin = roce_origin_of(packet),
    };
    if (key.origin.kind != ROCE_ORIGIN_INTERFACE && n_origins >= ROCE_MAX_ORIGINS) {
        key.origin = (roce_origin){0};
    }
    uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, &key));
    return number != 0 ? number - 1 : add_point(pinfo, &key);
}

static const point *
point_at(uint32_t number)
{
    return list != NULL && number < list->len ? g_ptr_array_index(list, number) : NULL;
}

uint64_t
points_speed_bps(uint32_t number)
{
    const point *p = point_at(number);
    return p != NULL ? p->speed_bps : 0;
}

const char *
points_name(uint32_t number)
{
    const point *p = point_at(number);
    return p != NULL ? p->name : NULL;
}

roce_survey_point *
points_survey(uint32_t number)
{
    point *p = g_ptr_array_index(list, number);
    return &p->survey;
}

bool
points_are_plain(void)
{
    for (guint i = 0; list != NULL && i < list->len; i++) {
        const roce_survey_point *survey = points_survey(i);
        if (survey->delivers_twice || survey->order == ROCE_ORDER_STAMP ||
            survey->group != i) {
            return false;
        }
    }
    return true;
}

void
points_settle(void)
{
    for (guint i = 0; list != NULL && i < list->len; i++) {
        points_survey(i)->settled = true;
    }
}
