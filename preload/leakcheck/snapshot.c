/* snapshot.c - starts leak checks, one at a time, and collects their results. */
#include "preload/leakcheck/snapshot.h"
#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "preload/heap/suballoc.h"
#include "preload/base/children.h"
#include "preload/base/log.h"
#include "preload/signals/stop_the_world.h"
#include "preload/leakcheck/fork_snapshot.h"
#include "preload/leakcheck/graph_path.h"
#include "preload/leakcheck/graph_stream.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/track/track.h"
#include "preload/base/lock.h"
#include "preload/memory/arena.h"
#include "leak_store.h"

#include <time.h>

/* Least time in ns for which a leak check is predicted to stop the program. */
#define PAUSE_AT_LEAST 10000000ull
/* Time in ns for which a leak check is predicted to stop the program, for each GB of resident
 * memory. */
#define PAUSE_A_GIGABYTE 55000000ull

static unsigned root_classes;
static struct turnstile check_turn; /* held by the thread that starts a leak check */
/* The number of periodic checks that were skipped: the predicted pause was too long, or a thread
 * could not be stopped. */
static uint32_t skipped;
static bool disabled;

struct pending_check {
    int pid; /* pid of the child that runs the check; 0: none; -1: fork failed */
    enum leak_occasion occasion;
    struct leak_check_result *result;
    size_t size;
    /* Bitwise complement of the address of a block: the word that holds this block is to be found;
     * 0: none. */
    uint64_t followed;
    /* Address of any byte of a block: the words that point to it are to be reported; 0: none. */
    uintptr_t about;
    uint32_t since;         /* lost blocks are counted from this tick on; 0: all are counted */
    uint32_t milestone;     /* number of the check as a milestone; 0: it is none */
    const char *graph_file; /* path from graph_path.h; NULL: no graph file is wanted */
};
/* Offsets in the recording file of the results of the last two checks, the older one first. A new
 * check overwrites the older one, so the file does not grow with the number of checks. */
static uint64_t places[2];

/* The EARLY check, before the exit handlers; the LATE one after them compares with its result. */
static struct pending_check early;
static struct pending_check last; /* the last asynchronous check, whose child may still run */

/* ---- When no check is possible --------------------------------------------------------------- */

/* Returns the reason why a leak check would be meaningless with the present options;
 * LEAK_TROUBLE_NONE: there is none. */
static enum leak_trouble unsupported_reason(void)
{
    if (options_current.sample)
        return LEAK_TROUBLE_SAMPLED;
    if (options_current.min_size || options_current.max_size)
        return LEAK_TROUBLE_FILTERED;
    if (load_relaxed(&store_header->untracked[LEAK_UNTRACKED_NO_MEMORY]))
        return LEAK_TROUBLE_UNTRACKED;
    if (!sys_may_fork())
        return LEAK_TROUBLE_SANDBOXED;
    return LEAK_TROUBLE_NONE;
}

static void write_trouble(enum leak_occasion occasion, enum leak_trouble trouble)
{
    struct leak_snapshot head = {.head_size = sizeof head,
                                 .rung = LEAK_RUNG_NONE,
                                 .occasion = occasion,
                                 .trouble = trouble,
                                 .when_ns = sys_clock_ns(CLOCK_REALTIME),
                                 .tick = load_relaxed(&store_header->epoch),
                                 .sites = sites_last(),
                                 .skipped = skipped};
    store_write_chunk(LEAK_CHUNK_SNAPSHOT, &head, sizeof head);
}

/* ---- Graph files ----------------------------------------------------------------------------- */

static const char *graph_file_reason(const struct leak_check_result *result,
                                     enum leak_trouble trouble)
{
    static const char *const words[] = {"the reason is unknown",
#define X(name, text) text,
                                        LEAK_TROUBLE_TABLE(X)
#undef X
    };
    return trouble ? words[trouble] : store_error_text(result->graph_error);
}

/* Logs whether a graph file was written, after its check has ended or could not begin. The file may
 * be complete although the rest of the check has failed, for instance for lack of time. */
