/* stack.c - see stack.h. */
#include "symbolize/stack.h"

#include <string.h>

static struct stack keep(struct mem *mem, const struct frame **found, size_t count, uint32_t ending)
{
    const struct frame **frames = mem_take_array(mem, count, sizeof(*frames));

    if (count)
        memcpy(frames, found, count * sizeof(*frames));
    return (struct stack){frames, count, ending};
}

struct stack stack_of_node(struct mem *mem, struct signatures *signatures, uint32_t node)
{
    const struct frame *found[TRACE_MAX];
    uint32_t ending;
    size_t count = signatures_trace(signatures, node, found, &ending);

    return keep(mem, found, count, ending);
}

struct stack stack_of_pc(struct mem *mem, struct signatures *signatures, uint64_t pc)
{
    const struct place *place = signatures_last_place(signatures, pc);
    const struct frame *found[TRACE_MAX];
    size_t count = 0;

    for (; count < place->count && count < TRACE_MAX; count++)
        found[count] = &place->frames[count];
    return keep(mem, found, count, LEAK_ROOT_COMPLETE);
}
