/* free_wrappers.c - tells functions that everything passes through; see free_wrappers.h. */
#include "common/sites/free_wrappers.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/frame_class.h"

#define FRAMES 6  /* of the user's code in each stack that are looked at … */
#define NODES 48  /* … on the first so many nodes */
#define CALLERS 8 /* functions that call a funnel, at least … */
#define SIZES 6   /* … and powers of two its blocks' sizes lie between */
#define FEW 3     /* … and of both, if its name says "free" */
#define ROUNDS 8  /* of finding parts of funnels: each may make its own callees parts */

struct funnel {
    uint64_t name;
    uint64_t sizes; /* a bit for each power of two */
    uint64_t caller[CALLERS];
    unsigned callers;
    bool gives_back; /* by its name: node_free or xfree */
    bool is;
};

/* Stands for "no frame of the user's in this stack". */
static const struct frame nobody;

static bool is_users(const struct frame *frame)
{
    return frame->role == FRAME_USER && frame->module;
}

/* ---- Looking at stacks ----------------------------------------------------------------------- */

static struct funnel *function_of(struct funnels *funnels, const struct frame *frame)
{
    uint64_t *slot = hashmap_put(&funnels->by_name, frame->name_hash, NULL);

    if (!*slot) {
        funnels->functions = array_grow(funnels->functions, &funnels->capacity, funnels->count + 1,
                                      sizeof(*funnels->functions));
        funnels->functions[funnels->count++] =
            (struct funnel){.name = frame->name_hash,
                            .gives_back = frame->function && classify_gives_back(frame->function)};
        *slot = funnels->count;
    }
    return &funnels->functions[*slot - 1];
}

static void add_caller(struct funnel *function, uint64_t caller)
{
    if (function->callers == CALLERS || caller == function->name)
        return;
    for (unsigned i = 0; i < function->callers; i++)
        if (function->caller[i] == caller)
            return;
    function->caller[function->callers++] = caller;
}

/* One stack: who calls whom in its innermost frames, for blocks of that size. */
static void look_at(struct funnels *funnels, uint32_t node, uint64_t bytes, uint64_t blocks)
{
    const struct store_node *nodes = funnels->signatures->store->nodes;
    uint64_t size = blocks ? bytes / blocks : 0;
    const struct frame *inner = NULL;
    unsigned frames = 0, steps = 0;

    for (; node >= LEAK_NODE_FIRST && frames < FRAMES && steps < NODES; node = nodes[node].parent) {
        const struct place *place = signatures_place(funnels->signatures, node);

        steps++;
        for (size_t i = 0; place && i < place->count && frames < FRAMES; i++) {
            const struct frame *frame = &place->frames[i];

            if (!is_users(frame))
                continue;
            if (inner)
                add_caller(function_of(funnels, inner), frame->name_hash);
            inner = frame;
            function_of(funnels, inner)->sizes |= 1ull << (63 - __builtin_clzll(size | 1));
            frames++;
        }
    }
}

/* ---- Judging --------------------------------------------------------------------------------- */

static bool is_funnel(const struct funnels *funnels, uint64_t name)
{
    uint64_t at = hashmap_get(&funnels->by_name, name);

    return at > 0 && funnels->functions[at - 1].is;
}

bool funnels_is(const struct funnels *funnels, const struct frame *frame)
{
    return is_users(frame) && is_funnel(funnels, frame->name_hash);
}

static bool has_sizes(const struct funnel *function)
{
    return __builtin_popcountll(function->sizes) >= (function->gives_back ? FEW : SIZES);
}

static bool called_by_funnels(const struct funnels *funnels, const struct funnel *function)
{
    for (unsigned i = 0; i < function->callers; i++)
        if (!is_funnel(funnels, function->caller[i]))
            return false;
    return function->callers > 0;
}

static void judge(struct funnels *funnels)
{
    bool more = true;

    for (size_t i = 0; i < funnels->count; i++) {
        struct funnel *function = &funnels->functions[i];

        function->is =
            function->callers >= (function->gives_back ? FEW : CALLERS) && has_sizes(function);
    }
    for (int round = 0; more && round < ROUNDS; round++) {
        more = false;
        for (size_t i = 0; i < funnels->count; i++) {
            struct funnel *function = &funnels->functions[i];

            if (!function->is && has_sizes(function) && called_by_funnels(funnels, function))
                function->is = more = true;
        }
    }
}

struct funnels funnels_find(struct signatures *signatures)
{
    const struct store *store = signatures->store;
    struct funnels funnels = {.signatures = signatures};

    for (size_t i = 0; i < store->site_count; i++)
        if (store->sites[i].counts.allocs)
            look_at(&funnels, store->sites[i].node, store->sites[i].counts.bytes,
                    store->sites[i].counts.allocs);
    for (size_t i = 0; i < store->freed_count; i++)
        look_at(&funnels, store->freed[i].node, store->freed[i].bytes, store->freed[i].blocks);
    judge(&funnels);
    funnels.place = array_grow(NULL, &(size_t){0}, store->node_count + 1, sizeof(*funnels.place));
    memset(funnels.place, 0, (store->node_count + 1) * sizeof(*funnels.place));
    return funnels;
}

void funnels_end(struct funnels *funnels)
{
    hashmap_end(&funnels->by_name);
    free(funnels->functions);
    free(funnels->place);
}

/* ---- The place of a stack -------------------------------------------------------------------- */

static const struct frame *frame_at(const struct funnels *funnels, const struct place *place)
{
    for (size_t i = 0; place && i < place->count; i++)
        if (is_users(&place->frames[i]) && !funnels_is(funnels, &place->frames[i]))
            return &place->frames[i];
    return NULL;
}

/* All nodes on the way to the place have the same one, so each is looked at once. */
const struct frame *funnels_place(struct funnels *funnels, uint32_t node)
{
    const struct store_node *nodes = funnels->signatures->store->nodes;
    const struct frame *found = NULL;

    for (uint32_t at = node; at >= LEAK_NODE_FIRST && !found; at = nodes[at].parent)
        found = funnels->place[at] ? funnels->place[at]
                                   : frame_at(funnels, signatures_place(funnels->signatures, at));
    if (!found)
        found = &nobody;
    for (bool on = true; on && node >= LEAK_NODE_FIRST; node = nodes[node].parent) {
        on = !funnels->place[node] &&
             !frame_at(funnels, signatures_place(funnels->signatures, node));
        funnels->place[node] = found;
    }
    return found == &nobody ? NULL : found;
}
