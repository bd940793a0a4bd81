/* signature.c - computes signatures of all call stacks, and collects the frames of stacks. */
#include "common/sites/signature.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"

struct signatures signatures_begin(struct resolver *resolver, const struct store *store)
{
    struct signatures signatures = {.store = store, .resolver = resolver};

    resolve_set_reader(resolver, store->owner);
    resolve_set_python(resolver, store->code_count > 0);
    signatures.steps =
        array_grow(NULL, &(size_t){0}, store->node_count + 1, sizeof(struct node_signature));
    for (size_t i = 0; i < store->node_count; i++)
        signatures.steps[i] = (struct node_signature){.canon = (uint32_t)i, .up = (uint32_t)i};
    return signatures;
}

void signatures_end(struct signatures *signatures)
{
    hashmap_end(&signatures->modules);
    free(signatures->steps);
    signatures->steps = NULL;
}

void signatures_request(struct signatures *signatures, uint32_t node)
{
    while (node >= LEAK_NODE_FIRST && !signatures->steps[node].wanted) {
        signatures->steps[node].wanted = true;
        node = signatures->store->nodes[node].parent;
    }
}

struct resolved_module *signatures_module(const struct signatures *signatures,
                                          const struct store_module *at)
{
    const char *exe = signatures->store->exe;

    return resolve_module(signatures->resolver,
                          &(struct binary_name){.path = at->path,
                                                .build_id = at->build_id,
                                                .build_id_length = at->build_id_length,
                                                .seen_ns = at->loaded_ns},
                          exe && strcmp(at->path, exe) == 0);
}

/* The frames at a return address. at: the module that contained the address when it was recorded,
 * NULL = none. */
static const struct resolved_place *find_place(const struct signatures *signatures,
                                               const struct store_module *at, uint64_t pc)
{
    if (!at)
        return resolve_unmapped(signatures->resolver, pc - 1);
    return resolve_place(signatures->resolver, signatures_module(signatures, at),
                         pc - 1 - at->bias);
}

const struct resolved_place *signatures_place_in_module(const struct signatures *signatures,
                                                        const struct store_module *at, uint64_t pc)
{
    return find_place(signatures, at, pc);
}

const struct resolved_place *signatures_place_at_pc(const struct signatures *signatures,
                                                    uint64_t pc)
{
    return find_place(signatures, store_find_last_module(signatures->store, pc - 1), pc);
}

static const struct store_module *module_around(const struct signatures *signatures, uint32_t node)
{
    const struct store_node *at = &signatures->store->nodes[node];

    if (store_node_is_python(signatures->store, node))
        return NULL;
    return store_find_module(signatures->store, at->pc - 1, at->number);
}

const struct resolved_place *signatures_place_at_node(struct signatures *signatures, uint32_t node)
{
    struct node_signature *step = &signatures->steps[node];
    uint64_t pc = signatures->store->nodes[node].pc;

    if (!step->place && store_node_is_older(signatures->store, node))
        step->place = resolve_older(signatures->resolver, pc - LEAK_OLDER_PC);
    if (!step->place && store_node_is_python(signatures->store, node))
        step->place = resolve_python(signatures->resolver, store_find_code(signatures->store, node),
                                     pc - LEAK_CODE_PC);
    if (!step->place && pc >= LEAK_KIND_PCS) /* with a smaller pc the node is no frame: it has the
                                              * kind of an allocation (leak_store.h) */
        step->place = find_place(signatures, module_around(signatures, node), pc);
    return step->place;
}

/* The frames at a node. Also marks the node's module as used. */
static const struct resolved_place *use_node_place(struct signatures *signatures, uint32_t node)
{
    const struct resolved_place *place = signatures_place_at_node(signatures, node);
    const struct store_module *at;

    if (place && !signatures->steps[node].used && (at = module_around(signatures, node))) {
        uintptr_t module = (uintptr_t)signatures_module(signatures, at);

        *hashmap_put(&signatures->modules, module, NULL) = module;
    }
    signatures->steps[node].used = true;
    return place;
}

static uint64_t place_names_hash(const struct resolved_place *place)
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

static void resolve_node(struct signatures *signatures, uint32_t index)
{
    struct node_signature *steps = signatures->steps, *step = &steps[index];
    uint32_t parent = signatures->store->nodes[index].parent;
    uint32_t caller = is_node(parent) ? steps[parent].canon : parent;
    uint32_t second, third;

    step->canon = caller;
    if (!use_node_place(signatures, index))
        return;
    if (step->place->frames[0].role == FRAME_ALLOCATOR)
        return; /* frames of allocators are no part of a signature */
    step->names = place_names_hash(step->place);
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
    step->signature = hash_mix(signatures_of_node(signatures, caller), step->names);
}

