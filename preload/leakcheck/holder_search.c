#include "preload/leakcheck/holder_search.h"
#include "preload/leakcheck/root_owners.h"

/* Ranks a word that points to a block: the higher the rank, the more likely the program uses the
 * block through this word. */
static unsigned holder_rank(const struct leak_holder *holder)
{
    unsigned class = holder->word.root_class;
    unsigned rank = holder->block                        ? 3
                    : class == LEAK_ROOT_CLASS_REGISTERS ? 1
                    : class == LEAK_ROOT_CLASS_STACKS    ? 2
                                                         : 3;
    return 2 * rank + !holder->into;
}

static struct leak_holder describe_holder(const struct root_owners *owners,
                                          const struct leak_pointer *pointer)
{
    struct leak_holder holder = {.word.address = pointer->address,
                                 .block = pointer->block,
                                 .size = pointer->size,
                                 .site = pointer->site,
                                 .into = pointer->offset};
    if (pointer->root)
        holder.word = ((const struct leak_held *)owners->roots.bytes)[pointer->root - 1];
    return holder;
}

/* Says whether a pointer keeps a block reachable: it must not be the address behind the block, and
 * not be stored in the block itself or in a lost block. */
static bool keeps_reachable(const struct reach *reach, const struct leak_pointer *pointer,
                            uint32_t self)
{
    if (pointer->offset && pointer->offset >= reach_size(reach, self))
        return false;
    uint32_t node = pointer->site ? reach_find_node(reach, pointer->block) : REACH_NONE;
    return !pointer->site ||
           (node != REACH_NONE && node != self && reach_verdict(reach, node) != LEAK_VERDICT_LOST);
}

bool holder_search(struct guard *guard, const struct reach *reach, const struct roots *roots,
                   uintptr_t address, struct leak_holder *out)
{
    struct root_owners owners;
    struct growable_array words;
    uint32_t node = reach_find_node(reach, address);
    *out = (struct leak_holder){0};
    if (node == REACH_NONE || reach_address(reach, node) != address)
        return false;
    if (reach_verdict(reach, node) == LEAK_VERDICT_LOST)
        return true;
    if (!root_owners_begin(&owners, reach, roots) ||
        !growable_array_map(&words, sizeof(struct leak_pointer), LEAK_POINTERS))
        return false;
    struct block block = reach_block(reach, node);
    root_owners_add_threads(guard, &owners);
    root_owners_find_referrers(&owners, &block, &words);
    for (uint32_t i = 0; i < words.count; i++) {
        const struct leak_pointer *pointer = (const struct leak_pointer *)words.bytes + i;
        struct leak_holder holder = describe_holder(&owners, pointer);
        if (holder.word.address && keeps_reachable(reach, pointer, node) &&
            (!out->word.address || holder_rank(&holder) > holder_rank(out)))
            *out = holder;
    }
    return true;
}
