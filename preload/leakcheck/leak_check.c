#include "preload/leakcheck/leak_check.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/heap/blocks.h"
#include "preload/heap/capture.h"
#include "preload/heap/suballoc.h"
#include "preload/leakcheck/result_writer.h"
#include "preload/mark/leak_graph.h"
#include "preload/roots/elf_images.h"
#include "preload/heap/sorted_blocks.h"
#include "preload/elf/procmaps.h"
#include "preload/interpose/modules.h"
#include "preload/mark/nested_blocks.h"
#include "preload/mark/reachability.h"
#include "preload/interpose/real_functions.h"
#include "preload/unwind/sites.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "context.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define STACK (512ull << 10)
#define EXIT_FRAMES_MOST 64
#define SECONDS_MOST 600 /* of processor time: then something is wrong */

/* ---- A life without consequences ------------------------------------------------------------ */

/* The page is made readable; when there is nothing behind it, a page of zeros takes its place. */
static void on_fault(int number, siginfo_t *info, void *context UNUSED)
{
    static uintptr_t last;
    uint64_t page = sys_page_size();
    uintptr_t at = (uintptr_t)info->si_addr & -page;
    if (number == SIGSEGV && at != last &&
        sys_protect((void *)at, page, PROT_READ | PROT_WRITE) >= 0) {
        last = at;
        return;
    }
    if (!sys_map_zeros((void *)at, page))
        sys_exit(1);
}

static void live_apart(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    const struct sys_sigaction fatal = {.handler = (uintptr_t)SIG_DFL};
    uint64_t mask;
    sys_signals_block(&mask);
    sys_drop_realtime();
    sys_ignore_memory_tags();
    real.sigaction(SIGSEGV, &action, NULL);
    real.sigaction(SIGBUS, &action, NULL);
    for (int number = 1; number <= SIGSYS; number++)
        if (sys_signal_is_fault(number) && number != SIGSEGV && number != SIGBUS)
            sys_sigaction(number, &fatal, NULL); /* our own crash is none of the program's */
    sys_close_from(0);
    sys_set_rlimit(RLIMIT_CORE, 0);
    sys_set_rlimit(RLIMIT_CPU, SECONDS_MOST);
    sys_raise_rlimit(RLIMIT_AS); /* the program's, which may be close; ours is look_mem */
    sys_raise_rlimit(RLIMIT_DATA);
    sys_write_file("/proc/self/oom_score_adj", "1000");
    modules_keep_quiet();
}

/* ---- What was said before ------------------------------------------------------------------- */

