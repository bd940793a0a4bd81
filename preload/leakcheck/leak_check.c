/* leak_check.c - the child process of a leak check: isolates itself from the program, marks the
 * heap, writes the result. */
#include "preload/leakcheck/leak_check.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "preload/heap/capture.h"
#include "preload/heap/suballoc.h"
#include "preload/leakcheck/graph_writer.h"
#include "preload/leakcheck/holder_search.h"
#include "preload/leakcheck/result_writer.h"
#include "preload/track/fill.h"
#include "preload/graph/leak_graph.h"
#include "preload/roots/elf_images.h"
#include "preload/roots/frame_holes.h"
#include "preload/roots/library_blocks.h"
#include "preload/roots/python_pools.h"
#include "preload/roots/typed_objects.h"
#include "preload/roots/older_blocks.h"
#include "preload/elf/procmaps.h"
#include "preload/interpose/modules.h"
#include "preload/options/options.h"
#include "preload/mark/nested_blocks.h"
#include "preload/mark/reachability.h"
#include "preload/interpose/real_functions.h"
#include "preload/contexts/context_tree.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "preload/memory/collections.h"
#include "context.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define STACK (512ull << 10)
#define EXIT_FRAMES_MOST 64
/* The kernel ends the check after this CPU time in seconds, lest it run for ever. */
#define SECONDS_MOST 600

/* ---- Isolation from the program -------------------------------------------------------------- */

static struct procmaps maps;
static uint32_t unreadable; /* number of pages without read access that the check has come to */

/* Says whether the check may make a page readable whose access has faulted. If the program cannot
 * read a page, pointers in it hold no block, unless the option unreadable says that the program
 * will make the page readable again. A page of an object's constant data, or one with a protection
 * key, is readable. */
static bool may_read(uintptr_t page)
{
    const struct mapping *mapping = procmaps_find(&maps, page);
    if (!mapping || mapping->read || options_current.unreadable)
        return true;
    unreadable++;
    return false;
}

/* Handles a fault of the leak check: makes the page accessible, or replaces it by a page of zeros
 * if it must not be read. */
static void on_fault(int number, siginfo_t *info, void *context UNUSED)
{
    static uintptr_t last;
    uint64_t page = sys_page_size();
    uintptr_t at = (uintptr_t)info->si_addr & -page;
    if (number == SIGSEGV && at != last && may_read(at) &&
        sys_protect((void *)at, page, PROT_READ | PROT_WRITE) >= 0) {
        last = at;
        return;
    }
    if (!sys_map_zeros((void *)at, page))
        sys_exit(1);
}

static void isolate_child(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    const struct sys_sigaction fatal = {.handler = (uintptr_t)SIG_DFL};
    /* Blocks all signals except those of faults. Faults are unblocked, because the check may have
     * been requested in a signal handler that blocks them. */
    uint64_t blocked = ~(uint64_t)0;
    for (int number = 1; number <= SIGSYS; number++)
        if (sys_signal_is_fault(number))
            blocked &= ~(1ull << (number - 1));
    sys_signals_restore(&blocked);
    sys_drop_realtime();
    sys_ignore_memory_tags();
    real_sigaction(SIGSEGV, &action, NULL);
    real_sigaction(SIGBUS, &action, NULL);
    /* A crash of the leak check must not call the program's handlers. */
    for (int number = 1; number <= SIGSYS; number++)
        if (sys_signal_is_fault(number) && number != SIGSEGV && number != SIGBUS)
            sys_sigaction(number, &fatal, NULL);
    sys_close_from(0);
    sys_set_rlimit(RLIMIT_CORE, 0);
    sys_set_rlimit(RLIMIT_CPU, SECONDS_MOST);
    /* The program's limits may be nearly used up; the leak check has a limit of its own, the option
     * look_mem. */
    sys_raise_rlimit(RLIMIT_AS);
    sys_raise_rlimit(RLIMIT_DATA);
    sys_write_file("/proc/self/oom_score_adj", "1000");
    modules_stop_recording();
}

/* ---- Verdicts of an earlier check ------------------------------------------------------------ */

/* Finds the note about a block (its verdict in an earlier check) by binary search. Blocks of one
 * region (2 KiB of addresses) are looked up one after the other, so the search begins near the
 * previous note. */
