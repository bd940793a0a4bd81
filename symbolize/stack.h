/* stack.h - stacks of a store with names, to keep. */
#ifndef SYMBOLIZE_STACK_H
#define SYMBOLIZE_STACK_H

#include "symbolize/model.h"
#include "symbolize/signature.h"

/* From that node on. */
struct stack stack_of_node(struct mem *mem, struct signatures *signatures, uint32_t node);
/* A return address alone; not for 0. */
struct stack stack_of_pc(struct mem *mem, struct signatures *signatures, uint64_t pc);

#endif