/* Blocks of one region come one after the other, so the next note is mostly near. */
const struct look_note *look_find_note(const struct look_result *result, uint32_t *at,
                                       const struct block *block)
{
    uint32_t low = 0, high = result->notes;
    uint32_t near = *at < high ? *at : 0;
    if (near < high && result->note[near].address <= block->address) {
        uint32_t step = 1;
        low = near;
        while (low + step < high && result->note[low + step].address <= block->address) {
            low += step;
            step *= 2;
        }
        high = low + step < high ? low + step : high;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (result->note[middle].address < block->address)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    const struct look_note *note = &result->note[low];
    bool same = low < result->notes && note->address == block->address &&
                note->count == block->count && note->thread == block->thread;
    return same ? note : NULL;
}

static enum reach_before before_of(const struct look_order *order, uint32_t *at,
                                   const struct block *block)
{
    const struct look_note *note = order->before ? look_find_note(order->before, at, block) : NULL;
    if (block->kind & BLOCKS_IGNORED ||
        (capture_disabled_ever && sites_node(block->site) == LEAK_ROOT_DISABLED))
        return REACH_IGNORED;
    switch (note ? note->verdict : LEAK_VERDICT_NONE) {
    case LEAK_VERDICT_LOST:
    case LEAK_VERDICT_INDIRECT: /* of two pictures each misses what the other's registers held */
        return order->twice ? REACH_NEW : REACH_WAS_LOST;
    case LEAK_VERDICT_POSSIBLE:
        return REACH_WAS_POSSIBLE;
    case LEAK_VERDICT_HIDDEN:
        return REACH_WAS_HIDDEN;
    case LEAK_VERDICT_REACHABLE:
        return REACH_WAS_HELD;
    default:
        return order->twice ? REACH_WAS_HELD : REACH_NEW;
    }
}

/* ---- The look ------------------------------------------------------------------------------- */

struct looking {
    const struct look_order *order;
    struct reach *reach;
    struct graph *graph;
    struct maps maps;
    struct images images;
    struct roots roots;
    uint32_t note_at;
};

static struct looking looking;

/* pool: of a carved one, or CARVED_ANY. */
static void add_rest(struct looking *l, const struct block *block, uint32_t pool)
{
    struct block rest = *block;
    if (!nesting_rest(&rest, pool))
        return;
    if (rest.address != block->address)
        nesting_note(l->reach, &rest, block->address, block->size);
    reach_add(l->reach, &rest, before_of(l->order, &l->note_at, &rest));
}

static void add_block(const struct block *block, void *context)
{
    struct looking *l = context;
    if (unlikely(carved_count))
        add_rest(l, block, CARVED_ANY);
    else
        reach_add(l->reach, block, before_of(l->order, &l->note_at, block));
}

static void add_carved(struct looking *l)
{
    struct carved it;
    for (bool more = carved_count && carved_first(0, 0, &it); more;
         more = carved_first(it.block.address, it.pool + 1, &it))
        add_rest(l, &it.block, it.pool);
}

/* A table of functions stands in an object's constant data, and begins with a function. */
static bool is_vtable(uintptr_t word)
{
    if (word % sizeof word)
        return false;
    const struct mapping *mapping = procmaps_find(&looking.maps, word);
    if (!mapping || mapping->write || !mapping->read || !mapping->inode)
        return false;
    const struct mapping *code = procmaps_find(&looking.maps, *(const uintptr_t *)word);
    return code && code->execute && code->inode;
}

/* After the last exit handler: frames of libc's exit lie upon what main has left behind, full of
 * gaps. What counts as stack begins above them. */
static struct roots_taker above_libc(const struct looking *l)
{
    struct roots_taker taker = *l->order->taker;
    struct unwind_bounds bounds = {0};
    struct frame start = {.pc = taker.pc, .sp = taker.frame, .fp = taker.fp};
    struct unwind_trace *trace = sys_map(sizeof *trace);
    if (l->order->occasion != LEAK_OCCASION_LATE || !trace)
        return taker;
    if (guard_self.thread)
        bounds = guard_self.thread->bounds;
    unwind(&guard_self, &bounds, &start, EXIT_FRAMES_MOST, trace);
    for (unsigned i = 0; i < trace->depth; i++) {
        const struct unwind_step *step = unwind_step_at(trace, i);
        const struct image *image = images_at(&l->images, step->pc - 1);
        taker.sp = taker.frame = step->sp;
        if (!image || !images_is_libc(image))
            break;
    }
    return taker;
}

static enum leak_trouble mark(struct looking *l)
{
    const struct look_order *order = l->order;
    struct roots_taker taker;
    struct roots_picture picture = {.maps = &l->maps,
                                    .images = &l->images,
                                    .park = order->park,
                                    .taker = &taker,
                                    .classes = order->classes,
                                    .stopped = order->stopped};
    struct reach_codes codes = {.guard = context_pointer_guard(), .xor = order->xor };
    if (!procmaps_read(&l->maps)) /* first: what we take later is not the program's */
        return LEAK_TROUBLE_NO_MAPS;
    l->reach = reach_begin(blocks_count() + carved_count,
                           order->memory_most ? order->memory_most : UINT64_MAX);
    if (!l->reach)
        return LEAK_TROUBLE_NO_MEMORY;
    in_order_each(order->memory_most ? order->memory_most : UINT64_MAX, add_block, l);
    add_carved(l);
    picture.reach = l->reach;
    if (!reach_index(l->reach) || !images_find(&l->maps, &l->images))
        return LEAK_TROUBLE_NO_MEMORY;
    taker = above_libc(l);
    if (!roots_find(&picture, &l->roots))
        return LEAK_TROUBLE_NO_MEMORY;
    for (uint32_t i = 0; i < l->roots.pieces.count; i++) {
        const struct piece *range = &l->roots.pieces.piece[i];
        (range->starts_only ? reach_root_starts
         : range->root_class == LEAK_ROOT_CLASS_STACKS
             ? reach_root_stack
             : reach_root)(l->reach, range->start, range->end, i);
    }
    if (!reach_mark(l->reach, &codes, is_vtable) || !(l->graph = graph_begin(l->reach)))
        return LEAK_TROUBLE_NO_MEMORY;
    return LEAK_TROUBLE_NONE;
}

/* What a fork child has inherited bears the ticks of another process. */
static bool is_since(const struct looking *l, uint32_t node)
{
    if (!l->order->since)
        return true;
    struct block block = reach_block(l->reach, node);
    return block.tick >= l->order->since && block.site > store_header->inherited_sites;
}

static void take_notes(const struct looking *l)
{
    struct look_result *result = l->order->result;
    uint32_t nodes = reach_count(l->reach);
    for (uint32_t node = 0; node < nodes; node++) {
        enum leak_verdict verdict = graph_verdict(l->graph, node);
        bool lost = verdict == LEAK_VERDICT_LOST || verdict == LEAK_VERDICT_INDIRECT;
        result->lost_blocks += lost && is_since(l, node);
        result->found[verdict].blocks++;
        result->found[verdict].bytes += reach_size(l->reach, node);
        if (node >= result->notes_most)
            continue;
        struct block block = reach_block(l->reach, node);
        result->note[node] = (struct look_note){.address = block.address,
                                                .count = block.count,
                                                .thread = block.thread,
                                                .verdict = verdict};
        result->notes = node + 1;
    }
}

static void run(void *argument)
{
    const struct look_order *order = argument;
    struct look_result *result = order->result;
    uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
    struct leak_snapshot head = {.rung = order->stopped ? LEAK_RUNG_PARKED : LEAK_RUNG_UNSTOPPED,
                                 .occasion = order->occasion,
                                 .when_ns = sys_clock_ns(CLOCK_REALTIME),
                                 .tick = load_relaxed(&store_header->epoch),
                                 .sites = sites_last(),
                                 .threads_parked = order->stopped ? order->park->parked : 0,
                                 .skipped = order->skipped,
                                 .milestone = order->milestone};
    live_apart();
    looking.order = order;
    enum leak_trouble trouble = mark(&looking);
    if (!trouble)
        take_notes(&looking);
    head.threads_missed = looking.roots.seen_count > 1 + head.threads_parked
                              ? looking.roots.seen_count - 1 - head.threads_parked
                              : 0;
    if (!trouble)
        head.apart = roots_apart(&looking.roots, &looking.maps) / LEAK_PAGE;
    head.retained_unknown = looking.graph && !graph_retained_known(looking.graph);
    head.pause_ns = load_acquire(&result->pause_ns);
    head.check_ns = sys_clock_ns(CLOCK_MONOTONIC) - begun;
    struct found_look found = {.reach = looking.reach,
                               .graph = looking.graph,
                               .roots = &looking.roots,
                               .images = &looking.images,
                               .head = &head,
                               .place = order->place,
                               .content_most = order->content_most,
                               .about = order->about};
    if (!trouble && !order->silent && !(result->place = found_write(&guard_self, &found)))
        trouble = LEAK_TROUBLE_NO_MEMORY;
    /* Nobody waits for it here. */
    if (trouble && (head.occasion == LEAK_OCCASION_LIMIT || head.milestone)) {
        head.rung = LEAK_RUNG_NONE;
        head.trouble = trouble;
        head.head_size = sizeof head;
        store_write_chunk(LEAK_CHUNK_SNAPSHOT, &head, sizeof head);
    }
    result->trouble = trouble;
    store_release(&result->done, 1); /* pairs with the parent's acquire */
    sys_futex_wake_shared(&result->done);
    sys_exit(0);
}

void look(const struct look_order *order)
{
    /* The parent may have been on a signal stack of a few KiB. */
    char *stack = sys_map(STACK);
    if (stack)
        arena_register(stack, STACK);
    if (stack)
        arch_call_on(stack + STACK, run, (void *)order);
    sys_exit(1);
}
