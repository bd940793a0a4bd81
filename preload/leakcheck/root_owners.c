#include "preload/leakcheck/root_owners.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"

#define ROOTS_TOLD 2000 /* those that hold most; and besides whatever a path begins at */
#define ROOTS_MOST 60000
#define PARTS_MOST (1u << 15)
#define PART_PLACES (2 * PARTS_MOST)
#define STACK_MOST 64
#define FRAMES_MOST (1u << 20)
#define AHEAD 16

/* The first so many blocks of a way have their place in it, counted down from here; the others know
 * the last of these. */
#define HEAD_PLACE UINT32_MAX

struct held_node {
    uint32_t word; /* + 1; 0 = none */
    uint32_t head; /* HEAD_PLACE - 0, 1, 2 ...; or a node */
};

struct held_word {
    uint64_t address, blocks, bytes;
    uint32_t range;
    uint32_t told; /* place in "roots" + 1 */
};

/* The locals of the function at pc lie from sp up to the next frame's. */
struct held_frame {
    uintptr_t pc, sp, cfa;
};

bool held_begin(struct held *held, const struct reach *reach, const struct roots *roots)
{
    *held = (struct held){.reach = reach, .roots_found = roots};
    size_t nodes = (size_t)reach_count(reach) + 1, words = (size_t)reach_root_words(reach) + 1;
    held->node = sys_map_lazily(nodes * sizeof *held->node);
    held->word = sys_map_lazily(words * sizeof *held->word);
    held->frame = sys_map_lazily(FRAMES_MOST * sizeof *held->frame);
    held->frames_of = sys_map_lazily((PARK_MOST + 1) * sizeof *held->frames_of);
    held->part_at = sys_map_lazily(PART_PLACES * sizeof *held->part_at);
    return held->node && held->word && held->frame && held->frames_of && held->part_at &&
           growable_array_map(&held->roots, sizeof(struct leak_held), ROOTS_MOST) &&
           growable_array_map(&held->parts, sizeof(struct leak_part), PARTS_MOST) &&
           growable_array_map(&held->threads, sizeof(struct leak_seen_thread), PARK_MOST) &&
           growable_array_map(&held->pcs, sizeof(uint64_t), FRAMES_MOST);
}

/* ---- Which word ----------------------------------------------------------------------------- */

static struct held_node behind(const struct held *held, uint32_t parent)
{
    struct held_node its = held->node[parent];
    if (its.head > HEAD_PLACE - (HELD_HEAD - 1))
        its.head--;
    else if (its.head == HEAD_PLACE - (HELD_HEAD - 1))
        its.head = parent;
    return its;
}

/* A node's parent knows already: it was met before. */
static struct held_node find(struct held *held, uint32_t node)
{
    struct held_node its = {0, HEAD_PLACE};
    struct reach_word word;
    uint32_t parent = reach_parent(held->reach, node, NULL);
    if (parent != REACH_NOBODY)
        return behind(held, parent);
    if (reach_root_word(held->reach, node, &word)) {
        held->word[word.index].address = word.address;
        held->word[word.index].range = word.range;
        its.word = word.index + 1;
    }
    return its;
}

void held_count(struct held *held)
{
    const struct reach *reach = held->reach;
    uint32_t count = reach_met_count(reach);
    for (uint32_t turn = 0; turn < count; turn++) {
        if (turn + AHEAD < count) {
            uint32_t soon = reach_met(reach, turn + AHEAD);
            reach_look_ahead(reach, soon);
            __builtin_prefetch(&held->node[soon], 1);
        }
        uint32_t node = reach_met(reach, turn);
        struct held_node its = held->node[node] = find(held, node);
        if (!its.word)
            continue;
        held->word[its.word - 1].blocks++;
        held->word[its.word - 1].bytes += reach_size(reach, node);
    }
}

uint32_t held_head(const struct held *held, uint32_t node)
{
    uint32_t head = held->node[node].head;
    return head > HEAD_PLACE - HELD_HEAD ? REACH_NOBODY : head;
}

/* ---- Threads -------------------------------------------------------------------------------- */

static void take_name(int tid, char *out)
{
    char name[LEAK_THREAD_NAME + 1];
    ssize_t length = sys_read_task_file(sys_getppid(), tid, "comm", name, sizeof name);
    if (length > 0)
        memcpy(out, name, strcspn(name, "\n"));
}

static void unwind_thread(struct guard *guard, struct held *held, const struct root_thread *thread,
                          struct unwind_trace *trace)
{
    struct unwind_bounds bounds = {thread->low, thread->high};
    struct frame start = {.pc = thread->pc, .sp = thread->sp, .fp = thread->fp};
    unwind_forget(trace);
    unwind(guard, &bounds, &start, STACK_MOST, trace);
    for (unsigned i = 0; i < trace->depth && held->frame_count < FRAMES_MOST; i++) {
        const struct unwind_step *step = unwind_step_at(trace, i);
        struct held_frame *frame = &held->frame[held->frame_count++];
        uint64_t *pc = growable_array_add(&held->pcs);
        *frame = (struct held_frame){step->pc, step->sp, thread->high};
        if (i)
            frame[-1].cfa = step->sp;
        if (pc)
            *pc = step->pc;
    }
}

