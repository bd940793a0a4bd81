/* free_wrappers.c - finds functions through which blocks of many kinds pass, such as xmalloc and
 * my_free. */
#include "common/sites/sites.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"

#define FRAMES 6  /* most frames of user code that are inspected in a stack, innermost first */
#define NODES 48  /* most nodes that are inspected in a stack, innermost first */
#define CALLERS 8 /* least number of callers of a wrapper */
#define SIZES 6   /* least number of size classes (powers of two) of the blocks of a wrapper */
/* Replaces CALLERS and SIZES as limit if the function's name ends in "free" or contains a word for
 * allocating. */
#define FEW 3
#define CALLEES 4 /* most functions that are noted as called by an allocating function */
/* Most rounds of the search for parts of wrappers. A part is a function that only wrappers or
 * other parts call, so each round may find more. */
#define ROUNDS 8

struct wrapper_candidate {
    uint64_t name;
    uint64_t sizes; /* a bit for each size class (power of two) of the blocks that passed through
                     * the function */
    uint64_t caller[CALLERS];
    unsigned callers;
    uint64_t callee[CALLEES]; /* name hashes of the functions that this one calls on the way to
                               * malloc or free */
    unsigned callees;         /* number of callee[]; if it is CALLEES there may be more */
    bool gives_back;          /* the function's name is like node_free or xfree */
    bool allocates;           /* the function's name is like node_alloc or zmalloc_usable */
    bool is;
};

/* Stands in free_wrappers.place[] for the place of a stack without a frame of user code. */
static const struct frame no_frame;

static bool is_users(const struct frame *frame)
{
    return frame->role == FRAME_USER && frame->module;
}

/* ---- Inspecting stacks ----------------------------------------------------------------------- */

static struct wrapper_candidate *candidate_of(struct free_wrappers *wrappers,
                                              const struct frame *frame)
{
    uint64_t *slot = hashmap_put(&wrappers->by_name, frame->name_hash, NULL);

    if (!*slot) {
        wrappers->functions = array_grow(wrappers->functions, &wrappers->capacity,
                                         wrappers->count + 1, sizeof(*wrappers->functions));
        wrappers->functions[wrappers->count++] = (struct wrapper_candidate){
            .name = frame->name_hash,
            .gives_back = frame->function && classify_is_release_name(frame->function),
            .allocates = frame->function && classify_is_allocation_name(frame->function)};
        *slot = wrappers->count;
    }
    return &wrappers->functions[*slot - 1];
}

static void add_caller(struct wrapper_candidate *function, uint64_t caller)
{
    if (function->callers == CALLERS || caller == function->name)
        return;
    for (unsigned i = 0; i < function->callers; i++)
        if (function->caller[i] == caller)
            return;
    function->caller[function->callers++] = caller;
}

static void add_callee(struct wrapper_candidate *function, uint64_t callee)
{
    for (unsigned i = 0; i < function->callees; i++)
        if (function->callee[i] == callee)
            return;
    if (function->callees < CALLEES && callee != function->name)
        function->callee[function->callees++] = callee;
}

/* Records callers, callees and block sizes of the innermost user functions of a stack. */
static void add_stack(struct free_wrappers *wrappers, uint32_t node, uint64_t bytes,
                      uint64_t blocks)
{
    const struct store_node *nodes = wrappers->signatures->store->nodes;
    uint64_t size = blocks ? bytes / blocks : 0;
    const struct frame *inner = NULL;
    unsigned frames = 0, steps = 0;

    for (; node >= LEAK_NODE_FIRST && frames < FRAMES && steps < NODES; node = nodes[node].parent) {
        const struct resolved_place *place = signatures_place_at_node(wrappers->signatures, node);

        steps++;
        for (size_t i = 0; place && i < place->count && frames < FRAMES; i++) {
            const struct frame *frame = &place->frames[i];

            if (!is_users(frame))
                continue;
            if (inner) {
                add_caller(candidate_of(wrappers, inner), frame->name_hash);
                add_callee(candidate_of(wrappers, frame), inner->name_hash);
            }
            inner = frame;
            candidate_of(wrappers, inner)->sizes |= 1ull << (63 - __builtin_clzll(size | 1));
            frames++;
        }
    }
}

/* ---- Deciding what is a wrapper -------------------------------------------------------------- */

static bool is_wrapper(const struct free_wrappers *wrappers, uint64_t name)
{
    uint64_t at = hashmap_get(&wrappers->by_name, name);

    return at > 0 && wrappers->functions[at - 1].is;
}

