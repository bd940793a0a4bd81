/* root_owners.c - assigns each node to the root word that holds it, and finds all words that point
 * to a block. */
#include "preload/leakcheck/root_owners.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"

/* The largest number of root words that are written because they hold the most bytes; those at
 * which a written path begins are written in addition. */
#define ROOTS_TOLD 2000
#define ROOTS_MOST 60000
#define PARTS_MOST (1u << 15)
#define PART_PLACES (2 * PARTS_MOST)
#define STACK_MOST 64
#define FRAMES_MOST (1u << 20)
#define PREFETCH_AHEAD 16

/* Value of the member "head" of the first block of a path from a root; HEAD_PLACE - 1 for the
 * second one, and so on up to block number PATH_HEAD. In later blocks "head" is the node of block
 * number PATH_HEAD. */
#define HEAD_PLACE UINT32_MAX

struct owner_node {
    uint32_t word; /* index + 1 of the root word that holds the node; 0: none */
    uint32_t head; /* HEAD_PLACE minus the position in the path, or the node of block PATH_HEAD */
};

struct owner_word {
    uint64_t address, blocks, bytes;
    uint32_t range;
    uint32_t written; /* index + 1 in the table "roots" of the result; 0: not written */
};

bool root_owners_begin(struct root_owners *owners, const struct reach *reach,
                       const struct roots *roots)
{
    *owners = (struct root_owners){.reach = reach, .roots_found = roots};
    size_t nodes = (size_t)reach_count(reach) + 1, words = (size_t)reach_root_words(reach) + 1;
    owners->node = sys_map_lazily(nodes * sizeof *owners->node);
    owners->word = sys_map_lazily(words * sizeof *owners->word);
    owners->frame = sys_map_lazily(FRAMES_MOST * sizeof *owners->frame);
    owners->frames_of = sys_map_lazily((WORLD_MAX_THREADS + 1) * sizeof *owners->frames_of);
    owners->part_at = sys_map_lazily(PART_PLACES * sizeof *owners->part_at);
    return owners->node && owners->word && owners->frame && owners->frames_of && owners->part_at &&
           growable_array_map(&owners->roots, sizeof(struct leak_held), ROOTS_MOST) &&
           growable_array_map(&owners->parts, sizeof(struct leak_part), PARTS_MOST) &&
           growable_array_map(&owners->threads, sizeof(struct leak_seen_thread),
                              WORLD_MAX_THREADS) &&
           growable_array_map(&owners->pcs, sizeof(uint64_t), FRAMES_MOST);
}

void root_owners_end(struct root_owners *owners)
{
    sys_unmap(owners->node, ((size_t)reach_count(owners->reach) + 1) * sizeof *owners->node);
    sys_unmap(owners->word, ((size_t)reach_root_words(owners->reach) + 1) * sizeof *owners->word);
}

/* ---- The root word of each node -------------------------------------------------------------- */

static struct owner_node inherit_owner(const struct root_owners *owners, uint32_t parent)
{
    struct owner_node its = owners->node[parent];
    if (its.head > HEAD_PLACE - (PATH_HEAD - 1))
        its.head--;
    else if (its.head == HEAD_PLACE - (PATH_HEAD - 1))
        its.head = parent;
    return its;
}

/* Finds the root word of a node. The root word of its parent is known, because the parent was
 * marked earlier. */
static struct owner_node find_owner(struct root_owners *owners, uint32_t node)
{
    struct owner_node its = {0, HEAD_PLACE};
    struct reach_word word;
    uint32_t parent = reach_parent(owners->reach, node, NULL);
    if (parent != REACH_NONE)
        return inherit_owner(owners, parent);
    if (reach_root_word(owners->reach, node, &word)) {
        owners->word[word.index].address = word.address;
        owners->word[word.index].range = word.range;
        its.word = word.index + 1;
    }
    return its;
}

void root_owners_count(struct root_owners *owners)
{
    const struct reach *reach = owners->reach;
    uint32_t count = reach_marked_count(reach);
    for (uint32_t turn = 0; turn < count; turn++) {
        if (turn + PREFETCH_AHEAD < count) {
            uint32_t soon = reach_marked(reach, turn + PREFETCH_AHEAD);
            reach_prefetch(reach, soon);
            __builtin_prefetch(&owners->node[soon], 1);
        }
        uint32_t node = reach_marked(reach, turn);
        struct owner_node its = owners->node[node] = find_owner(owners, node);
        if (!its.word)
            continue;
        owners->word[its.word - 1].blocks++;
        owners->word[its.word - 1].bytes += reach_size(reach, node);
    }
}

uint32_t root_owners_path_head(const struct root_owners *owners, uint32_t node)
{
    uint32_t head = owners->node[node].head;
    return head > HEAD_PLACE - PATH_HEAD ? REACH_NONE : head;
}

