/* address_info.c - describes the block at an address and the pointers to it; described in
 * heap.h. */
#include "symbolize/heap/heap.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"
#include "common/sites/sites.h"
#include "common/sites/signature.h"

static struct pointer describe_pointer(struct root_paths *paths, const struct leak_pointer *pointer)
{
    const struct store *store = paths->store;
    uint32_t site = store_find_site(store, pointer->site);
    struct pointer made = {.into = pointer->offset};

    if (pointer->root) {
        made.root = roots_describe(&paths->roots, pointer->root - 1);
    } else if (pointer->site) {
        made.block = pointer->block;
        made.size = pointer->size;
        made.offset = pointer->address - pointer->block;
        made.frame = site == STORE_NO_SITE ? NULL : root_paths_site_frame(paths, site);
    }
    return made;
}

/* Ranks pointers for the order of the report: roots with a variable, other roots, blocks, unknown
 * places. */
static int pointer_rank(const struct pointer *pointer)
{
    return pointer->root ? (pointer->root->variable ? 0 : 1) : pointer->block ? 2 : 3;
}

static int compare_pointers(const void *left, const void *right)
{
    const struct pointer *a = left, *b = right;

    if (pointer_rank(a) != pointer_rank(b))
        return pointer_rank(a) - pointer_rank(b);
    return a->block < b->block ? -1 : a->block > b->block;
}

static void fill_pointers(struct arena *mem, const struct store_leak_check *look,
                          struct root_paths *paths, struct address_info *who)
{
    struct pointer *pointers = arena_alloc_array(mem, look->pointer_count, sizeof(*pointers));

    for (size_t i = 0; i < look->pointer_count; i++)
        pointers[i] = describe_pointer(paths, &look->pointers[i]);
    if (look->pointer_count)
        qsort(pointers, look->pointer_count, sizeof(*pointers), compare_pointers);
    who->pointers = pointers;
    who->pointer_count = look->pointer_count;
    who->more = look->pointer_count >= LEAK_POINTERS;
}

/* Returns the verdict of the block at the address that the user asked about. stack: that of its
 * allocation. A block that the C library keeps is "runtime", whatever points to it. */
static enum verdict address_verdict(const struct store_leak_check *look, const struct stack *stack)
{
    const struct leak_asked *asked = &look->head.asked;
    enum leak_verdict verdict = LEAK_VERDICT_NONE;

    if (classify_is_runtime_block(stack->frames, stack->count,
                                  frame_first_user(stack->frames, stack->count), asked->size))
        return VERDICT_RUNTIME;
    if (asked->found && asked->found <= look->found_count)
        verdict = look->found[asked->found - 1].verdict;
    return verdict ? reconcile_verdict(verdict) : VERDICT_UNFREED;
}

static void fill_block(struct arena *mem, const struct store *store, struct signatures *signatures,
                       struct address_info *who)
{
    const struct store_leak_check *look = store->look;
    const struct leak_asked *asked = &look->head.asked;
    uint32_t site = store_find_site(store, asked->site);
    struct root_paths paths;

    if (site == STORE_NO_SITE)
        return;
    paths = root_paths_begin(mem, signatures);
    who->block = asked->block;
    who->size = asked->size;
    who->kind = store->sites[site].kind;
    who->count = asked->count;
    who->thread = block_samples_thread(mem, store, asked->thread);
    who->time_ns = store_time_of_tick(store, asked->tick);
    who->allocated = stack_from_node(mem, signatures, store->sites[site].node);
    who->verdict = address_verdict(look, &who->allocated);
    fill_pointers(mem, look, &paths, who);
    root_paths_end(&paths);
}

void address_info_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                       const struct address_info_options *options, struct process *process)
{
    const struct store_leak_check *look = store->look;
    struct signatures signatures;
    struct address_info *who;

    if (!options->wanted)
        return;
    who = arena_alloc(mem, sizeof(*who));
    who->address = options->address;
    process->who = who;
    if (!look || look->head.asked.address != options->address)
        return;
    who->asked = true;
    signatures = signatures_begin(resolver, store);
    fill_block(mem, store, &signatures, who);
    signatures_end(&signatures);
}
