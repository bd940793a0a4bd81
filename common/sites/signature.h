/* signature.h - the run-stable name of each stack of a store, and its frames.
 *
 * One pass over the context tree from the roots up: signature(node) = mix(signature(caller),
 * names at node), so a million stacks cost one step per node. Names are module base name +
 * function, inlined ones too; no address, no line. Recursion (f f f, and f g f g) counts once.
 */
#ifndef COMMON_SITES_SIGNATURE_H
#define COMMON_SITES_SIGNATURE_H

#include <stdint.h>

#include "common/names/resolve.h"
#include "common/store/store.h"

struct step {
    const struct place *place; /* NULL: not looked up yet, or a leaf or gap without frames */
    uint64_t names, signature;
    uint32_t canon; /* the node this one counts as, when recursion is taken out; or a root */
    uint32_t up;    /* of a canonical node: its caller's canonical node, or a root */
    bool wanted;    /* part of a stack that was asked for */
    bool used;      /* part of a stack that was given out */
};

struct signatures {
    const struct store *store;
    struct resolver *resolver;
    struct step *steps; /* indexed like store->nodes */
    struct map modules; /* struct resolved_module * of stacks wanted or used -> itself */
};

/* Resolve every node that a stack ending in nodes marked by signatures_want() passes. */
struct signatures signatures_begin(struct resolver *resolver, const struct store *store);
void signatures_want(struct signatures *signatures, uint32_t node);
void signatures_resolve(struct signatures *signatures);
void signatures_end(struct signatures *signatures); /* frames stay */

uint64_t signatures_of(const struct signatures *signatures, uint32_t node);

#define TRACE_MAX 4096 /* frames of one record, whatever the store says */

/* The frames at one node, whether it was asked for or not; NULL for a leaf or a gap. */
const struct place *signatures_place(struct signatures *signatures, uint32_t node);

/* Those at a return address that no node has, in whatever was loaded there last. */
const struct place *signatures_last_place(const struct signatures *signatures, uint64_t pc);

/* The frames of a stack, innermost first, into frames[TRACE_MAX]; *ending says how it ended. Its
 * modules are used from here on. Frames of libleak itself, which stands around main and behind
 * malloc, are left out unless there are no others. */
size_t signatures_trace(struct signatures *signatures, uint32_t node, const struct frame **frames,
                        uint32_t *ending);

/* The module of a store, opened. */
struct resolved_module *signatures_module(const struct signatures *signatures,
                                          const struct store_module *at);

/* The same of return addresses, innermost first, in whatever was loaded there last. */
size_t signatures_trace_pcs(const struct signatures *signatures, const uint64_t *pcs, size_t count,
                            const struct frame **frames);

/* The frames at a return address in a module that is known by other means; NULL: it is in none. */
const struct place *signatures_place_in(const struct signatures *signatures,
                                        const struct store_module *at, uint64_t pc);

#endif
