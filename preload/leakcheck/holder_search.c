#include "preload/leakcheck/holder_search.h"
#include "preload/leakcheck/root_owners.h"

/* ---- Blocks below the block -------------------------------------------------------------------
 * The nodes of a std::map that is a member of a block point back to it, but the program reaches
 * them through the block only. So a pointer in a block to which pointers lead from the followed
 * block keeps that block reachable only if pointers from elsewhere lead to it, too. */

enum {
    BELOW = 1,     /* pointers lead from the followed block to the node */
    BY_OTHERS = 2, /* BELOW, and pointers lead to it from variables or from blocks that are not */
    BY_STACK = 4,  /* BELOW, and pointers lead to it from a stack */
};

struct below {
    const struct reach *reach;
    const struct roots *roots;
    uint32_t self;         /* the node of the followed block */
    uint8_t *state;        /* by node: a set of the values above */
    uintptr_t *stack_word; /* by node: struct holder_found */
    uint32_t *queue, head, tail;
};

static void visit_range(struct below *below, uintptr_t start, uintptr_t end, bool starts_only,
                        unsigned bit)
{
    for (uintptr_t at = round_up(start, sizeof at); at + sizeof at <= end; at += sizeof at) {
        uintptr_t pointer = arch_address(*(void *const volatile *)at);
        uint32_t node = reach_find_node(below->reach, pointer);
        if (node == REACH_NONE || node == below->self || below->state[node] & bit)
            continue;
        uint64_t offset = pointer - reach_address(below->reach, node);
        if ((bit != BELOW && !(below->state[node] & BELOW)) || (offset && starts_only) ||
            (offset && offset >= reach_size(below->reach, node)))
            continue;
        below->state[node] |= bit;
        below->queue[below->tail++] = node;
    }
}

static void visit_node(struct below *below, uint32_t node, unsigned bit)
{
    uintptr_t start = reach_address(below->reach, node);
    visit_range(below, start, start + reach_size(below->reach, node), false, bit);
}

/* Gives the bit to all nodes to which pointers lead from those in the queue. stack_word: the word on
 * a stack that leads to these; 0: none. */
static void spread(struct below *below, unsigned bit, uintptr_t stack_word)
{
    while (below->head < below->tail) {
        uint32_t node = below->queue[below->head++];
        if (stack_word)
            below->stack_word[node] = stack_word;
        visit_node(below, node, bit);
    }
    below->head = below->tail = 0;
}

static bool is_stack(const struct scan_range *range)
{
    return range->root_class == LEAK_ROOT_CLASS_STACKS ||
           range->root_class == LEAK_ROOT_CLASS_REGISTERS;
}

static void visit_roots(struct below *below)
{
    const struct scan_ranges *ranges = &below->roots->ranges;
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct scan_range *range = &ranges->range[i];
        if (!is_stack(range))
            visit_range(below, range->start, range->end, range->starts_only, BY_OTHERS);
    }
}

/* Visits the words of a stack from the outermost one on, each with all blocks to which it leads. */
static void visit_stack(struct below *below, const struct scan_range *range)
{
    for (uintptr_t at = range->end & -sizeof at; at > range->start;) {
        at -= sizeof at;
        visit_range(below, at, at + sizeof at, false, BY_STACK);
        spread(below, BY_STACK, at);
    }
}

/* Finds the blocks below the block, and which of them are reachable without it. False: there is no
 * memory. */
static bool find_below(struct below *below, const struct reach *reach, const struct roots *roots,
                       uint32_t self)
{
    uint32_t nodes = reach_count(reach);
    *below = (struct below){.reach = reach, .roots = roots, .self = self};
    below->state = sys_map_lazily(nodes);
    below->queue = sys_map_lazily((size_t)nodes * sizeof *below->queue);
    below->stack_word = sys_map_lazily((size_t)nodes * sizeof *below->stack_word);
    if (!below->state || !below->queue || !below->stack_word)
        return false;
    visit_node(below, self, BELOW);
    if (!below->tail)
        return true;
    spread(below, BELOW, 0);
    visit_roots(below);
    for (uint32_t node = 0; node < nodes; node++)
        if (node != self && !(below->state[node] & BELOW) &&
            reach_verdict(reach, node) != LEAK_VERDICT_LOST)
            visit_node(below, node, BY_OTHERS);
    spread(below, BY_OTHERS, 0);
    for (uint32_t i = 0; i < roots->ranges.count; i++)
        if (is_stack(&roots->ranges.range[i]))
            visit_stack(below, &roots->ranges.range[i]);
    return true;
}

