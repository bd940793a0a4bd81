/* roots.h - names for the words outside the heap that lead to blocks.
 *
 * A global by its symbol and, where debug information has it, its line; a word on a stack by the
 * function whose frame it lies in; the rest by the thread or mapping it belongs to. Each is named
 * once, however many paths begin there.
 */
#ifndef SYMBOLIZE_HEAP_ROOTS_H
#define SYMBOLIZE_HEAP_ROOTS_H

#include "common/model/model.h"
#include "common/sites/signature.h"

struct roots {
    struct mem *mem;
    struct signatures *signatures;
    const struct store *store;
    const struct root **named; /* by root of the look; NULL = not asked yet */
};

struct roots roots_begin(struct mem *mem, struct signatures *signatures);
void roots_end(struct roots *roots);

/* index: of the look's roots. */
const struct root *roots_name(struct roots *roots, uint32_t index);

/* The words of a mapping, whose address is another one in each run. */
#define ROOTS_MAPPING "a mapping"

#endif