static void report_graph_file(const struct pending_check *check, enum leak_trouble trouble)
{
    const struct leak_check_result *result = check->result;
    if (!result || !result->graph_written) {
        if (check->pid > 0)
            graph_stream_discard(check->graph_file, check->pid);
        log_line("no heap graph in ", check->graph_file, ": ", graph_file_reason(result, trouble),
                 NULL);
        return;
    }
    graph_path_note_written(check->graph_file);
    if (options_current.verbosity)
        log_line("heap graph: ", check->graph_file, NULL);
}

/* ---- Results of earlier checks --------------------------------------------------------------- */

static void record_place(uint64_t place)
{
    if (place == places[1])
        return;
    places[0] = places[1];
    places[1] = place;
}

/* Frees the shared memory with the result of a check, after noting where the result is in the
 * recording file. check->pid stays unchanged. */
static void release_check(struct pending_check *check)
{
    struct leak_check_result *result = check->result;
    if (result && load_acquire(&result->done) && result->place)
        record_place(result->place);
    fork_snapshot_free_result(result, check->size);
    check->result = NULL;
}

/* ---- Starting a check and waiting for it ----------------------------------------------------- */

/* Starts a check; its child is then in *out. False: no check was started. Blocks signals meanwhile,
 * because a handler of the program could wait for a lock of a stopped thread. */
static bool take_check(enum leak_occasion occasion, const struct roots_caller *caller,
                       const struct leak_check_result *before, struct pending_check *out)
{
    uint64_t mask;
    struct leak_check_request request = {.occasion = occasion,
                                         .caller = caller,
                                         .classes = root_classes,
                                         .memory_most = options_current.look_mem,
                                         .content_most = options_current.content,
                                         .skipped = skipped,
                                         .place = places[0],
                                         .last_place = places[1],
                                         .before = before,
                                         .about = out->about,
                                         .followed = out->followed,
                                         .silent = out->followed != 0,
                                         .since = out->since,
                                         .graph_file = out->graph_file,
                                         .is_milestone = leak_check_is_milestone(occasion),
                                         .header_idiom = options_current.header_idiom,
                                         .xor_key = options_current.xor };
    enum leak_trouble trouble = unsupported_reason();
    if (!trouble &&
        !(request.result = fork_snapshot_alloc_result(occasion == LEAK_OCCASION_EARLY, &out->size)))
        trouble = LEAK_TROUBLE_NO_MEMORY;
    /* Stored now, because from here on a signal handler of the program may request another
     * check. */
    out->result = request.result;
    if (!trouble) {
        sys_signals_block_handled(&mask);
        /* From here on a signal is deferred even if it is not blocked, because another thread has
         * just installed a handler for it. */
        lock_count_taken();
        uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
        out->pid = fork_snapshot_take_stopped(&request);
        if (!out->pid && occasion != LEAK_OCCASION_PERIODIC)
            out->pid = fork_snapshot_take_running(&request, &trouble);
        store_release(&request.result->pause_ns, sys_clock_ns(CLOCK_MONOTONIC) - begun);
        lock_count_given();
        sys_signals_restore(&mask);
        if (!out->pid) { /* a thread could not be stopped, so the check is skipped */
            skipped++;
            release_check(out);
            return false;
        }
        if (out->pid <= 0 && !trouble)
            trouble = LEAK_TROUBLE_NO_CHILD;
    }
    if (!trouble) {
        out->milestone = request.milestone;
        return true;
    }
    release_check(out);
    /* leakctl itself reports the error of a requested graph file. */
    if (out->graph_file && occasion != LEAK_OCCASION_CONTROL)
        report_graph_file(out, trouble);
    if (!out->followed)
        write_trouble(occasion, trouble);
    return false;
}

static bool lock_checks(void)
{
    return turnstile_enter(&check_turn, 2 * options_current.exit_budget);
}

static bool blocked; /* checks are blocked: the thread that calls exec holds check_turn */

void snapshot_block(void)
{
    blocked = lock_checks();
}