bool free_wrappers_contain(const struct free_wrappers *wrappers, const struct frame *frame)
{
    return is_users(frame) && is_wrapper(wrappers, frame->name_hash);
}

static bool has_sizes(const struct wrapper_candidate *function)
{
    return __builtin_popcountll(function->sizes) >= (function->gives_back ? FEW : SIZES);
}

/* Says whether a function is a wrapper although it has few callers and block sizes: its name
 * contains a word for allocating, and it calls only malloc or wrappers. */
static bool is_named_wrapper(const struct free_wrappers *wrappers,
                             const struct wrapper_candidate *function)
{
    if (!function->allocates || function->callers < FEW || function->callees == CALLEES ||
        __builtin_popcountll(function->sizes) < FEW)
        return false;
    for (unsigned i = 0; i < function->callees; i++)
        if (!is_wrapper(wrappers, function->callee[i]))
            return false;
    return true;
}

static bool is_called_by_wrappers(const struct free_wrappers *wrappers,
                                  const struct wrapper_candidate *function)
{
    for (unsigned i = 0; i < function->callers; i++)
        if (!is_wrapper(wrappers, function->caller[i]))
            return false;
    return function->callers > 0;
}

static void find_wrappers(struct free_wrappers *wrappers)
{
    bool more = true;

    for (size_t i = 0; i < wrappers->count; i++) {
        struct wrapper_candidate *function = &wrappers->functions[i];

        function->is =
            function->callers >= (function->gives_back ? FEW : CALLERS) && has_sizes(function);
    }
    for (int round = 0; more && round < ROUNDS; round++) {
        more = false;
        for (size_t i = 0; i < wrappers->count; i++) {
            struct wrapper_candidate *function = &wrappers->functions[i];

            if (!function->is &&
                (is_named_wrapper(wrappers, function) ||
                 (has_sizes(function) && is_called_by_wrappers(wrappers, function))))
                function->is = more = true;
        }
    }
}

struct free_wrappers free_wrappers_find(struct signatures *signatures)
{
    const struct store *store = signatures->store;
    struct free_wrappers wrappers = {.signatures = signatures};

    for (size_t i = 0; i < store->site_count; i++)
        if (store->sites[i].counts.allocs)
            add_stack(&wrappers, store->sites[i].node, store->sites[i].counts.bytes,
                      store->sites[i].counts.allocs);
    for (size_t i = 0; i < store->freed_count; i++)
        add_stack(&wrappers, store->freed[i].node, store->freed[i].bytes, store->freed[i].blocks);
    find_wrappers(&wrappers);
    wrappers.place = array_grow(NULL, &(size_t){0}, store->node_count + 1, sizeof(*wrappers.place));
    memset(wrappers.place, 0, (store->node_count + 1) * sizeof(*wrappers.place));
    return wrappers;
}

void free_wrappers_end(struct free_wrappers *wrappers)
{
    hashmap_end(&wrappers->by_name);
    free(wrappers->functions);
    free(wrappers->place);
}

/* ---- The place of a stack: its first frame that is no wrapper -------------------------------- */

static const struct frame *first_non_wrapper(const struct free_wrappers *wrappers,
                                             const struct resolved_place *place)
{
    for (size_t i = 0; place && i < place->count; i++)
        if (is_users(&place->frames[i]) && !free_wrappers_contain(wrappers, &place->frames[i]))
            return &place->frames[i];
    return NULL;
}

/* Stores the found place for all nodes from `node` outwards to it, so each node is inspected
 * once. */
const struct frame *free_wrappers_place(struct free_wrappers *wrappers, uint32_t node)
{
    const struct store_node *nodes = wrappers->signatures->store->nodes;
    const struct frame *found = NULL;

    for (uint32_t at = node; at >= LEAK_NODE_FIRST && !found; at = nodes[at].parent)
        found =
            wrappers->place[at]
                ? wrappers->place[at]
                : first_non_wrapper(wrappers, signatures_place_at_node(wrappers->signatures, at));
    if (!found)
        found = &no_frame;
    for (bool on = true; on && node >= LEAK_NODE_FIRST; node = nodes[node].parent) {
        on = !wrappers->place[node] &&
             !first_non_wrapper(wrappers, signatures_place_at_node(wrappers->signatures, node));
        wrappers->place[node] = found;
    }
    return found == &no_frame ? NULL : found;
}
