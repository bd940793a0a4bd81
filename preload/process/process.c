#include "preload/process/process.h"
#include "preload/store/process_info.h"
#include "preload/base/arena.h"
#include "preload/process/deferred_work.h"
#include "preload/base/atomic.h"
#include "preload/process/breakpoint.h"
#include "preload/heap/blocks.h"
#include "preload/misuse/break_at.h"
#include "preload/heap/capture.h"
#include "preload/process/crash.h"
#include "preload/misuse/eventlog.h"
#include "preload/leakcheck/exit_callbacks.h"
#include "preload/process/process_exit.h"
#include "preload/process/fork_child.h"
#include "preload/heap/free_history.h"
#include "preload/unwind/golang.h"
#include "preload/interpose/got_patch.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/store/append_file.h"
#include "preload/base/memory_limits.h"
#include "preload/interpose/late_load.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/process/lsan.h"
#include "preload/misuse/misuse.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/operator_override.h"
#include "preload/options/options.h"
#include "preload/unwind/unwind_check.h"
#include "preload/heap/quarantine.h"
#include "preload/leakcheck/all_locks.h"
#include "preload/interpose/real_functions.h"
#include "preload/process/reports.h"
#include "preload/resources/resources.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/heap/sample.h"
#include "preload/elf/sanitized.h"
#include "preload/unwind/sites.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/heap/threads.h"
#include "preload/base/run_leakreport.h"
#include "preload/track/track.h"
#include "preload/unwind/context_tree.h"
#include "preload/misuse/alloc_watch.h"
#include "arch.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

int process_status;

/* ONLY_CRASHES: there is a store, and blocks are not tracked: hooks find nobody alive. */
static enum { BEFORE_START, STARTING, RUNNING, ONLY_CRASHES, OFF } state;
static const bool never_alive;
static bool *alive;
static char library[PATH_MAX];
static char options_text[4096];
static uint64_t missed_at_start;

const bool *process_alive = &never_alive;

const char *process_library(void)
{
    return library;
}

const char *process_options_text(void)
{
    return options_text;
}

bool process_running(void)
{
    return state == RUNNING || state == ONLY_CRASHES;
}

void process_missed(void)
{
    if (guard_self.calling_real)
        return sample_again();
    if (state == RUNNING && *process_alive)
        store_untracked(LEAK_UNTRACKED_NESTED, 1);
    else if (state < RUNNING && !guard_self.sp)
        missed_at_start++;
    sample_again();
}

/* ---- Start ---------------------------------------------------------------------------------- */

static void complain(const char *what, const char *item, const char *where)
{
    log_line(what, " '", item, "' in ", where, ": ignored; LIBLEAK_OPTIONS=help=1 lists them all",
             NULL);
}

static void say(const char *line)
{
    log_line(line, NULL);
}

static void remember_library(char **envp)
{
    Dl_info info;
    struct text path = TEXT_ON(library), text = TEXT_ON(options_text);
    if (dladdr((void *)process_start, &info) && info.dli_fname) {
        char here[PATH_MAX];
        if (info.dli_fname[0] != '/' && sys_getcwd(here, sizeof here) > 0) {
            text_add(&path, here);
            text_add(&path, "/");
        }
        text_add(&path, info.dli_fname);
    }
    const char *given = environment_get(envp, "LIBLEAK_OPTIONS");
    if (given)
        text_add(&text, given);
}

static bool make_alive_page(void)
{
    alive = sys_map(LEAK_PAGE);
    if (!alive)
        return false;
    arena_own(alive, LEAK_PAGE);
    sys_advise(alive, LEAK_PAGE, MADV_WIPEONFORK);
    return true;
}

static void speak_up(void)
{
    char buffer[4096];
    struct text text = TEXT_ON(buffer);
    if (options_help_wanted())
        options_help(say);
    if (!track_options.verbosity)
        return;
    log_line("store: ", store_path()[0] ? store_path() : "in memory only", NULL);
    options_describe(&track_options, &text);
    for (char *line = buffer, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        log_line("option ", line, NULL);
    }
    for (enum option_source source = 0; source < SOURCE_MAX; source++)
        if (*options_passed_over(source))
            log_line(options_source_name(source), ": libleak has no form of ",
                     options_passed_over(source), NULL);
}

/* A program that brings its own malloc calls that one: the loader asks the program first. */
static void look_for_other_allocators(void)
{
    if (operators_is_anothers("malloc"))
        store_untracked(LEAK_UNTRACKED_OWN_ALLOCATOR, 1);
    operators_start();
}