void snapshot_unblock(void)
{
    if (blocked)
        turnstile_leave(&check_turn);
    blocked = false;
}

/* Waits for the result of a check. False: there is none, and the recording file now says why. */
static bool finish_check(const struct pending_check *check, enum leak_occasion occasion)
{
    enum leak_trouble trouble = fork_snapshot_wait(check->pid, check->result);
    if (trouble)
        write_trouble(occasion, trouble);
    if (check->graph_file)
        report_graph_file(check, trouble);
    return !trouble;
}

/* Numbers of blocks and bytes, by verdict, that the last snapshot_take found. */
static struct leak_check_sum last_sums[LEAK_VERDICT_MAX];
static bool has_sums;

long snapshot_take(enum leak_occasion occasion, const struct roots_caller *caller,
                   const struct snapshot_wish *wish)
{
    struct pending_check check = {.since = wish->since};
    long lost = -1;
    if (!lock_checks())
        return -1;
    if (wish->graph_file)
        check.graph_file = graph_path_of_request(wish->graph_file);
    if (take_check(occasion, caller, NULL, &check)) {
        if (finish_check(&check, occasion))
            lost = check.result->lost_blocks;
        if (lost >= 0 && check.graph_file && !check.result->graph_written)
            lost = -1;
        if (lost >= 0) {
            memcpy(last_sums, check.result->found, sizeof last_sums);
            has_sums = true;
        }
        release_check(&check);
    }
    turnstile_leave(&check_turn);
    return lost;
}

enum snapshot_held snapshot_find_holder(const struct roots_caller *caller, uint64_t hidden,
                                        struct holder_found *out)
{
    struct pending_check check = {.followed = hidden};
    enum snapshot_held found = SNAPSHOT_HELD_UNKNOWN;
    if (!lock_checks())
        return found;
    if (take_check(LEAK_OCCASION_NONE, caller, NULL, &check)) {
        if (!fork_snapshot_wait(check.pid, check.result) && check.result->followed_exists) {
            *out = check.result->held;
            found = out->holder.word.address ? SNAPSHOT_HELD_BY_WORD : SNAPSHOT_HELD_NOT;
        }
        release_check(&check);
    }
    turnstile_leave(&check_turn);
    return found;
}

const struct leak_check_sum *snapshot_last_sums(void)
{
    return has_sums ? last_sums : NULL;
}

bool snapshot_is_busy(void)
{
    return turnstile_is_occupied(&check_turn) || children_any();
}

/* ---- The end of the process ------------------------------------------------------------------ */

bool snapshot_disable(void)
{
    return !exchange_relaxed(&disabled, true);
}

/* A function of LeakSanitizer's interface, which the program may define; a result other than 0
 * turns leak checks off. */
extern int __lsan_is_turned_off(void) __attribute__((weak));

void snapshot_early(const struct roots_caller *caller)
{
    if (disabled || !options_current.exit_look || early.pid)
        return;
    if (__lsan_is_turned_off && __lsan_is_turned_off()) {
        snapshot_disable();
        return;
    }
    if (!lock_checks())
        return;
    early.graph_file = graph_path_of_option();
    if (!take_check(LEAK_OCCASION_EARLY, caller, NULL, &early))
        early.pid = -1;
    turnstile_leave(&check_turn);
}

struct comparison {
    uint32_t at, same;
    bool differs;
};

static void compare_block(const struct block *block, void *context)
{
    struct comparison *comparison = context;
    if (!comparison->differs && leak_check_find_note(early.result, &comparison->at, block))
        comparison->same++;
    else
        comparison->differs = true;
}

/* Says whether the block table has the same blocks as at the EARLY check. Other threads may be
 * changing the table meanwhile. */
static bool is_heap_unchanged(void)
{
    struct comparison comparison = {0};
    uint64_t mask;
    sys_signals_block(&mask);
    all_locks_acquire();
    blocks_each(compare_block, &comparison);
    suballoc_each(compare_block, &comparison);
    all_locks_release();
    sys_signals_restore(&mask);
    return !comparison.differs && comparison.same == early.result->notes;
}

