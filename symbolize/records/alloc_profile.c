/* alloc_profile.c - see alloc_profile.h. */
#include "symbolize/records/alloc_profile.h"

#include "common/sites/signature.h"
#include "common/sites/stack.h"

void allocated_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
                    struct process *process)
{
    struct signatures signatures = signatures_begin(resolver, store);

    process->allocated = arena_alloc_array(mem, store->site_count, sizeof(*process->allocated));
    for (size_t i = 0; i < store->site_count; i++) {
        const struct store_site *site = &store->sites[i];

        if (!site->inherited && site->counts.allocs)
            process->allocated[process->allocated_count++] =
                (struct allocated){.kind = site->kind,
                                   .blocks = site->counts.allocs,
                                   .bytes = site->counts.bytes,
                                   .stack = stack_of_node(mem, &signatures, site->node)};
    }
    signatures_end(&signatures);
}