void signatures_resolve(struct signatures *signatures)
{
    for (uint32_t i = LEAK_NODE_FIRST; i < signatures->store->node_count; i++)
        if (signatures->steps[i].wanted)
            resolve_node(signatures, i);
}

uint64_t signatures_of_node(const struct signatures *signatures, uint32_t node)
{
    if (is_node(node))
        node = signatures->steps[node].canon;
    return is_node(node) ? signatures->steps[node].signature : 6;
}

/* The frames collected from a stack so far. */
struct frame_collector {
    const struct frame **frames;
    size_t count;
    bool own;  /* include frames of libleak */
    bool some; /* at least one frame of libleak was left out */
};

/* Adds to frames[] the frames of one return address: the function, and those inlined into it.
 * False: frames[] is full. */
static bool collect_frames(struct frame_collector *tracing, const struct resolved_place *place)
{
    for (size_t i = 0; place && i < place->count; i++) {
        const struct frame *frame = &place->frames[i];

        if (!tracing->own && classify_is_libleak_frame(frame)) {
            tracing->some = true;
            continue;
        }
        if (tracing->count == TRACE_MAX)
            return false;
        tracing->frames[tracing->count++] = frame;
    }
    return true;
}

static void collect_node_frames(struct signatures *signatures, uint32_t node,
                                struct frame_collector *tracing, uint32_t *ending)
{
    for (; is_node(node); node = signatures->store->nodes[node].parent)
        if (!collect_frames(tracing, use_node_place(signatures, node))) {
            *ending = LEAK_ROOT_DEPTH;
            return;
        }
    *ending = node;
}

size_t signatures_node_frames(struct signatures *signatures, uint32_t node,
                              const struct frame **frames, uint32_t *ending)
{
    struct frame_collector tracing = {.frames = frames};

    collect_node_frames(signatures, node, &tracing, ending);
    if (!tracing.count && tracing.some) {
        tracing.own = true;
        collect_node_frames(signatures, node, &tracing, ending);
    }
    return tracing.count;
}

/* Collects the frames of return addresses, innermost first, each in the module that was loaded
 * last at that address. Returns the number of frames. */
static size_t collect_pc_frames(const struct signatures *signatures, const uint64_t *pcs,
                                size_t count, const struct frame **frames)
{
    struct frame_collector tracing = {.frames = frames};

    for (size_t i = 0; i < count; i++)
        if (pcs[i] && !collect_frames(&tracing, signatures_place_at_pc(signatures, pcs[i])))
            break;
    return tracing.count;
}

static struct stack copy_frames(struct arena *mem, const struct frame **found, size_t count,
                                uint32_t ending)
{
    const struct frame **frames = arena_alloc_array(mem, count, sizeof(*frames));

    if (count)
        memcpy(frames, found, count * sizeof(*frames));
    return (struct stack){frames, count, ending};
}

struct stack stack_from_node(struct arena *mem, struct signatures *signatures, uint32_t node)
{
    const struct frame *found[TRACE_MAX];
    uint32_t ending;
    size_t count;

    if (node == LEAK_ROOT_NONE)
        return (struct stack){.ending = LEAK_ROOT_COMPLETE};
    count = signatures_node_frames(signatures, node, found, &ending);
    return copy_frames(mem, found, count, ending);
}

struct stack stack_from_pc(struct arena *mem, struct signatures *signatures, uint64_t pc)
{
    const struct resolved_place *place = signatures_place_at_pc(signatures, pc);
    const struct frame *found[TRACE_MAX];
    size_t count = 0;

    for (; count < place->count && count < TRACE_MAX; count++)
        found[count] = &place->frames[count];
    return copy_frames(mem, found, count, LEAK_ROOT_COMPLETE);
}

struct stack stack_from_pcs(struct arena *mem, struct signatures *signatures, const uint64_t *pcs,
                            size_t count)
{
    const struct frame *found[TRACE_MAX];

    return copy_frames(mem, found, collect_pc_frames(signatures, pcs, count, found),
                       LEAK_ROOT_COMPLETE);
}

uint64_t stack_signature(const struct stack *stack, uint64_t seed)
{
    uint64_t last = 0;

    for (size_t i = 0; i < stack->count; i++) {
        const struct frame *frame = stack->frames[i];

        if (frame->role == FRAME_ALLOCATOR || frame->name_hash == last)
            continue; /* skip repeated names, since the depth of a recursion may differ between
                       * runs */
        seed = hash_mix(seed, last = frame->name_hash);
    }
    return seed;
}

void stack_make_stable(const struct frame *const *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((struct frame *)frames[i])->has_offset = false;
}

struct thread_ref stack_thread(struct arena *mem, const struct store *store, uint32_t serial)
{
    const struct store_thread *thread = store_find_thread(store, serial);
    struct thread_ref made = {.serial = serial};

    if (thread)
        made.name = arena_copy(mem, thread->name, strlen(thread->name));
    return made;
}