/* What is known of the program's memory while links are read. Where other threads may unmap memory,
 * it is copied by system calls (sys_peek); if consecutive pages are wanted, one call reads LINK_RUN
 * bytes. While the process has one thread, each page is tested once and then read directly. */
#define LINK_RUN (16 * LEAK_PAGE)
#define LINK_RUNS 16
#define LINK_PAGES 4096
/* Largest number of system calls, which take 0.1 s; if more are needed, a second leak check would
 * take no longer. */
#define LINK_READS_MOST 65536

struct link_memory {
    struct {
        uintptr_t start, end;
        /* Copy of LINK_RUN bytes of memory, of which [start, end) was read. */
        char content[LINK_RUN];
    } run[LINK_RUNS];
    uintptr_t last; /* address of the page behind the last read */
    uint32_t reads;
    /* Addresses of pages that can be read, hashed by address. */
    uintptr_t readable[LINK_PAGES];
};

/* Reads a word while no other thread can change what is mapped. */
static bool read_link_directly(struct link_memory *memory, uintptr_t at, uintptr_t *word)
{
    uintptr_t page = at & ~(LEAK_PAGE - 1);
    uintptr_t *known = &memory->readable[at / LEAK_PAGE % LINK_PAGES];
    if (*known != page && !sys_is_readable(at))
        return false;
    *known = page;
    *word = *(const uintptr_t *)at;
    return true;
}

static bool read_link(struct link_memory *memory, uintptr_t at, uintptr_t *word)
{
    if (!ARCH_MEMORY_TAGS && *lock_single_threaded && at % sizeof *word == 0)
        return read_link_directly(memory, at, word);
    uintptr_t page = at & ~(LEAK_PAGE - 1), in_run = page % LINK_RUN;
    typeof(&memory->run[0]) run = &memory->run[at / LINK_RUN % LINK_RUNS];
    if (at - run->start >= run->end - run->start) {
        size_t size = page == memory->last ? LINK_RUN - in_run : LEAK_PAGE;
        if (++memory->reads > LINK_READS_MOST)
            return false;
        if (!sys_peek(page, run->content + in_run, size) &&
            !sys_peek(page, run->content + in_run, size = LEAK_PAGE))
            return false;
        run->start = page;
        run->end = memory->last = page + size;
    }
    memcpy(word, run->content + at % LINK_RUN, sizeof *word);
    return true;
}

/* Says whether every word by which the EARLY check found a block still points to that block. False:
 * exit code has overwritten such a word, perhaps without freeing the block. */
static bool are_links_unchanged(void)
{
    struct leak_check_result *result = early.result;
    const uint64_t *links = leak_check_links(result);
    struct link_memory *memory = arena_map(sizeof *memory);
    bool same = memory != NULL;
    for (uint32_t i = 0; same && i < result->notes; i++) {
        const struct leak_check_note *note = &result->note[i];
        uintptr_t word;
        if (!links[i])
            continue;
        same = read_link(memory, links[i], &word);
        word = arch_address((void *)word);
        same = same && word >= note->address &&
               (i + 1 == result->notes || word < result->note[i + 1].address);
    }
    if (memory)
        arena_unmap(memory, sizeof *memory);
    return same;
}

void snapshot_late(const struct roots_caller *caller, enum leak_occasion occasion)
{
    struct pending_check check = {0};
    if (disabled || !options_current.exit_look || early.pid < 0)
        return;
    disabled = true;
    if (!lock_checks())
        return;
    bool known = early.pid && finish_check(&early, LEAK_OCCASION_EARLY);
    if (known)
        record_place(early.result->place);
    if (!early.pid || (known && !(is_heap_unchanged() && are_links_unchanged()))) {
        check.graph_file = graph_path_of_option();
        if (take_check(occasion, caller, known ? early.result : NULL, &check))
            finish_check(&check, occasion);
        fork_snapshot_resume();
    }
    turnstile_leave(&check_turn);
}

/* ---- Start and fork -------------------------------------------------------------------------- */

