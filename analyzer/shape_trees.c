/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trees in a graph.
 *
 * Where data goes one way alone, who is whose parent is plain: towards the root everyone
 * sends to one, from the root everyone receives from one.
 *
 * Where it goes both ways, sums go up first and come down later.  Between two hosts,
 * the half of all streams of data that begins first in an iteration goes up, and who
 * sends it is a child of who receives it.  With two trees at once a host may so be a
 * child and a parent of the same other one.
 *
 * In two trees everyone but the roots has two parents, and is a parent itself in one of
 * the trees alone.  So each host with children has a colour, its tree's, and the two
 * parents of a host differ in theirs.  That leaves few ways to colour them; of these one
 * alone has to make two trees.
 */
#include "rhythm_shape.h"
#include "sorting.h"

#include <string.h>

#define NO_PARENT G_MAXUINT
#define NO_COLOUR 2
#define MOST_PARTS 12
#define MOST_STREAMS 64 /* from one host to another */

typedef struct forest {
    guint n;
    gboolean *above; /* n * n: the column is a parent of the row */
    guint relations;
} forest;

/* When a stream of data begins in its iterations: the median of what has passed since
 * the iteration began. */
typedef struct beginning {
    guint64 after_ns;
    gboolean forth; /* from the first of the two hosts to the second */
} beginning;

static gint
by_beginning(gconstpointer a, gconstpointer b)
{
    const beginning *x = a;
    const beginning *y = b;
    return rs_by_number(x->after_ns, y->after_ns);
}

/* The beginnings of one stream of an edge. */
static guint64
begins_after(const rs_graph *graph, const rs_edge *edge, guint32 stream)
{
    g_autoptr(GArray) after = g_array_new(FALSE, FALSE, sizeof(guint64));
    guint newest = G_MAXUINT;
    for (guint i = 0; i < edge->messages->len; i++) {
        const rs_message *message = &g_array_index(edge->messages, rs_message, i);
        guint iteration;
        if (message->stream != stream || (message->flags & RS_MESSAGE_SIGNAL) != 0 ||
            !rs_graph_iteration(graph, message->start_ns, &iteration) ||
            iteration == newest) {
            continue;
        }
        guint64 from = graph->rhythm != NULL
                           ? rs_rhythm_iteration(graph->rhythm, iteration)->start_ns
                           : 0;
        guint64 passed = message->start_ns - from;
        g_array_append_val(after, passed);
        newest = iteration;
    }
    g_array_sort(after, rs_by_u64);
    return after->len > 0 ? g_array_index(after, guint64, (after->len - 1) / 2)
                          : G_MAXUINT64;
}

/* Adds those of all streams of an edge.  FALSE: they are too many. */
static gboolean
add_beginnings(const rs_graph *graph, const rs_edge *edge, gboolean forth, GArray *all)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < edge->messages->len; i++) {
        const rs_message *message = &g_array_index(edge->messages, rs_message, i);
        if ((message->flags & RS_MESSAGE_SIGNAL) != 0 ||
            !g_hash_table_add(seen, GUINT_TO_POINTER(message->stream + 1))) {
            continue;
        }
        if (g_hash_table_size(seen) > MOST_STREAMS) {
            return FALSE;
        }
        const beginning one = {begins_after(graph, edge, message->stream), forth};
        g_array_append_val(all, one);
    }
    return TRUE;
}

static void
relate(forest *f, guint child, guint parent)
{
    f->relations += f->above[child * f->n + parent] ? 0 : 1;
    f->above[child * f->n + parent] = TRUE;
}

/* Between two hosts that send to one another.  FALSE: it cannot be told. */
static gboolean
relate_by_time(const rs_graph *graph, forest *f, guint a, guint b)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(beginning));
    if (!add_beginnings(graph, rs_graph_edge(graph, a, b), TRUE, all) ||
        !add_beginnings(graph, rs_graph_edge(graph, b, a), FALSE, all) ||
        all->len == 0 || all->len % 2 != 0) {
        return FALSE;
    }
    g_array_sort(all, by_beginning);
    for (guint i = 0; i < all->len / 2; i++) {
        gboolean forth = g_array_index(all, beginning, i).forth;
        relate(f, forth ? a : b, forth ? b : a);
    }
    return TRUE;
}