static bool build(struct guard *guard, char **envp)
{
    char name[PATH_MAX];
    if (!make_alive_page() || !store_create(track_options.dir, about_name(name, sizeof name), envp))
        return false;
    track_begin();
    about_put();
    modules_start(rows_forget);
    handlers_want_our_stack = golang_is_around;
    got_start((const void *)process_start);
    if (track_options.crash == CRASH_ONLY) {
        store_flag(LEAK_FLAG_CRASH_ONLY);
        track_options.exit_look = false;
        return rows_start();
    }
    if (late_is()) {
        store_flag(LEAK_FLAG_LATE);
        handlers_adopt(real.sigaction);
    }
    lsan_start();
    misuse_start(track_options.on_error, track_options.live_errors);
    limits_start();
    sites_start();
    if (!rows_start() || !tree_start() || !blocks_start() || !freed_start() ||
        !threads_start(guard) || !sample_start(track_options.sample, track_options.max_memory))
        return false;
    if (!sample_bytes && !quarantine_start(track_options.quarantine))
        log_line("no memory for the queue of quarantine=: frees are not put off", NULL);
    eventlog_start(&track_options, about_name(name, sizeof name));
    track_ready();
    resources_start(guard);
    capture_start();
    reports_start();
    asked_start();
    snapshot_start();
    if (!track_options.site_stacks)
        store_flag(LEAK_FLAG_NO_STACKS);
    if (track_options.min_size || track_options.max_size)
        store_flag(LEAK_FLAG_FILTERED);
    if (!late_is())
        look_for_other_allocators();
    store_untracked(LEAK_UNTRACKED_BOOT, missed_at_start);
    oracle_start(&track_options);
    breaks_start(track_options.break_at);
    watch_start(guard);
    return true;
}

static bool account_for_crash(void);
static void tell_of_crash(void);
static void prepare_fork(void);
static void parent_forked(void);
static void child_forked(void);

static void await_function(void)
{
    if (!*track_options.start_at || !real.sigaction || track_options.crash == CRASH_ONLY)
        return;
    if (track_options.crash == CRASH_OFF)
        crash_stand_in(SIGILL);
    awaited_start(track_options.start_at, capture_enable_all, real.sigaction);
}

static void start(struct guard *guard, char **envp)
{
    state = STARTING;
    if (sanitized()) {
        state = OFF;
        log_start();
        log_line("this program was built with a sanitizer, which has a malloc of its own: it runs "
                 "untracked; see what AddressSanitizer says with ASAN_OPTIONS=detect_leaks=1",
                 NULL);
        return;
    }
    lock_start();
    real_find();
    log_start();
    if (getauxval(AT_SECURE)) /* a setuid program: its caller's environment says nothing to us */
        envp = NULL;
    lsan_hear_options();
    options_load(&track_options, envp, complain);
    lsan_load(envp);
    remember_library(envp);
    tool_start(library);
    if (!track_options.enabled) {
        state = OFF;
        return;
    }
    arena_limit(track_options.max_memory);
    if (!build(guard, envp)) {
        state = OFF;
        log_line(
            "no memory for libleak itself: the program runs untracked. Raise max_memory or the "
            "address space limit",
            NULL);
        return;
    }
    pthread_atfork(prepare_fork, parent_forked, child_forked);
    finish_register();
    speak_up();
    if (track_options.crash != CRASH_OFF)
        crash_start(guard, account_for_crash, tell_of_crash);
    await_function();
    *alive = true;
    state = track_options.crash == CRASH_ONLY ? ONLY_CRASHES : RUNNING;
    if (state == RUNNING)
        process_alive = alive;
}

void process_start(char **envp)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = guard_enter(&caller);
    if (!guard)
        return;
    if (state == BEFORE_START)
        start(guard, envp);
    guard_leave(guard);
}

/* ---- Fork ------------------------------------------------------------------------------- */

/* While fork holds the locks: a handler of the program's that allocates would wait for ourselves.
 */
static bool fork_holds;
static uint64_t fork_mask;

/* Every lock that a copied child would find held by a thread it does not have. */
static void prepare_fork(void)
{
    uint64_t mask;
    if (state != ONLY_CRASHES && (state != RUNNING || !*alive))
        return;
    sys_signals_block(&mask);
    quiet_begin();
    fork_holds = true;
    fork_mask = mask;
}