const struct leak_check_note *leak_check_find_note(const struct leak_check_result *result,
                                                   uint32_t *at, const struct block *block)
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
    low += LOWER_BOUND(high - low, i, result->note[low + i].address < block->address);
    *at = low;
    const struct leak_check_note *note = &result->note[low];
    bool same = low < result->notes && note->address == block->address &&
                note->count == block->count && note->thread == block->thread;
    return same ? note : NULL;
}

static enum reach_prior prior_of(const struct leak_check_request *request, uint32_t *at,
                                 const struct block *block)
{
    const struct leak_check_note *note =
        request->before ? leak_check_find_note(request->before, at, block) : NULL;
    if (block->kind & BLOCKS_IGNORED ||
        (capture_state.disabled_ever && sites_node(block->site) == LEAK_ROOT_DISABLED))
        return REACH_IGNORED;
    switch (note ? note->verdict : LEAK_VERDICT_NONE) {
    case LEAK_VERDICT_LOST:
    /* With two copies of a running process each check misses some pointers, so a block that was
     * lost in the first copy is judged anew. */
    case LEAK_VERDICT_INDIRECT:
        return request->twice ? REACH_NEW : REACH_WAS_LOST;
    case LEAK_VERDICT_POSSIBLE:
        return REACH_WAS_POSSIBLE;
    case LEAK_VERDICT_HIDDEN:
        return REACH_WAS_HIDDEN;
    case LEAK_VERDICT_REACHABLE:
        return REACH_WAS_REACHABLE;
    default:
        return request->twice ? REACH_WAS_REACHABLE : REACH_NEW;
    }
}

/* ---- Adding blocks and roots ----------------------------------------------------------------- */

struct leak_check {
    const struct leak_check_request *request;
    struct reach *reach;
    struct leak_graph *graph;
    struct elf_images images;
    struct roots roots;
    uint32_t note_at;
    struct graph_input graph_input;
    struct graph_writer *graph_writer; /* NULL: no graph file is wanted */
};

static struct leak_check current;

/* Adds a block to the blocks to be marked, without the part at its beginning that suballocated
 * blocks cover. pool: the pool of a suballocated block; for others SUBALLOC_ANY_POOL. */
static void add_trimmed(struct leak_check *check, const struct block *block, uint32_t pool)
{
    struct block rest = *block;
    if (!nested_blocks_trim(&rest, pool))
        return;
    if (rest.address != block->address)
        nested_blocks_note_trimmed(check->reach, &rest, block->address, block->size);
    reach_add_block(check->reach, &rest, prior_of(check->request, &check->note_at, &rest));
}

static void add_live_block(const struct block *block, void *context)
{
    struct leak_check *check = context;
    if (unlikely(suballoc_count))
        add_trimmed(check, block, SUBALLOC_ANY_POOL);
    else
        reach_add_block(check->reach, block, prior_of(check->request, &check->note_at, block));
}

static void add_older_block(const struct block *block, void *context)
{
    struct leak_check *check = context;
    reach_add_block(check->reach, block, prior_of(check->request, &check->note_at, block));
}

static void add_nested(struct leak_check *check)
{
    struct suballoc_block it;
    for (bool more = suballoc_count && suballoc_first(0, 0, &it); more;
         more = suballoc_first(it.block.address, it.pool + 1, &it))
        add_trimmed(check, &it.block, it.pool);
}

static bool find_block(uintptr_t address, struct block *out)
{
    return blocks_find(&guard_self, address, out);
}

/* Says whether a virtual table begins at the address: it lies in constant data of an object, and
 * its first word points to code. */
static bool is_vtable(uintptr_t word)
{
    if (word % sizeof word)
        return false;
    const struct mapping *mapping = procmaps_find(&maps, word);
    if (!mapping || mapping->write || !mapping->read || !mapping->inode)
        return false;
    const struct mapping *code = procmaps_find(&maps, *(const uintptr_t *)word);
    return code && code->execute && code->inode;
}

static bool is_typed_object(uintptr_t block, uint64_t offset, uint64_t size)
{
    return typed_objects_begin_at(&maps, block, offset, size);
}

static unsigned callers_of(uint32_t site, uint64_t *pcs, unsigned most)
{
    unsigned count = 0;
    uint32_t id = site && site <= sites_last() ? sites_node(site) : LEAK_ROOT_NONE;
    /* All blocks from before libleak was loaded get the same address, so that header_idioms.h takes
     * them for one group. */
    for (struct leak_node node; count < most && context_tree_next(&id, &node); count++)
        pcs[count] = id == LEAK_ROOT_NO_STACKS ? LEAK_OLDER_PC : node.pc;
    return count;
}