/* ---- Words that point to the block ----------------------------------------------------------- */

/* Ranks a word that points to a block: the higher the rank, the more likely the program uses the
 * block through this word. */
static unsigned holder_rank(const struct holder_found *found)
{
    const struct leak_holder *holder = &found->holder;
    unsigned class = holder->word.root_class;
    unsigned rank = found->stack_word                    ? 2
                    : holder->block                      ? 3
                    : class == LEAK_ROOT_CLASS_REGISTERS ? 1
                    : class == LEAK_ROOT_CLASS_STACKS    ? 2
                                                         : 3;
    return 2 * rank + !holder->into;
}

/* Says whether one word is better than the other: by rank; if one of them counts only because of a
 * word on a stack, by which of these words is further out. */
static bool is_better(const struct holder_found *one, const struct holder_found *other)
{
    uintptr_t word = one->stack_word ?: one->holder.word.address;
    uintptr_t of_other = other->stack_word ?: other->holder.word.address;
    if (holder_rank(one) / 2 != holder_rank(other) / 2 || !(one->stack_word || other->stack_word))
        return holder_rank(one) > holder_rank(other);
    return word > of_other;
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

/* Says whether a pointer is the address behind the block, which may be that of the next one. */
static bool points_behind(const struct below *below, const struct leak_pointer *pointer)
{
    return pointer->offset && pointer->offset >= reach_size(below->reach, below->self);
}

/* Says whether a pointer keeps the block reachable: it must not be the address behind the block, and
 * not be stored in the block itself, in a lost block, or in one that is reachable through the block
 * only. Sets found->below and found->stack_word. */
static bool keeps_reachable(const struct below *below, const struct leak_pointer *pointer,
                            struct holder_found *found)
{
    if (points_behind(below, pointer))
        return false;
    if (!pointer->site)
        return true;
    uint32_t node = reach_find_node(below->reach, pointer->block);
    if (node == REACH_NONE || node == below->self ||
        reach_verdict(below->reach, node) == LEAK_VERDICT_LOST)
        return false;
    unsigned state = below->state[node];
    found->below = state & BELOW;
    if (!found->below || state & BY_OTHERS)
        return true;
    found->stack_word = below->stack_word[node];
    return state & BY_STACK;
}

/* Says whether a pointer to a lost block is stored in another lost block to which no pointers lead from
 * this one: then this one was lost with that one. */
static bool is_in_lost_block(const struct below *below, const struct leak_pointer *pointer)
{
    if (!pointer->site || points_behind(below, pointer))
        return false;
    uint32_t node = reach_find_node(below->reach, pointer->block);
    return node != REACH_NONE && node != below->self && !(below->state[node] & BELOW) &&
           reach_verdict(below->reach, node) == LEAK_VERDICT_LOST;
}

bool holder_search(struct guard *guard, const struct reach *reach, const struct roots *roots,
                   uintptr_t address, struct holder_found *out)
{
    struct root_owners owners;
    struct growable_array words;
    struct below below;
    uint32_t node = reach_find_node(reach, address);
    *out = (struct holder_found){0};
    if (node == REACH_NONE || reach_address(reach, node) != address)
        return false;
    bool lost = reach_verdict(reach, node) == LEAK_VERDICT_LOST;
    if (!root_owners_begin(&owners, reach, roots) ||
        !growable_array_map(&words, sizeof(struct leak_pointer), LEAK_POINTERS) ||
        !find_below(&below, reach, roots, node))
        return lost;
    struct block block = reach_block(reach, node);
    root_owners_add_threads(guard, &owners);
    root_owners_find_referrers(&owners, &block, &words);
    for (uint32_t i = 0; i < words.count; i++) {
        const struct leak_pointer *pointer = (const struct leak_pointer *)words.bytes + i;
        struct holder_found found = {.holder = describe_holder(&owners, pointer)};
        if (lost)
            out->in_lost |= is_in_lost_block(&below, pointer);
        else if (found.holder.word.address && keeps_reachable(&below, pointer, &found) &&
                 (!out->holder.word.address || is_better(&found, out)))
            *out = found;
    }
    return true;
}