/* Both ways everywhere, or one way everywhere. */
static gboolean
find_directions(const rs_graph *graph, guint *both, guint *one)
{
    *both = *one = 0;
    for (guint a = 0; a < graph->n; a++) {
        for (guint b = a + 1; b < graph->n; b++) {
            gboolean forth = rs_graph_edge(graph, a, b) != NULL;
            gboolean back = rs_graph_edge(graph, b, a) != NULL;
            *both += forth && back ? 1 : 0;
            *one += forth != back ? 1 : 0;
        }
    }
    return *both == 0 || *one == 0;
}

static gboolean
relate_all(const rs_graph *graph, rs_group *group, forest *f, gboolean both)
{
    guint most_out = 0;
    for (guint i = 0; i < graph->n; i++) {
        most_out = MAX(most_out, graph->out[i]);
    }
    group->up = both || most_out == 1;
    group->down = both || most_out > 1;
    for (guint a = 0; a < graph->n; a++) {
        for (guint b = 0; b < graph->n; b++) {
            if (rs_graph_edge(graph, a, b) == NULL || (both && b < a)) {
                continue;
            }
            if (both && !relate_by_time(graph, f, a, b)) {
                return FALSE;
            }
            if (!both) {
                relate(f, group->up ? a : b, group->up ? b : a);
            }
        }
    }
    return TRUE;
}

/* ---- trees from who is above whom ---- */

static guint
next_parent(const forest *f, guint child, guint from)
{
    for (guint i = from; i < f->n; i++) {
        if (f->above[child * f->n + i]) {
            return i;
        }
    }
    return NO_PARENT;
}

/* Colours a parent, and by it all those that have to differ from it or from one that
 * differs.  FALSE: they cannot. */
static gboolean
colour_from(const forest *f, guint start, guint *colour)
{
    colour[start] = 0;
    for (gboolean again = TRUE; again;) {
        again = FALSE;
        for (guint child = 0; child < f->n; child++) {
            guint one = next_parent(f, child, 0);
            guint two = one == NO_PARENT ? NO_PARENT : next_parent(f, child, one + 1);
            if (two == NO_PARENT) {
                continue;
            }
            if (next_parent(f, child, two + 1) != NO_PARENT ||
                (colour[one] == colour[two] && colour[one] != NO_COLOUR)) {
                return FALSE;
            }
            if (colour[one] != NO_COLOUR && colour[two] == NO_COLOUR) {
                colour[two] = 1 - colour[one];
                again = TRUE;
            } else if (colour[two] != NO_COLOUR && colour[one] == NO_COLOUR) {
                colour[one] = 1 - colour[two];
                again = TRUE;
            }
        }
    }
    return TRUE;
}

static gboolean
is_parent(const forest *f, guint node)
{
    for (guint child = 0; child < f->n; child++) {
        if (f->above[child * f->n + node]) {
            return TRUE;
        }
    }
    return FALSE;
}

/* Colours all parents, and says of each to which part it belongs whose colours can be
 * exchanged without touching others.  The number of parts; 0: they cannot be coloured. */
static guint
colour_parents(const forest *f, guint *colour, guint *part)
{
    guint parts = 0;
    for (guint i = 0; i < f->n; i++) {
        colour[i] = NO_COLOUR;
        part[i] = 0;
    }
    for (guint i = 0; i < f->n; i++) {
        if (colour[i] != NO_COLOUR || !is_parent(f, i)) {
            continue;
        }
        g_autofree guint *before = g_memdup2(colour, f->n * sizeof *colour);
        if (!colour_from(f, i, colour)) {
            return 0;
        }
        for (guint j = 0; j < f->n; j++) {
            part[j] = before[j] != colour[j] ? parts : part[j];
        }
        parts++;
    }
    return parts;
}