static bool is_in_libc(uintptr_t pc)
{
    const struct elf_image *image = elf_images_at(&current.images, pc);
    return image && elf_images_is_libc(image);
}

static const struct reach_idiom_questions idiom_questions = {
    .callers = callers_of, .is_typed_object = is_typed_object, .is_in_libc = is_in_libc};

static bool is_exit_code(const struct leak_check *check, uintptr_t pc)
{
    const struct elf_image *image = elf_images_at(&check->images, pc);
    return image && (elf_images_is_libc(image) || modules_is_own(pc));
}

/* Returns the frame from which on the stack of the requesting thread is scanned for pointers. After
 * the last exit handler, frames of libc's exit lie over a part of the dead frames of main, so it is
 * the first frame outwards that belongs neither to libc nor to libleak (its hook of exit): that of
 * the function that called exit. */
static struct roots_caller skip_exit_frames(const struct leak_check *check)
{
    struct roots_caller caller = *check->request->caller;
    struct unwind_bounds bounds = {0};
    struct frame start = {.pc = caller.pc, .sp = caller.frame, .fp = caller.fp};
    struct unwind_trace *trace = sys_map(sizeof *trace);
    if (check->request->occasion != LEAK_OCCASION_LATE || !trace)
        return caller;
    if (guard_self.thread)
        bounds = guard_self.thread->bounds;
    unwind(&guard_self, &bounds, &start, EXIT_FRAMES_MOST, trace);
    for (unsigned i = 0; i < trace->depth; i++) {
        const struct unwind_step *step = unwind_step_at(trace, i);
        caller.pc = step->pc;
        caller.sp = caller.frame = step->sp;
        caller.fp = step->fp;
        if (!is_exit_code(check, step->pc - 1))
            break;
    }
    return caller;
}

static enum reach_root_kind root_kind(const struct scan_range *range)
{
    if (range->starts_only)
        return REACH_ROOT_STARTS;
    if (range->root_class == LEAK_ROOT_CLASS_STACKS)
        return REACH_ROOT_STACK;
    return range->root_class == LEAK_ROOT_CLASS_GLOBALS ? REACH_ROOT_VARIABLES : REACH_ROOT_DATA;
}

/* ---- The graph file -------------------------------------------------------------------------- */

static void begin_graph_file(struct leak_check *check, const struct leak_snapshot *head)
{
    const struct leak_check_request *request = check->request;
    if (!request->graph_file)
        return;
    check->graph_input = (struct graph_input){.path = request->graph_file,
                                              .pid = store_header->pid,
                                              .reach = check->reach,
                                              .roots = &check->roots,
                                              .images = &check->images,
                                              .head = head,
                                              .content_most = request->content_most};
    check->graph_writer = sys_map(sizeof *check->graph_writer);
    if (check->graph_writer)
        graph_writer_begin(check->graph_writer, &check->graph_input);
}

static void note_for_leakctl(int error, uint32_t milestone)
{
    struct leak_request_file *file =
        (struct leak_request_file *)((char *)store_header + LEAK_REQUEST_FILE_AT);
    store_relaxed(&file->error, error);
    store_release(&file->milestone, milestone); /* pairs with an acquire load in leakctl */
}

static void end_graph_file(struct leak_check *check)
{
    struct graph_writer *writer = check->graph_writer;
    struct leak_check_result *result = check->request->result;
    if (!check->request->graph_file)
        return;
    result->graph_written = writer && graph_writer_end(&guard_self, writer, check->graph);
    result->graph_error = writer ? writer->stream.error : -ENOMEM;
    if (check->request->occasion == LEAK_OCCASION_CONTROL)
        note_for_leakctl(result->graph_error, check->request->milestone);
}

/* ---- Marking the heap ------------------------------------------------------------------------ */

