/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains of elements by the low bits of their hash, at most one element per chain on
 * average. */
#include "index.h"

#include <string.h>

#define LEAST_ELEMENTS 64 /* a power of two */

typedef struct roce_index_link {
    uint64_t hash;
    uint32_t older; /* element + 1; 0 none */
} roce_index_link;

static void
link_element(roce_index *index, uint32_t element)
{
    uint32_t *head = &index->heads[index->links[element].hash & (index->n_heads - 1)];
    index->links[element].older = *head;
    *head = element + 1;
}

/* Makes room for as many chains as elements. */
static bool
grow(roce_index *index, const roce_alloc *alloc)
{
    uint32_t more = index->capacity == 0 ? LEAST_ELEMENTS : index->capacity * 2;
    uint32_t *heads = alloc->resize(alloc->ctx, NULL, more * sizeof *heads);
    if (heads == NULL) {
        return false;
    }
    roce_index_link *links =
        alloc->resize(alloc->ctx, index->links, more * sizeof *links);
    if (links == NULL) {
        alloc->release(alloc->ctx, heads);
        return false;
    }
    if (index->heads != NULL) {
        alloc->release(alloc->ctx, index->heads);
    }
    memset(heads, 0, more * sizeof *heads);
    index->links = links;
    index->heads = heads;
    index->capacity = index->n_heads = more;
    for (uint32_t i = 0; i < index->n; i++) {
        link_element(index, i);
    }
    return true;
}

bool
roce_index_add(roce_index *index, const roce_alloc *alloc, uint64_t hash)
{
    if (index->n == index->capacity && !grow(index, alloc)) {
        return false;
    }
    index->links[index->n].hash = hash;
    link_element(index, index->n);
    index->n++;
    return true;
}

/* From `element` + 1 on along its chain. */
static uint32_t
search(const roce_index *index, uint32_t at, uint64_t hash)
{
    while (at != 0 && index->links[at - 1].hash != hash) {
        at = index->links[at - 1].older;
    }
    return at != 0 ? at - 1 : ROCE_INDEX_END;
}

uint32_t
roce_index_first(const roce_index *index, uint64_t hash)
{
    return index->n == 0
               ? ROCE_INDEX_END
               : search(index, index->heads[hash & (index->n_heads - 1)], hash);
}

uint32_t
roce_index_next(const roce_index *index, uint32_t element)
{
    const roce_index_link *link = &index->links[element];
    return search(index, link->older, link->hash);
}

void
roce_index_clear(roce_index *index, const roce_alloc *alloc)
{
    if (index->links != NULL) {
        alloc->release(alloc->ctx, index->links);
        alloc->release(alloc->ctx, index->heads);
    }
    *index = (roce_index){0};
}
