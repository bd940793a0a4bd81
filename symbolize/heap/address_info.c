/* address_info.c - see address_info.h. */
#include "symbolize/heap/address_info.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/frame_class.h"
#include "symbolize/heap/root_paths.h"
#include "symbolize/heap/block_samples.h"
#include "common/sites/reconcile.h"
#include "common/sites/stack.h"

static struct pointer named(struct paths *paths, const struct leak_pointer *pointer)
{
    const struct store *store = paths->store;
    uint32_t site = store_find_site(store, pointer->site);
    struct pointer made = {.into = pointer->offset};

    if (pointer->root) {
        made.root = roots_name(&paths->roots, pointer->root - 1);
    } else if (pointer->site) {
        made.block = pointer->block;
        made.size = pointer->size;
        made.offset = pointer->address - pointer->block;
        made.frame = site == STORE_NO_SITE ? NULL : paths_title(paths, site);
    }
    return made;
}

/* What names a place says more than a block, and that more than nothing. */
static int rank_of(const struct pointer *pointer)
{
    return pointer->root ? (pointer->root->variable ? 0 : 1) : pointer->block ? 2 : 3;
}

static int by_rank(const void *left, const void *right)
{
    const struct pointer *a = left, *b = right;

    if (rank_of(a) != rank_of(b))
        return rank_of(a) - rank_of(b);
    return a->block < b->block ? -1 : a->block > b->block;
}

static void fill_pointers(struct mem *mem, const struct store_leak_check *look, struct paths *paths,
                          struct who *who)
{
    struct pointer *pointers = arena_alloc_array(mem, look->pointer_count, sizeof(*pointers));

    for (size_t i = 0; i < look->pointer_count; i++)
        pointers[i] = named(paths, &look->pointers[i]);
    if (look->pointer_count)
        qsort(pointers, look->pointer_count, sizeof(*pointers), by_rank);
    who->pointers = pointers;
    who->pointer_count = look->pointer_count;
    who->more = look->pointer_count >= LEAK_POINTERS;
}

/* The C library's own is that, whatever points to it. */
static enum verdict verdict_of(const struct store_leak_check *look, const struct stack *stack)
{
    const struct leak_asked *asked = &look->head.asked;
    enum leak_verdict verdict = LEAK_VERDICT_NONE;

    if (classify_runtime_block(stack->frames, stack->count, frame_first_user(stack->frames, stack->count),
                               asked->size))
        return VERDICT_RUNTIME;
    if (asked->found && asked->found <= look->found_count)
        verdict = look->found[asked->found - 1].verdict;
    return verdict ? settle_verdict(verdict) : VERDICT_UNFREED;
}

static void fill_block(struct mem *mem, const struct store *store, struct signatures *signatures,
                       struct who *who)
{
    const struct store_leak_check *look = store->look;
    const struct leak_asked *asked = &look->head.asked;
    uint32_t site = store_find_site(store, asked->site);
    struct paths paths;

    if (site == STORE_NO_SITE)
        return;
    paths = paths_begin(mem, signatures);
    who->block = asked->block;
    who->size = asked->size;
    who->kind = store->sites[site].kind;
    who->count = asked->count;
    who->thread = samples_thread(mem, store, asked->thread);
    who->time_ns = store_time_of_tick(store, asked->tick);
    who->allocated = stack_of_node(mem, signatures, store->sites[site].node);
    who->verdict = verdict_of(look, &who->allocated);
    fill_pointers(mem, look, &paths, who);
    paths_end(&paths);
}

void who_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
              const struct who_options *options, struct process *process)
{
    const struct store_leak_check *look = store->look;
    struct signatures signatures;
    struct who *who;

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
