/* stack.h - stacks of a store with names, to keep. */
#ifndef COMMON_SITES_STACK_H
#define COMMON_SITES_STACK_H

#include "common/model/model.h"
#include "common/sites/signature.h"

/* From that node on; LEAK_ROOT_NONE gives no frames. */
struct stack stack_of_node(struct mem *mem, struct signatures *signatures, uint32_t node);
/* A return address alone; not for 0. */
struct stack stack_of_pc(struct mem *mem, struct signatures *signatures, uint64_t pc);
/* Return addresses, innermost first. */
struct stack stack_of_pcs(struct mem *mem, struct signatures *signatures, const uint64_t *pcs,
                          size_t count);

/* What two runs agree on: the names of the frames, but how an allocator got there. */
uint64_t stack_signature(const struct stack *stack, uint64_t seed);

/* Takes away what the loader chose, so that two runs give the same text. A frame is shared by many,
 * so it is cleared more than once, to the same. */
void stack_make_stable(const struct frame *const *frames, size_t count);

/* The thread and its name. */
struct thread_ref stack_thread(struct mem *mem, const struct store *store, uint32_t serial);

#endif