static enum leak_trouble mark_heap(struct leak_check *check, const struct leak_snapshot *head)
{
    const struct leak_check_request *request = check->request;
    uint64_t memory_most = request->memory_most ? request->memory_most : UINT64_MAX;
    struct roots_caller caller;
    struct roots_input input = {.maps = &maps,
                                .images = &check->images,
                                .world = request->world,
                                .caller = &caller,
                                .classes = request->classes,
                                .stopped = request->stopped};
    struct reach_encodings codes = {.guard = context_pointer_guard(), .xor_key = request->xor_key};
    if (request->memory_left_out)
        return LEAK_TROUBLE_NO_MEMORY;
    if (!procmaps_read(&maps)) /* first of all: all later mappings belong to libleak */
        return LEAK_TROUBLE_NO_MAPS;
    if (!elf_images_find(&maps, &check->images))
        return LEAK_TROUBLE_NO_MEMORY;
    static struct older_blocks older;
    if (older_blocks_wanted())
        older_blocks_find(&maps, &check->images, &older);
    check->reach = reach_begin(blocks_count() + suballoc_count + older.count, memory_most);
    if (!check->reach)
        return LEAK_TROUBLE_NO_MEMORY;
    if (!suballoc_count && !older.count)
        reach_look_up(check->reach, find_block);
    /* Older blocks are added first: if the block table has a block at the same address, it replaces
     * the older one. */
    older_blocks_each(&older, add_older_block, check);
    address_order_each_block(memory_most, add_live_block, check);
    add_nested(check);
    input.reach = check->reach;
    if (!reach_build_index(check->reach))
        return LEAK_TROUBLE_NO_MEMORY;
    caller = skip_exit_frames(check);
    frame_holes_clear(&caller, &maps);
    if (!roots_find(&input, &check->roots))
        return LEAK_TROUBLE_NO_MEMORY;
    library_blocks_clear(&input, &check->roots);
    if (python_pools_clear(&check->roots))
        store_set_flag(LEAK_FLAG_PYTHON_POOLS);
    for (uint32_t i = 0; i < check->roots.ranges.count; i++) {
        const struct scan_range *range = &check->roots.ranges.range[i];
        reach_add_root(check->reach, range->start, range->end, i, root_kind(range));
    }
    if (request->header_idiom)
        reach_find_idioms(check->reach, &idiom_questions);
    if (!reach_mark(check->reach, &codes, is_vtable))
        return LEAK_TROUBLE_NO_MEMORY;
    begin_graph_file(check, head);
    if (!(check->graph = leak_graph_build(check->reach)))
        return LEAK_TROUBLE_NO_MEMORY;
    return LEAK_TROUBLE_NONE;
}

/* Says whether a block was allocated since tick request->since; true for all blocks if that is 0.
 * The ticks of blocks that a fork child has inherited are those of another process, so they do not
 * count. */
static bool is_counted(const struct leak_check *check, uint32_t node)
{
    if (!check->request->since)
        return true;
    struct block block = reach_block(check->reach, node);
    return block.tick >= check->request->since && block.site > store_header->inherited_sites;
}

/* Returns the address of the root word that holds a node; 0: a later check must not look whether
 * that word still holds the node. Registers and stacks change all the time, and pages that this
 * check has mapped do not exist in the program. */
static uint64_t link_of_root(const struct leak_check *check, uint32_t node)
{
    struct reach_word word;
    if (!reach_root_word(check->reach, node, &word))
        return 0;
    switch (check->roots.ranges.range[word.range].root_class) {
    case LEAK_ROOT_CLASS_STACKS:
    case LEAK_ROOT_CLASS_REGISTERS:
        return 0;
    default:
        return procmaps_find(&maps, word.address) ? word.address : 0;
    }
}

static uint64_t link_of(const struct leak_check *check, uint32_t node)
{
    uint64_t offset;
    uint32_t parent = reach_parent(check->reach, node, &offset);
    return parent == REACH_NONE ? link_of_root(check, node)
                                : reach_address(check->reach, parent) + offset;
}

static void count_verdicts(const struct leak_check *check)
{
    struct leak_check_result *result = check->request->result;
    uint32_t nodes = reach_count(check->reach);
    for (uint32_t node = 0; node < nodes; node++) {
        enum leak_verdict verdict = leak_graph_verdict(check->graph, node);
        bool lost = verdict == LEAK_VERDICT_LOST || verdict == LEAK_VERDICT_INDIRECT;
        result->lost_blocks += lost && is_counted(check, node);
        result->found[verdict].blocks++;
        result->found[verdict].bytes += reach_size(check->reach, node);
    }
}

/* Writes a note (the verdict) about each block for later checks, as the last step. The addresses of
 * the words that hold the blocks (links) are written first, so that the arrays from which they come
 * can be freed before notes take memory. */
