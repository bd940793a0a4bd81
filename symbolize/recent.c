/* recent.c - names for recent frees; see recent.h. */
#include "symbolize/recent.h"

#include <string.h>

#include "symbolize/signature.h"

struct filling {
    struct mem *mem;
    const struct store *store;
    struct signatures signatures;
};

static struct stack keep(struct filling *filling, const struct frame **found, size_t count,
                         uint32_t ending)
{
    const struct frame **frames = mem_take_array(filling->mem, count, sizeof(*frames));

    if (count)
        memcpy(frames, found, count * sizeof(*frames));
    return (struct stack){frames, count, ending};
}

static struct stack whole_stack(struct filling *filling, uint32_t node)
{
    const struct frame *found[TRACE_MAX];
    uint32_t ending;
    size_t count = signatures_trace(&filling->signatures, node, found, &ending);

    return keep(filling, found, count, ending);
}

/* A return address alone. */
static struct stack frames_at(struct filling *filling, uint64_t pc)
{
    const struct place *place = signatures_last_place(&filling->signatures, pc);
    const struct frame *found[TRACE_MAX];
    size_t count = 0;

    for (; count < place->count && count < TRACE_MAX; count++)
        found[count] = &place->frames[count];
    return keep(filling, found, count, LEAK_ROOT_COMPLETE);
}

static struct recent_free named(struct filling *filling, const struct store_recent *recent)
{
    const struct store *store = filling->store;
    const struct store_thread *thread = store_thread_of(store, recent->thread);
    struct recent_free made = {.address = recent->address,
                               .time_ns = store_time(store, recent->tick),
                               .thread.serial = recent->thread,
                               .whole = recent->node != LEAK_ROOT_NONE};

    if (thread)
        made.thread.name = mem_copy(filling->mem, thread->name, strlen(thread->name));
    made.freed = made.whole ? whole_stack(filling, recent->node) : frames_at(filling, recent->pc);
    if (recent->site != STORE_NO_SITE) {
        made.kind = store->sites[recent->site].kind;
        made.allocated = whole_stack(filling, store->sites[recent->site].node);
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
    process->recent = mem_take_array(mem, store->recent_count, sizeof(*process->recent));
    filling.signatures = signatures_begin(resolver, store);
    for (size_t i = 0; i < store->recent_count; i++)
        if (!options->one || store->recent[i].address == options->address)
            process->recent[process->recent_count++] = named(&filling, &store->recent[i]);
    signatures_end(&filling.signatures);
}