uint64_t snapshot_predicted_pause(void)
{
    char line[128];
    uint64_t pages = 0;
    if (sys_read_file("/proc/self/statm", line, sizeof line) > 0) {
        const char *resident = strchr(line, ' ');
        if (resident)
            parse_number(resident + 1, strcspn(resident + 1, " \n"), &pages);
    }
    return PAUSE_AT_LEAST + pages * sys_page_size() / 1000 * PAUSE_A_GIGABYTE / 1000000;
}

/* Reaps the child of the last asynchronous check and frees its result. False: the child is still
 * running. */
static bool reap_last(void)
{
    if (last.pid <= 0)
        return true;
    if (!children_reap(last.pid))
        return false;
    bool died = last.result && !load_acquire(&last.result->done);
    release_check(&last);
    last.pid = 0;
    if (died)
        write_trouble(last.occasion, LEAK_TROUBLE_DIED);
    return true;
}

void snapshot_reap(void)
{
    if (!turnstile_try(&check_turn))
        return;
    reap_last();
    turnstile_leave(&check_turn);
}

enum snapshot_outcome snapshot_take_async(enum leak_occasion occasion,
                                          const struct roots_caller *caller, uintptr_t about,
                                          const char *graph_file, uint32_t *milestone)
{
    struct pending_check check = {.about = about, .graph_file = graph_file, .occasion = occasion};
    bool periodic = occasion == LEAK_OCCASION_PERIODIC, begun = false;
    if (!turnstile_try(&check_turn))
        return SNAPSHOT_BUSY;
    if (!reap_last()) { /* the child of the previous check is still running */
        skipped += periodic;
        turnstile_leave(&check_turn);
        return SNAPSHOT_BUSY;
    }
    if (periodic && snapshot_predicted_pause() > options_current.pause_budget)
        skipped++;
    else if ((begun = take_check(occasion, caller, NULL, &check)))
        last = check;
    *milestone = begun ? check.milestone : 0;
    turnstile_leave(&check_turn);
    return begun ? SNAPSHOT_STARTED : SNAPSHOT_NONE;
}

void snapshot_set_roots(void)
{
    const char *list = options_current.roots;
    unsigned chosen;
    if (!roots_parse_classes(list, strlen(list), &chosen)) {
        log_bad_value("roots", list, "globals, stacks, registers, tls, user, anon; all are used");
        chosen = ~0u;
    }
    root_classes = chosen; /* a single store, because another thread may be starting a check */
}

void snapshot_start(void)
{
    snapshot_set_roots();
    roots_start();
    graph_path_start();
}

void snapshot_fork_child(void)
{
    turnstile_reset(&check_turn);
    blocked = false;
    graph_path_fork_child();
    world_fork_child();
    children_fork_child();
    release_check(&early);
    release_check(&last);
    early.pid = 0;
    last.pid = 0;
    places[0] = places[1] = 0; /* the offsets belong to the parent's recording file */
    skipped = 0;
    disabled = false;
}

/* ---- Exit callbacks -------------------------------------------------------------------------- */

#define CALLBACKS_MAX (LEAK_PAGE / sizeof(void (*)(void)))

static struct lock callback_lock; /* guards callbacks and callback_count */
static void (**callbacks)(void);
static uint32_t callback_count;

bool exit_callbacks_add(struct guard *guard UNUSED, void (*callback)(void))
{
    struct locked locked = lock_take(&callback_lock);
    if (!callbacks)
        callbacks = arena_map(LEAK_PAGE);
    bool fits = callbacks && callback_count < CALLBACKS_MAX;
    if (fits)
        callbacks[callback_count++] = callback;
    lock_give(&locked);
    return fits;
}

void exit_callbacks_run(void)
{
    for (;;) {
        struct locked locked = lock_take(&callback_lock);
        void (*callback)(void) = callback_count ? callbacks[--callback_count] : NULL;
        lock_give(&locked);
        if (!callback)
            return;
        callback();
    }
}

LOCK_FOR_FORK(exit_callbacks, &callback_lock)
