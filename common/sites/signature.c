/* signature.c - names stacks so that two runs agree; see signature.h. */
#include "common/sites/signature.h"

#include <stdlib.h>

#include "common/names/frame_class.h"

struct signatures signatures_begin(struct resolver *resolver, const struct store *store)
{
    struct signatures signatures = {.store = store, .resolver = resolver};

    signatures.steps = array_grow(NULL, &(size_t){0}, store->node_count + 1, sizeof(struct step));
    for (size_t i = 0; i < store->node_count; i++)
        signatures.steps[i] = (struct step){.canon = (uint32_t)i, .up = (uint32_t)i};
    return signatures;
}

void signatures_end(struct signatures *signatures)
{
    hashmap_end(&signatures->modules);
    free(signatures->steps);
    signatures->steps = NULL;
}

void signatures_want(struct signatures *signatures, uint32_t node)
{
    while (node >= LEAK_NODE_FIRST && !signatures->steps[node].wanted) {
        signatures->steps[node].wanted = true;
        node = signatures->store->nodes[node].parent;
    }
}

struct resolved_module *signatures_module(const struct signatures *signatures,
                                          const struct store_module *at)
{
    return resolve_module(signatures->resolver,
                          &(struct binary_name){.path = at->path,
                                                .build_id = at->build_id,
                                                .build_id_length = at->build_id_length,
                                                .seen_ns = at->loaded_ns});
}

/* at: what lay around pc then, NULL = nothing known. */
static const struct place *find_place(const struct signatures *signatures,
                                      const struct store_module *at, uint64_t pc)
{
    if (!at)
        return resolve_nowhere(signatures->resolver, pc - 1);
    return resolve_place(signatures->resolver, signatures_module(signatures, at),
                         pc - 1 - at->bias);
}

const struct place *signatures_place_in(const struct signatures *signatures,
                                        const struct store_module *at, uint64_t pc)
{
    return find_place(signatures, at, pc);
}

const struct place *signatures_last_place(const struct signatures *signatures, uint64_t pc)
{
    return find_place(signatures, store_find_last_module(signatures->store, pc - 1), pc);
}

static const struct store_module *module_around(const struct signatures *signatures, uint32_t node)
{
    const struct store_node *at = &signatures->store->nodes[node];

    return store_find_module(signatures->store, at->pc - 1, at->number);
}

const struct place *signatures_place(struct signatures *signatures, uint32_t node)
{
    struct step *step = &signatures->steps[node];
    uint64_t pc = signatures->store->nodes[node].pc;

    if (!step->place && pc >= LEAK_KIND_PCS) /* else a leaf or a gap: no frame */
        step->place = find_place(signatures, module_around(signatures, node), pc);
    return step->place;
}

/* The same, and its module is used. */
static const struct place *use_place(struct signatures *signatures, uint32_t node)
{
    const struct place *place = signatures_place(signatures, node);
    const struct store_module *at;

    if (place && !signatures->steps[node].used && (at = module_around(signatures, node))) {
        uintptr_t module = (uintptr_t)signatures_module(signatures, at);

        *hashmap_put(&signatures->modules, module, NULL) = module;
    }
    signatures->steps[node].used = true;
    return place;
}

static uint64_t names_of(const struct place *place)
{
    uint64_t names = 5;

    for (size_t i = place->count; i > 0; i--)
        names = hash_mix(names, place->frames[i - 1].name_hash);
    return names;
}

static bool is_node(uint32_t index)
{
    return index >= LEAK_NODE_FIRST;
}

static void resolve_step(struct signatures *signatures, uint32_t index)
{
    struct step *steps = signatures->steps, *step = &steps[index];
    uint32_t parent = signatures->store->nodes[index].parent;
    uint32_t caller = is_node(parent) ? steps[parent].canon : parent;
    uint32_t second, third;

    step->canon = caller;
    if (!use_place(signatures, index))
        return;
    if (step->place->frames[0].role == FRAME_ALLOCATOR)
        return; /* how malloc got at us is no part of the name */
    step->names = names_of(step->place);
    if (is_node(caller)) {
        if (steps[caller].names == step->names)
            return;
        second = steps[caller].up;
        third = is_node(second) ? steps[second].up : second;
        if (is_node(third) && steps[second].names == step->names &&
            steps[third].names == steps[caller].names) {
            step->canon = second;
            return;
        }
    }
    step->canon = index;
    step->up = caller;
    step->signature = hash_mix(signatures_of(signatures, caller), step->names);
}

void signatures_resolve(struct signatures *signatures)
{
    for (uint32_t i = LEAK_NODE_FIRST; i < signatures->store->node_count; i++)
        if (signatures->steps[i].wanted)
            resolve_step(signatures, i);
}

uint64_t signatures_of(const struct signatures *signatures, uint32_t node)
{
    if (is_node(node))
        node = signatures->steps[node].canon;
    return is_node(node) ? signatures->steps[node].signature : 6;
}

/* Frames given out so far; those of libleak only when asked for. */
struct tracing {
    const struct frame **frames;
    size_t count;
    bool own;  /* libleak's, too */
    bool some; /* of libleak's were left out */
};

/* False: there is no room for all. */
static bool add_frames(struct tracing *tracing, const struct place *place)
{
    for (size_t i = 0; place && i < place->count; i++) {
        const struct frame *frame = &place->frames[i];

        if (!tracing->own && classify_own_frame(frame)) {
            tracing->some = true;
            continue;
        }
        if (tracing->count == TRACE_MAX)
            return false;
        tracing->frames[tracing->count++] = frame;
    }
    return true;
}

static void trace_node(struct signatures *signatures, uint32_t node, struct tracing *tracing,
                       uint32_t *ending)
{
    for (; is_node(node); node = signatures->store->nodes[node].parent)
        if (!add_frames(tracing, use_place(signatures, node))) {
            *ending = LEAK_ROOT_DEPTH;
            return;
        }
    *ending = node;
}

size_t signatures_trace(struct signatures *signatures, uint32_t node, const struct frame **frames,
                        uint32_t *ending)
{
    struct tracing tracing = {.frames = frames};

    trace_node(signatures, node, &tracing, ending);
    if (!tracing.count && tracing.some) {
        tracing.own = true;
        trace_node(signatures, node, &tracing, ending);
    }
    return tracing.count;
}

size_t signatures_trace_pcs(const struct signatures *signatures, const uint64_t *pcs, size_t count,
                            const struct frame **frames)
{
    struct tracing tracing = {.frames = frames};

    for (size_t i = 0; i < count; i++)
        if (pcs[i] && !add_frames(&tracing, signatures_last_place(signatures, pcs[i])))
            break;
    return tracing.count;
}
