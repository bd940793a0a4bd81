/* recent_frees.c - names for recent frees; see recent_frees.h. */
#include "symbolize/faults/recent_frees.h"

#include <string.h>

#include "common/sites/signature.h"
#include "common/sites/stack.h"

struct filling {
    struct mem *mem;
    const struct store *store;
    struct signatures signatures;
};

static struct recent_free named(struct filling *filling, const struct store_recent *recent)
{
    const struct store *store = filling->store;
    struct recent_free made = {.address = recent->address,
                               .time_ns = store_time_of_tick(store, recent->tick),
                               .thread = stack_thread(filling->mem, store, recent->thread),
                               .whole = recent->node != LEAK_ROOT_NONE};

    made.freed = made.whole ? stack_of_node(filling->mem, &filling->signatures, recent->node)
                            : stack_of_pc(filling->mem, &filling->signatures, recent->pc);
    if (recent->site != STORE_NO_SITE) {
        made.kind = store->sites[recent->site].kind;
        made.allocated =
            stack_of_node(filling->mem, &filling->signatures, store->sites[recent->site].node);
    }
    return made;
}

void recent_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
                 const struct recent_options *options, struct process *process)
{
    struct filling filling = {.mem = mem, .store = store};

    process->recent_known = store->recent_count;
    if (!options->all && !options->one)
        return;
    process->recent = arena_alloc_array(mem, store->recent_count, sizeof(*process->recent));
    filling.signatures = signatures_begin(resolver, store);
    for (size_t i = 0; i < store->recent_count; i++)
        if (!options->one || store->recent[i].address == options->address)
            process->recent[process->recent_count++] = named(&filling, &store->recent[i]);
    signatures_end(&filling.signatures);
}
