/* growable_array.h - a table that grows in memory which is touched only as far as it is used.
 *
 * For the child of a look.
 */
#ifndef PRELOAD_BASE_GROWABLE_ARRAY_H
#define PRELOAD_BASE_GROWABLE_ARRAY_H

#include "preload/base/sys.h"

struct growing {
    char *bytes;
    size_t size; /* of a record */
    uint32_t count, most;
};

static inline bool growing_begin(struct growing *table, size_t record, uint32_t most)
{
    *table = (struct growing){.size = record, .most = most};
    return (table->bytes = sys_map_lazily((size_t)most * record)) != NULL;
}

static inline void growing_end(struct growing *table)
{
    sys_unmap(table->bytes, (size_t)table->most * table->size);
    *table = (struct growing){0};
}

/* A zeroed record; NULL: the table is full. */
static inline void *growing_add(struct growing *table)
{
    return table->count < table->most ? table->bytes + table->size * table->count++ : NULL;
}

/* So many records in one piece. */
static inline void *growing_add_bytes(struct growing *table, uint32_t count)
{
    void *made = table->bytes + table->size * table->count;
    if (table->most - table->count < count)
        return NULL;
    table->count += count;
    return made;
}

#endif
