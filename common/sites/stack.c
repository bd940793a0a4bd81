/* stack.c - see stack.h. */
#include "common/sites/stack.h"

#include <string.h>

static struct stack keep(struct mem *mem, const struct frame **found, size_t count, uint32_t ending)
{
    const struct frame **frames = arena_alloc_array(mem, count, sizeof(*frames));

    if (count)
        memcpy(frames, found, count * sizeof(*frames));
    return (struct stack){frames, count, ending};
}

struct stack stack_of_node(struct mem *mem, struct signatures *signatures, uint32_t node)
{
    const struct frame *found[TRACE_MAX];
    uint32_t ending;
    size_t count;

    if (node == LEAK_ROOT_NONE)
        return (struct stack){.ending = LEAK_ROOT_COMPLETE};
    count = signatures_trace(signatures, node, found, &ending);
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

struct stack stack_of_pcs(struct mem *mem, struct signatures *signatures, const uint64_t *pcs,
                          size_t count)
{
    const struct frame *found[TRACE_MAX];

    return keep(mem, found, signatures_trace_pcs(signatures, pcs, count, found),
                LEAK_ROOT_COMPLETE);
}

uint64_t stack_signature(const struct stack *stack, uint64_t seed)
{
    uint64_t last = 0;

    for (size_t i = 0; i < stack->count; i++) {
        const struct frame *frame = stack->frames[i];

        if (frame->role == FRAME_ALLOCATOR || frame->name_hash == last)
            continue; /* recursion may go deeper in another run */
        seed = hash_mix(seed, last = frame->name_hash);
    }
    return seed;
}

void stack_make_stable(const struct frame *const *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((struct frame *)frames[i])->has_offset = false;
}

struct thread_ref stack_thread(struct mem *mem, const struct store *store, uint32_t serial)
{
    const struct store_thread *thread = store_find_thread(store, serial);
    struct thread_ref made = {.serial = serial};

    if (thread)
        made.name = arena_copy(mem, thread->name, strlen(thread->name));
    return made;
}
