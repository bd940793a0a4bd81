/* signature.h - computes for each call stack of a recording file its signature, which is equal
 * in every run, and its frames.
 *
 * It visits each node of the context tree once, callers first: signature(node) =
 * mix(signature(caller), names at node). A name is the module's base name (empty for the
 * executable) and the function, inlined ones included; addresses and lines are no part of it. A
 * recursion (f f f, or f g f g) counts once.
 */
#ifndef COMMON_SITES_SIGNATURE_H
#define COMMON_SITES_SIGNATURE_H

#include <stdint.h>

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

struct node_signature {
    const struct resolved_place *place; /* NULL: not resolved yet, or the node is no frame
                                         * (leak_store.h) */
    uint64_t names, signature;
    /* Index of the node that stands for this one in signatures. It is this node itself, unless its
     * frame does not count (a repetition in a recursion, or an allocator): then it is the `canon`
     * of the caller, or an enum leak_root if no caller has a frame that counts. */
    uint32_t canon;
    uint32_t up; /* the `canon` of the caller, or an enum leak_root if there is none; only set in a
                     * node that is its own `canon` */
    bool wanted; /* the node is in a stack that signatures_request() was called for */
    bool used;   /* the node is in a stack that was returned to the caller */
};

struct signatures {
    const struct store *store;
    struct resolver *resolver;
    struct node_signature *steps; /* one for each node, indexed like store->nodes */
    struct hashmap modules;       /* set of the modules that the returned stacks use: address of the
                                   * struct resolved_module -> the same address */
};

/* signatures_resolve() resolves the stacks of all nodes that signatures_request() marked. */
struct signatures signatures_begin(struct resolver *resolver, const struct store *store);
void signatures_request(struct signatures *signatures, uint32_t node);
void signatures_resolve(struct signatures *signatures);
/* Frees what belongs to signatures; frames stay valid. */
void signatures_end(struct signatures *signatures);

uint64_t signatures_of_node(const struct signatures *signatures, uint32_t node);

#define TRACE_MAX 4096 /* most frames of a record, whatever the recording file says */

/* The frames at a node, also one for which signatures_request() was not called; NULL: the node is
 * no frame (leak_store.h). */
const struct resolved_place *signatures_place_at_node(struct signatures *signatures, uint32_t node);

/* The frames at a return address that has no node, in the module that was loaded there last. */
const struct resolved_place *signatures_place_at_pc(const struct signatures *signatures,
                                                    uint64_t pc);

/* The frames at a return address in a given module; `at` NULL: in no module. */
const struct resolved_place *signatures_place_in_module(const struct signatures *signatures,
                                                        const struct store_module *at, uint64_t pc);

/* Writes the frames of a stack, innermost first, into frames[TRACE_MAX] and returns their
 * number; *ending says why the stack ends. Marks their modules as used. Leaves out frames of
 * libleak, which are around main and below malloc, unless there are no others. */
size_t signatures_node_frames(struct signatures *signatures, uint32_t node,
                              const struct frame **frames, uint32_t *ending);

/* Returns the binary of a module of the recording file; the first call for a module opens it. */
struct resolved_module *signatures_module(const struct signatures *signatures,
                                          const struct store_module *at);

/* ---- Stacks of the model (struct stack), copied to mem --------------------------------------- */

/* Makes the stack whose innermost frame is a node; LEAK_ROOT_NONE gives no frames. */
struct stack stack_from_node(struct arena *mem, struct signatures *signatures, uint32_t node);
/* Makes a stack of one return address, which is not 0. */
struct stack stack_from_pc(struct arena *mem, struct signatures *signatures, uint64_t pc);
/* Makes a stack of return addresses, innermost first. */
struct stack stack_from_pcs(struct arena *mem, struct signatures *signatures, const uint64_t *pcs,
                            size_t count);

/* A hash of the names of the frames, without allocators and without repeated names of a direct
 * recursion; it is equal in every run. */
uint64_t stack_signature(const struct stack *stack, uint64_t seed);

/* Clears the offsets of frames, which depend on the loader, so that two runs give the same text.
 * Stacks share frames; clearing one twice does no harm. */
void stack_make_stable(const struct frame *const *frames, size_t count);

/* A thread by its serial number, with its name. */
struct thread_ref stack_thread(struct arena *mem, const struct store *store, uint32_t serial);

#endif