static void give_fork_locks(void)
{
    uint64_t mask = fork_mask;
    fork_holds = false;
    quiet_end();
    sys_signals_restore(&mask);
}

static void parent_forked(void)
{
    if (fork_holds)
        give_fork_locks();
}

/* The child's first hook does the work; until then it owns nothing, and a child that execs at once
 * pays nothing. But a handler that forked returns into the hook it had interrupted, in the child as
 * well: what that hook still writes must not reach the parent's account. */
static void child_forked(void)
{
    awaited_fork_child();
    if (!fork_holds)
        return;
    journal_forked();
    *alive = false; /* so it is already, unless madvise is not to be believed (qemu-user) */
    if (guard_self.sp)
        store_detach();
    give_fork_locks();
    sample_forked();
}

/* A fork child may have no store yet. Memory that is shared with the parent is the parent's
 * (vfork), and a thread that is inside of the runtime may be in the middle of making one. */
static bool account_for_crash(void)
{
    if (store_header && store_header->pid == sys_getpid())
        return true;
    if (*alive || guard_self.sp || lock_thread.held || !process_running())
        return false;
    struct frame nobody = {.sp = 1};
    struct guard *guard = guard_enter(&nobody);
    bool done = guard && (state == RUNNING ? forked_begin(guard) : forked_begin_bare());
    if (guard)
        guard_leave(guard);
    if (done)
        *alive = true;
    return done;
}

/* Other threads still run, and none of them is waited for. */
static void tell_of_crash(void)
{
    eventlog_end(false);
    finish_tell();
}

/* Before libc's own constructor has run, environ is not set yet. */
static char **environment_from_kernel(void)
{
    size_t size = 256 << 10, entries = 0;
    char *text = arena_map(size);
    char **list = arena_map(size);
    ssize_t length = text ? sys_read_file("/proc/self/environ", text, size) : -1;
    for (ssize_t at = 0; list && at < length; at += strlen(text + at) + 1)
        if (entries + 1 < size / sizeof *list)
            list[entries++] = text + at;
    return list;
}

bool process_wake(struct guard *guard)
{
    if (state == BEFORE_START) /* somebody's constructor came before ours */
        start(guard, environ ? environ : environment_from_kernel());
    if (state != RUNNING)
        return false;
    if (*alive)
        return true;
    /* A handler could fork, or leave by longjmp, when half of it is done. */
    uint64_t mask;
    sys_signals_block(&mask);
    bool done = forked_begin(guard);
    sys_signals_restore(&mask);
    if (!done) {
        state = OFF;
        log_line("no memory for the account of a forked child: it runs untracked", NULL);
        return false;
    }
    *alive = true;
    if (track_options.verbosity)
        log_line("store of the forked child: ", store_path(), NULL);
    return true;
}

/* ---- exec and end ----------------------------------------------------------------------- */

/* A vfork child shares our memory but is not us; a fork child may still hold its parent's store. */
static bool account_is_ours(void)
{
    return process_running() && *alive && sys_getpid() == store_header->pid;
}

bool process_exec_begin(void)
{
    if (!account_is_ours())
        return false;
    snapshot_hold();
    eventlog_pause();
    track_tick();
    uint32_t tick = load_relaxed(&store_header->epoch);
    store_release(&store_header->exec_at, tick ? tick : 1);
    return true;
}

void process_exec_undo(void)
{
    store_release(&store_header->exec_at, 0);
    snapshot_let_go();
}

/* Whatever calls exit in a handler of exit has had its look. */
NOINLINE bool process_exit_called(const uintptr_t *record)
{
    struct frame caller = FRAME_ABOVE(record);
    struct roots_taker taker = SNAPSHOT_TAKER(&caller);
    if (!account_is_ours())
        return false;
    farewell_call();
    snapshot_early(&taker);
    return true;
}

void process_quick_exit(int status)
{
    if (account_is_ours())
        finish_expect(status);
}

NOINLINE bool process_ends(const uintptr_t *record)
{
    struct frame caller = FRAME_ABOVE(record);
    struct roots_taker taker = SNAPSHOT_TAKER(&caller);
    if (!account_is_ours())
        return false;
    struct guard *guard = guard_enter(&caller);
    finish_now(process_status, &taker, LEAK_OCCASION_ABRUPT);
    if (guard)
        guard_leave(guard);
    return true;
}
