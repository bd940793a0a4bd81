/* signature.h - the run-stable signature of each call stack of a recording file, and its frames.
 *
 * One pass over the context tree from the roots up: signature(node) = mix(signature(caller),
 * names at node), so a million stacks cost one step per node. Names are module base name +
 * function, inlined ones included; no address, no line, and no name of the program's own file. Recursion (f f f, and f g f g) counts once.
 */
#ifndef COMMON_SITES_SIGNATURE_H
#define COMMON_SITES_SIGNATURE_H

#include <stdint.h>

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

struct node_signature {
    const struct resolved_place
        *place; /* NULL: not resolved yet, or a leaf or gap without frames */
    uint64_t names, signature;
    uint32_t canon; /* the node that represents this one once recursion is removed; or a root */
    uint32_t up;    /* of a canonical node: its caller's canonical node, or a root */
    bool wanted;    /* part of a requested stack */
    bool used;      /* part of a returned stack */
};

struct signatures {
    const struct store *store;
    struct resolver *resolver;
    struct node_signature *steps; /* indexed like store->nodes */
    struct hashmap modules; /* struct resolved_module * of stacks requested or returned -> itself */
};

/* signatures_resolve() handles every node on the way from the nodes that signatures_request()
 * marked to their roots. */
struct signatures signatures_begin(struct resolver *resolver, const struct store *store);
void signatures_request(struct signatures *signatures, uint32_t node);
void signatures_resolve(struct signatures *signatures);
void signatures_end(struct signatures *signatures); /* frames stay */

uint64_t signatures_of_node(const struct signatures *signatures, uint32_t node);

#define TRACE_MAX 4096 /* frames of one record, whatever the recording file says */

/* The frames at one node, requested or not; NULL for a leaf or a gap. */
const struct resolved_place *signatures_place_at_node(struct signatures *signatures, uint32_t node);

/* The frames at a return address without a node, in the module that was loaded there last. */
const struct resolved_place *signatures_place_at_pc(const struct signatures *signatures,
                                                    uint64_t pc);

/* The frames at a return address in a given module; at NULL: it is in none. */
const struct resolved_place *signatures_place_in_module(const struct signatures *signatures,
                                                        const struct store_module *at, uint64_t pc);

/* The frames of a stack, innermost first, into frames[TRACE_MAX]; *ending says how it ended. Marks
 * its modules as used. Leaves out frames of libleak, which surround main and follow malloc, unless
 * there are no others. */
size_t signatures_node_frames(struct signatures *signatures, uint32_t node,
                              const struct frame **frames, uint32_t *ending);

/* A module of the recording file, opened. */
struct resolved_module *signatures_module(const struct signatures *signatures,
                                          const struct store_module *at);

/* ---- Stacks of the model, copied to mem ------------------------------------------------------ */

/* The stack that ends in a node; LEAK_ROOT_NONE gives no frames. */
struct stack stack_from_node(struct arena *mem, struct signatures *signatures, uint32_t node);
/* A stack with one return address, which is not 0. */
struct stack stack_from_pc(struct arena *mem, struct signatures *signatures, uint64_t pc);
/* Return addresses, innermost first. */
struct stack stack_from_pcs(struct arena *mem, struct signatures *signatures, const uint64_t *pcs,
                            size_t count);

/* A hash of the names of the frames, allocators and direct recursion left out: equal in two
 * runs. */
uint64_t stack_signature(const struct stack *stack, uint64_t seed);

/* Clears offsets, which depend on the loader, so that two runs give the same text. Stacks share
 * frames; clearing one twice is harmless. */
void stack_make_stable(const struct frame *const *frames, size_t count);

/* A thread and its name. */
struct thread_ref stack_thread(struct arena *mem, const struct store *store, uint32_t serial);

#endif
