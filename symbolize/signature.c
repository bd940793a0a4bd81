/* signature.c - names stacks so that two runs agree; see signature.h. */
#include "symbolize/signature.h"

#include <stdlib.h>

struct signatures signatures_begin(struct resolver *resolver, const struct store *store)
{
    struct signatures signatures = {.store = store, .resolver = resolver};

    signatures.steps = mem_more(NULL, &(size_t){0}, store->node_count + 1, sizeof(struct step));
    for (size_t i = 0; i < store->node_count; i++)
        signatures.steps[i] = (struct step){.canon = (uint32_t)i, .up = (uint32_t)i};
    return signatures;
}

void signatures_end(struct signatures *signatures)
{
    map_end(&signatures->modules);
    free(signatures->steps);
    signatures->steps = NULL;
}

/* Stands in for a place until signatures_resolve() has gone over the tree. */
static const struct place wanted;

void signatures_want(struct signatures *signatures, uint32_t node)
{
    while (node >= LEAK_NODE_FIRST && !signatures->steps[node].place) {
        signatures->steps[node].place = &wanted;
        node = signatures->store->nodes[node].parent;
    }
}

static const struct place *find_place(struct signatures *signatures, const struct store_node *node)
{
    const struct store_module *at = store_module_of(signatures->store, node->pc - 1, node->number);
    struct resolved_module *module;

    if (!at)
        return resolve_nowhere(signatures->resolver, node->pc - 1);
    module = resolve_module(signatures->resolver,
                            &(struct binary_name){.path = at->path,
                                                  .build_id = at->build_id,
                                                  .build_id_length = at->build_id_length,
                                                  .seen_ns = at->loaded_ns});
    *map_put(&signatures->modules, (uintptr_t)module, NULL) = (uintptr_t)module;
    return resolve_place(signatures->resolver, module, node->pc - 1 - at->bias);
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
    const struct store_node *node = &signatures->store->nodes[index];
    struct step *steps = signatures->steps, *step = &steps[index];
    uint32_t caller = is_node(node->parent) ? steps[node->parent].canon : node->parent;
    uint32_t second, third;

    step->canon = caller;
    if (node->pc < LEAK_KIND_PCS) { /* a leaf or a gap: no frame */
        step->place = NULL;
        return;
    }
    step->place = find_place(signatures, node);
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
        if (signatures->steps[i].place)
            resolve_step(signatures, i);
}

uint64_t signatures_of(const struct signatures *signatures, uint32_t node)
{
    if (is_node(node))
        node = signatures->steps[node].canon;
    return is_node(node) ? signatures->steps[node].signature : 6;
}

size_t signatures_trace(const struct signatures *signatures, uint32_t node,
                        const struct frame **frames, uint32_t *ending)
{
    size_t count = 0;

    while (is_node(node)) {
        const struct place *place = signatures->steps[node].place;

        for (size_t i = 0; place && i < place->count; i++) {
            if (count == TRACE_MAX) {
                *ending = LEAK_ROOT_DEPTH;
                return count;
            }
            frames[count++] = &place->frames[i];
        }
        node = signatures->store->nodes[node].parent;
    }
    *ending = node;
    return count;
}