/* The tree of the parents of a colour, or of all.  NULL: it is none. */
static rs_tree *
make_tree(const forest *f, const rs_group *group, const guint *colour, guint wanted)
{
    g_autoptr(GArray) parents = g_array_new(FALSE, FALSE, sizeof(rs_parent));
    g_autofree guint *parent_of = g_new(guint, f->n);
    guint root = NO_PARENT;
    for (guint child = 0; child < f->n; child++) {
        guint parent = next_parent(f, child, 0);
        while (parent != NO_PARENT && colour != NULL && colour[parent] != wanted) {
            parent = next_parent(f, child, parent + 1);
        }
        parent_of[child] = parent;
        if (parent == NO_PARENT && root != NO_PARENT) {
            return NULL;
        }
        if (parent == NO_PARENT) {
            root = child;
            continue;
        }
        const rs_parent entry = {g_array_index(group->nodes, guint32, child),
                                 g_array_index(group->nodes, guint32, parent)};
        g_array_append_val(parents, entry);
    }
    for (guint i = 0; i < f->n; i++) {
        guint at = i;
        for (guint steps = 0; at != NO_PARENT && at != root && steps <= f->n; steps++) {
            at = parent_of[at];
        }
        if (root == NO_PARENT || at != root) {
            return NULL; /* a cycle */
        }
    }
    rs_tree *tree = g_new0(rs_tree, 1);
    tree->root = g_array_index(group->nodes, guint32, root);
    tree->parents = g_steal_pointer(&parents);
    return tree;
}

static gboolean
find_one_tree(const forest *f, rs_group *group)
{
    rs_tree *tree = make_tree(f, group, NULL, 0);
    if (tree != NULL) {
        g_ptr_array_add(group->trees, tree);
    }
    return tree != NULL;
}

/* Tries the ways to colour parents; the first part keeps its colours, since it does not
 * matter which tree is which. */
static gboolean
find_two_trees(const forest *f, rs_group *group)
{
    g_autofree guint *colour = g_new0(guint, f->n);
    g_autofree guint *part = g_new0(guint, f->n);
    g_autofree guint *tried = g_new0(guint, f->n);
    guint parts = colour_parents(f, colour, part);
    guint found = 0;
    for (guint way = 0; parts > 0 && parts <= MOST_PARTS && way < 1u << (parts - 1);
         way++) {
        for (guint i = 0; i < f->n; i++) {
            gboolean swap = part[i] > 0 && (way >> (part[i] - 1) & 1) != 0;
            tried[i] = colour[i] == NO_COLOUR || !swap ? colour[i] : 1 - colour[i];
        }
        rs_tree *one = make_tree(f, group, tried, 0);
        rs_tree *two = one != NULL ? make_tree(f, group, tried, 1) : NULL;
        if (one != NULL && two != NULL && found++ == 0) {
            g_ptr_array_add(group->trees, one);
            g_ptr_array_add(group->trees, two);
            continue;
        }
        g_clear_pointer(&one, rs_tree_free);
        g_clear_pointer(&two, rs_tree_free);
    }
    return found == 1;
}

gboolean
rs_trees_find(const rs_graph *graph, rs_group *group)
{
    guint both;
    guint one;
    g_autofree gboolean *above = g_new0(gboolean, (gsize)graph->n * graph->n);
    forest f = {.n = graph->n, .above = above};
    gboolean found = FALSE;
    if (find_directions(graph, &both, &one) && both + one <= 2 * (graph->n - 1) &&
        relate_all(graph, group, &f, both > 0)) {
        found = (f.relations == f.n - 1 && find_one_tree(&f, group)) ||
                (f.relations == 2 * (f.n - 1) && find_two_trees(&f, group));
    }
    if (!found) {
        g_ptr_array_set_size(group->trees, 0);
        group->up = group->down = FALSE;
    }
    return found;
}