/* ---- Threads and their stacks ---------------------------------------------------------------- */

static void read_thread_name(int tid, char *out)
{
    char name[LEAK_THREAD_NAME + 1];
    ssize_t length = sys_read_task_file(sys_getppid(), tid, "comm", name, sizeof name);
    if (length > 0)
        memcpy(out, name, strcspn(name, "\n"));
}

static void unwind_thread(struct guard *guard, struct root_owners *owners,
                          const struct root_thread *thread, struct unwind_trace *trace)
{
    struct unwind_bounds bounds = {thread->low, thread->high};
    struct frame start = {.pc = thread->pc, .sp = thread->sp, .fp = thread->fp};
    unwind_invalidate(trace);
    unwind(guard, &bounds, &start, STACK_MOST, trace);
    for (unsigned i = 0; i < trace->depth && owners->frame_count < FRAMES_MOST; i++) {
        const struct unwind_step *step = unwind_step_at(trace, i);
        struct root_owners_frame *frame = &owners->frame[owners->frame_count++];
        uint64_t *pc = growable_array_add(&owners->pcs);
        *frame = (struct root_owners_frame){step->pc, step->sp, thread->high};
        if (i)
            frame[-1].cfa = step->sp;
        if (pc)
            *pc = step->pc;
    }
}

void root_owners_add_threads(struct guard *guard, struct root_owners *owners)
{
    const struct roots *roots = owners->roots_found;
    struct unwind_trace *trace = sys_map(sizeof *trace);
    for (uint32_t i = 0; i < roots->thread_count; i++) {
        const struct root_thread *thread = &roots->threads[i];
        struct leak_seen_thread *out = growable_array_add(&owners->threads);
        owners->frames_of[i] = owners->frame_count;
        if (!out)
            continue;
        *out = (struct leak_seen_thread){.serial = thread->serial,
                                         .tid = thread->tid,
                                         .parked = thread->stopped,
                                         .taker = thread->caller,
                                         .stack.first = owners->pcs.count};
        read_thread_name(thread->tid, out->name);
        if (trace && thread->pc)
            unwind_thread(guard, owners, thread, trace);
        out->stack.count = owners->pcs.count - out->stack.first;
    }
    owners->frames_of[roots->thread_count] = owners->frame_count;
}

bool root_owners_thread_frame(const struct root_owners *owners, uint32_t thread, uint32_t index,
                              struct root_owners_frame *out)
{
    uint32_t at = owners->frames_of[thread] + index;
    if (at >= owners->frames_of[thread + 1])
        return false;
    *out = owners->frame[at];
    return true;
}

/* ---- Writing root words ---------------------------------------------------------------------- */

static void find_stack_frame(const struct root_owners *owners, int thread, struct leak_held *out)
{
    for (uint32_t i = owners->frames_of[thread]; i < owners->frames_of[thread + 1]; i++) {
        const struct root_owners_frame *frame = &owners->frame[i];
        if (out->address >= frame->sp && out->address < frame->cfa) {
            /* pc is a return address, which may lie in the next function. */
            out->pc = frame->pc - 1;
            out->cfa = frame->cfa;
            return;
        }
    }
}

static uint32_t append_root(struct root_owners *owners, const struct owner_word *word)
{
    const struct scan_range *range = &owners->roots_found->ranges.range[word->range];
    struct leak_held *out = growable_array_add(&owners->roots);
    if (!out)
        return 0;
    *out = (struct leak_held){.address = word->address,
                              .start = range->whole_start,
                              .size = range->whole_end - range->whole_start,
                              .root_class = range->root_class,
                              .blocks = word->blocks,
                              .bytes = word->bytes};
    if (range->thread >= 0) {
        const struct root_thread *thread = &owners->roots_found->threads[range->thread];
        out->thread = thread->serial;
        out->tls_offset = word->address - thread->block;
        if (range->root_class == LEAK_ROOT_CLASS_STACKS)
            find_stack_frame(owners, range->thread, out);
    }
    return owners->roots.count;
}

static uint32_t append_word(struct root_owners *owners, uint32_t index)
{
    struct owner_word *word = &owners->word[index];
    if (!word->written)
        word->written = append_root(owners, word);
    return word->written;
}

/* Writes a root word that need not hold any block, without sums of held blocks; returns its index +
 * 1 in the table "roots". range: index of the struct scan_range that contains the word. */
static uint32_t append_idle_word(struct root_owners *owners, uintptr_t address, uint32_t range)
{
    return append_root(owners, &(struct owner_word){.address = address, .range = range});
}

uint32_t root_owners_add_node(struct root_owners *owners, uint32_t node)
{
    return owners->node[node].word ? append_word(owners, owners->node[node].word - 1) : 0;
}