static void write_notes(const struct leak_check *check)
{
    struct leak_check_result *result = check->request->result;
    uint32_t nodes = reach_count(check->reach);
    uint64_t *links = leak_check_links(result);
    result->notes = nodes < result->notes_most ? nodes : result->notes_most;
    for (uint32_t node = 0; node < result->notes; node++)
        if (leak_graph_verdict(check->graph, node) == LEAK_VERDICT_REACHABLE)
            links[node] = link_of(check, node);
    if (result->notes)
        leak_graph_settle(check->graph);
    for (uint32_t node = 0; node < result->notes; node++) {
        struct block block;
        reach_read_block(check->reach, node, &block);
        result->note[node] = (struct leak_check_note){.address = block.address,
                                                      .count = block.count,
                                                      .thread = block.thread,
                                                      .verdict = reach_verdict(check->reach, node)};
    }
}

/* Counts a block that is still live and whose memory was not cleared (fill.h), so that stale
 * pointers may be in it. */
static void count_uncleared(uintptr_t address, uint64_t size, void *passed)
{
    struct leak_snapshot *head = passed;
    uint32_t node = reach_find_node(current.reach, address);
    if (node != REACH_NONE && reach_address(current.reach, node) == address &&
        reach_size(current.reach, node) == size && head->uncleared < UINT8_MAX)
        head->uncleared++;
}

static void run_check(void *argument)
{
    const struct leak_check_request *request = argument;
    struct leak_check_result *result = request->result;
    uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
    struct leak_snapshot head = {.rung = request->stopped ? LEAK_RUNG_PARKED : LEAK_RUNG_UNSTOPPED,
                                 .occasion = request->occasion,
                                 .when_ns = sys_clock_ns(CLOCK_REALTIME),
                                 .tick = load_relaxed(&store_header->epoch),
                                 .sites = sites_last(),
                                 .threads_parked = request->stopped ? request->world->parked : 0,
                                 .skipped = request->skipped,
                                 .milestone = request->milestone};
    isolate_child();
    current.request = request;
    enum leak_trouble trouble = mark_heap(&current, &head);
    end_graph_file(&current);
    if (!trouble)
        count_verdicts(&current);
    if (!trouble && request->followed)
        result->followed_exists = holder_search(&guard_self, current.reach, &current.roots,
                                                ~request->followed, &result->held);
    head.threads_missed = current.roots.thread_count > 1 + head.threads_parked
                              ? current.roots.thread_count - 1 - head.threads_parked
                              : 0;
    if (!trouble)
        fill_each_uncleared(count_uncleared, &head);
    if (!trouble)
        head.apart = roots_anonymous_bytes(&current.roots, &maps) / LEAK_PAGE;
    head.unreadable = unreadable < UINT8_MAX ? unreadable : UINT8_MAX;
    head.retained_unknown = current.graph && !leak_graph_retained_known(current.graph);
    head.pause_ns = load_acquire(&result->pause_ns);
    head.check_ns = sys_clock_ns(CLOCK_MONOTONIC) - begun;
    struct result_input found = {.reach = current.reach,
                                 .graph = current.graph,
                                 .roots = &current.roots,
                                 .images = &current.images,
                                 .head = &head,
                                 .place = request->place,
                                 .before = request->last_place,
                                 .content_most = request->content_most,
                                 .about = request->about};
    if (!trouble && !request->silent && !(result->place = result_writer_write(&guard_self, &found)))
        trouble = LEAK_TROUBLE_NO_MEMORY;
    if (!trouble)
        write_notes(&current);
    /* The parent does not wait for a check on these occasions, so the child itself writes why it
     * failed. */
    if (trouble && (head.occasion == LEAK_OCCASION_LIMIT || head.milestone)) {
        head.rung = LEAK_RUNG_NONE;
        head.trouble = trouble;
        head.head_size = sizeof head;
        store_write_chunk(LEAK_CHUNK_SNAPSHOT, &head, sizeof head);
    }
    result->trouble = trouble;
    store_release(&result->done, 1); /* pairs with load_acquire in the parent */
    sys_futex_wake_shared(&result->done);
    sys_exit(0);
}

void leak_check_run(const struct leak_check_request *request)
{
    /* The check runs on a new stack, because the parent may have forked on a signal stack of a few
     * KiB. */
    char *stack = sys_map(STACK);
    if (stack)
        arena_register(stack, STACK);
    if (stack)
        arch_call_on(stack + STACK, run_check, (void *)request);
    sys_exit(1);
}
