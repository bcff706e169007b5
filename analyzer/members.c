/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "members.h"

#define SEVERAL G_MAXUINT32

struct rs_members {
    GArray *of; /* by stream, guint32: the point + 1, SEVERAL, or 0 for none */
};

rs_members *
rs_members_new(void)
{
    rs_members *members = g_new0(rs_members, 1);
    members->of = g_array_new(FALSE, TRUE, sizeof(guint32));
    return members;
}

void
rs_members_free(rs_members *members)
{
    if (members != NULL) {
        g_array_unref(members->of);
        g_free(members);
    }
}

void
rs_members_see(rs_members *members, guint32 stream, guint32 point)
{
    if (stream >= members->of->len) {
        g_array_set_size(members->of, stream + 1);
    }
    guint32 *one = &g_array_index(members->of, guint32, stream);
    *one = *one == 0 || *one == point + 1 ? point + 1 : SEVERAL;
}

gboolean
rs_members_only(const rs_members *members, guint32 stream, guint32 *point)
{
    guint32 one =
        stream < members->of->len ? g_array_index(members->of, guint32, stream) : 0;
    gboolean known = one != 0 && one != SEVERAL;
    *point = known ? one - 1 : *point;
    return known;
}
