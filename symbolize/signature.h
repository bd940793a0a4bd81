/* signature.h - the run-stable name of each stack of a store, and its frames.
 *
 * One pass over the context tree from the roots up: signature(node) = mix(signature(caller),
 * names at node), so a million stacks cost one step per node. Names are module base name +
 * function, inlined ones too; no address, no line. Recursion (f f f, and f g f g) counts once.
 */
#ifndef SYMBOLIZE_SIGNATURE_H
#define SYMBOLIZE_SIGNATURE_H

#include <stdint.h>

#include "symbolize/resolve.h"
#include "symbolize/store.h"

struct step {
    const struct place *place; /* NULL: not part of a stack that was asked for */
    uint64_t names, signature;
    uint32_t canon; /* the node this one counts as, when recursion is taken out; or a root */
    uint32_t up;    /* of a canonical node: its caller's canonical node, or a root */
};

struct signatures {
    const struct store *store;
    struct resolver *resolver;
    struct step *steps; /* indexed like store->nodes */
    struct map modules; /* struct resolved_module * used by the stacks -> itself */
};

/* Resolve every node that a stack ending in nodes marked by signatures_want() passes. */
struct signatures signatures_begin(struct resolver *resolver, const struct store *store);
void signatures_want(struct signatures *signatures, uint32_t node);
void signatures_resolve(struct signatures *signatures);
void signatures_end(struct signatures *signatures); /* frames stay */

uint64_t signatures_of(const struct signatures *signatures, uint32_t node);

#define TRACE_MAX 4096 /* frames of one record, whatever the store says */

/* The frames of a stack, innermost first, into frames[TRACE_MAX]; *ending says how it ended. */
size_t signatures_trace(const struct signatures *signatures, uint32_t node,
                        const struct frame **frames, uint32_t *ending);

#endif