void held_threads(struct guard *guard, struct held *held)
{
    const struct roots *roots = held->roots_found;
    struct unwind_trace *trace = sys_map(sizeof *trace);
    for (uint32_t i = 0; i < roots->seen_count; i++) {
        const struct root_thread *thread = &roots->seen[i];
        struct leak_seen_thread *out = growable_array_add(&held->threads);
        held->frames_of[i] = held->frame_count;
        if (!out)
            continue;
        *out = (struct leak_seen_thread){.serial = thread->serial,
                                         .tid = thread->tid,
                                         .parked = thread->parked,
                                         .taker = thread->taker,
                                         .stack.first = held->pcs.count};
        take_name(thread->tid, out->name);
        if (trace && thread->pc)
            unwind_thread(guard, held, thread, trace);
        out->stack.count = held->pcs.count - out->stack.first;
    }
    held->frames_of[roots->seen_count] = held->frame_count;
}

/* ---- Telling -------------------------------------------------------------------------------- */

static void find_frame(const struct held *held, int thread, struct leak_held *out)
{
    for (uint32_t i = held->frames_of[thread]; i < held->frames_of[thread + 1]; i++) {
        const struct held_frame *frame = &held->frame[i];
        if (out->address >= frame->sp && out->address < frame->cfa) {
            out->pc = frame->pc - 1; /* behind the call is not always the same function */
            out->cfa = frame->cfa;
            return;
        }
    }
}

static uint32_t describe(struct held *held, const struct held_word *word)
{
    const struct piece *range = &held->roots_found->pieces.piece[word->range];
    struct leak_held *out = growable_array_add(&held->roots);
    if (!out)
        return 0;
    *out = (struct leak_held){.address = word->address,
                              .start = range->whole_start,
                              .size = range->whole_end - range->whole_start,
                              .root_class = range->root_class,
                              .blocks = word->blocks,
                              .bytes = word->bytes};
    if (range->thread >= 0) {
        const struct root_thread *thread = &held->roots_found->seen[range->thread];
        out->thread = thread->serial;
        out->tls_offset = word->address - thread->block;
        if (range->root_class == LEAK_ROOT_CLASS_STACKS)
            find_frame(held, range->thread, out);
    }
    return held->roots.count;
}

static uint32_t tell(struct held *held, uint32_t index)
{
    struct held_word *word = &held->word[index];
    if (!word->told)
        word->told = describe(held, word);
    return word->told;
}

uint32_t held_tell_word(struct held *held, uintptr_t address, uint32_t piece)
{
    return describe(held, &(struct held_word){.address = address, .range = piece});
}

uint32_t held_tell(struct held *held, uint32_t node)
{
    return held->node[node].word ? tell(held, held->node[node].word - 1) : 0;
}

/* How many bytes must hang on a word for it to be among the first so many: the smallest power of
 * two that few enough reach. */
static uint64_t least_told(const struct held *held)
{
    uint32_t words = reach_root_words(held->reach), reach_it;
    uint64_t least = 0;
    do {
        least = least ? least * 2 : 1;
        reach_it = 0;
        for (uint32_t i = 0; i < words; i++)
            reach_it += held->word[i].bytes >= least;
    } while (reach_it > ROOTS_TOLD);
    return least;
}

static struct leak_part *find_part(struct held *held, uint32_t root, uint32_t site)
{
    uint64_t at = hash_u64((uint64_t)root << 32 | site);
    for (;; at++) {
        uint32_t *place = &held->part_at[at % PART_PLACES];
        struct leak_part *part =
            *place ? (struct leak_part *)held->parts.bytes + *place - 1 : growable_array_add(&held->parts);
        if (!*place && part) {
            *place = held->parts.count;
            *part = (struct leak_part){.root = root, .site = site};
        }
        if (!part || (part->root == root && part->site == site))
            return part;
    }
}

static void tell_parts(struct held *held)
{
    uint32_t nodes = reach_count(held->reach);
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t word = held->node[node].word, root = word ? held->word[word - 1].told : 0;
        struct block block;
        struct leak_part *part;
        if (!root)
            continue;
        block = reach_block(held->reach, node);
        part = find_part(held, root, block.site);
        if (!part)
            continue;
        part->blocks++;
        part->bytes += block.size;
    }
}

void held_finish(struct held *held)
{
    uint32_t words = reach_root_words(held->reach);
    uint64_t least = least_told(held);
    for (uint32_t i = 0; i < words; i++)
        if (held->word[i].bytes >= least)
            tell(held, i);
    tell_parts(held);
}