/* Computes how many bytes a root word must hold to be written: the smallest power of two that at
 * most ROOTS_TOLD words reach. */
static uint64_t report_threshold(const struct root_owners *owners)
{
    uint32_t words = reach_root_words(owners->reach), reach_it;
    uint64_t least = 0;
    do {
        least = least ? least * 2 : 1;
        reach_it = 0;
        for (uint32_t i = 0; i < words; i++)
            reach_it += owners->word[i].bytes >= least;
    } while (reach_it > ROOTS_TOLD);
    return least;
}

static struct leak_part *find_part(struct root_owners *owners, uint32_t root, uint32_t site)
{
    uint64_t at = hash_u64((uint64_t)root << 32 | site);
    for (;; at++) {
        uint32_t *place = &owners->part_at[at % PART_PLACES];
        struct leak_part *part = *place ? (struct leak_part *)owners->parts.bytes + *place - 1
                                        : growable_array_add(&owners->parts);
        if (!*place && part) {
            *place = owners->parts.count;
            *part = (struct leak_part){.root = root, .site = site};
        }
        if (!part || (part->root == root && part->site == site))
            return part;
    }
}

static void count_parts(struct root_owners *owners)
{
    uint32_t nodes = reach_count(owners->reach);
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t word = owners->node[node].word, root = word ? owners->word[word - 1].written : 0;
        struct leak_part *part =
            root ? find_part(owners, root, reach_site(owners->reach, node)) : NULL;
        if (!part)
            continue;
        part->blocks++;
        part->bytes += reach_size(owners->reach, node);
    }
}

void root_owners_finish(struct root_owners *owners)
{
    uint32_t words = reach_root_words(owners->reach);
    uint64_t least = report_threshold(owners);
    for (uint32_t i = 0; i < words; i++)
        if (owners->word[i].bytes >= least)
            append_word(owners, i);
    count_parts(owners);
}

/* ---- Words that point to a block ------------------------------------------------------------- */

/* A range in which pointers to a block are searched. */
struct searched_range {
    uintptr_t start, end;
    uint32_t node;    /* node that contains the words; REACH_NONE: the range is a root */
    uint32_t range;   /* index of its struct scan_range, if the range is a root */
    bool starts_only; /* true: only pointers to the start of the block count */
    /* The range may begin inside a nested block; its words do not count as that block's. */
    bool within;
    /* A struct leak_pointer with the members that are equal for all words of this range; address,
     * offset and root are set for each word. */
    struct leak_pointer model;
};

/* Says whether a word belongs to a nested (suballocated) block that contains it and not to the
 * searched range around that block, as in marking (nested_blocks.h). */
static bool belongs_to_nested(const struct reach *reach, const struct searched_range *place,
                              uintptr_t word)
{
    /* Looks up word + 1, because the address "word" itself may count as the byte behind the block
     * before it. */
    uint32_t owner = reach_find_node(reach, word + 1);
    return owner != REACH_NONE && owner != place->node && reach_is_nested(reach, owner) &&
           !(place->within && reach_address(reach, owner) < place->start);
}

/* Appends to *out each word of a range that points into the block or to the byte behind its end. */
static void search_range(struct root_owners *owners, const struct block *block,
                         const struct searched_range *place, struct growable_array *out)
{
    uintptr_t start = round_up(place->start, sizeof(uintptr_t));
    for (uintptr_t at = start; at + sizeof at <= place->end; at += sizeof at) {
        uintptr_t offset = arch_address(*(void *const volatile *)at) - block->address;
        struct leak_pointer *found;
        if (offset > (place->starts_only ? 0 : block->size) ||
            belongs_to_nested(owners->reach, place, at) || !(found = growable_array_add(out)))
            continue;
        *found = place->model;
        found->address = at;
        found->offset = offset;
        if (place->node == REACH_NONE)
            found->root = append_idle_word(owners, at, place->range);
    }
}

void root_owners_find_referrers(struct root_owners *owners, const struct block *block,
                                struct growable_array *out)
{
    const struct scan_ranges *ranges = &owners->roots_found->ranges;
    uint32_t nodes = reach_count(owners->reach);
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct scan_range *range = &ranges->range[i];
        search_range(
            owners, block,
            &(struct searched_range){.start = range->start,
                                     .end = range->end,
                                     .node = REACH_NONE,
                                     .range = i,
                                     .starts_only = range->starts_only,
                                     .within = range->root_class == LEAK_ROOT_CLASS_STACKS},
            out);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        uintptr_t holder = reach_address(owners->reach, node);
        uint64_t size = reach_size(owners->reach, node);
        search_range(
            owners, block,
            &(struct searched_range){
                .start = holder,
                .end = holder + size,
                .node = node,
                .model = {.block = holder, .size = size, .site = reach_site(owners->reach, node)}},
            out);
    }
}
