#include "preload/process/locked_memory.h"
#include "preload/process/process.h"
#include "preload/heap/threads.h"
#include "preload/store/fork_chain.h"
#include "preload/store/store.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "preload/process/start_breakpoint.h"
#include "preload/misuse/alloc_watch.h"
#include "preload/heap/capture.h"
#include "preload/process/crash.h"
#include "preload/follow/follow.h"
#include "preload/misuse/eventlog.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/process/lifecycle.h"
#include "preload/interpose/golang.h"
#include "preload/interpose/got_patch.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/store/log_file.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/process/lsan.h"
#include "preload/misuse/bad_free.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/operator_override.h"
#include "preload/options/options.h"
#include "preload/heap/quarantine.h"
#include "preload/leakcheck/fork_snapshot.h"
#include "preload/track/fill.h"
#include "preload/interpose/real_functions.h"
#include "preload/resources/resource_records.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/heap/sample.h"
#include "preload/elf/exec_target.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/base/children.h"
#include "preload/track/track.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* The state of libleak in this process. ONLY_CRASHES: there is a recording, but blocks are not
 * tracked, and hooks only forward calls. */
static enum { BEFORE_START, STARTING, RUNNING, ONLY_CRASHES, DETACHED, OFF } state;
static const bool never_recording;
struct process_state process_state = {.recording = &never_recording};
static bool *recording;
static char library_path[PATH_MAX], other_library_path[PATH_MAX];
static char options_text[4096];
static uint64_t missed_at_start;

const char *process_library_path(void)
{
    return library_path;
}

const char *process_other_library_path(void)
{
    return other_library_path;
}

const char *process_options_text(void)
{
    return options_text;
}

bool process_is_running(void)
{
    return state == RUNNING || state == ONLY_CRASHES;
}

void process_count_missed(void)
{
    if (guard_self.calling_real)
        return sample_redraw();
    if (state == RUNNING && *process_state.recording)
        store_count_untracked(LEAK_UNTRACKED_NESTED, 1);
    else if (state < RUNNING && !guard_self.sp)
        missed_at_start++;
    sample_redraw();
}

/* ---- Start ----------------------------------------------------------------------------------- */

static void log_ignored(const char *what, const char *item, const char *where)
{
    log_line(what, " '", item, "' in ", where, ": ignored; LIBLEAK_OPTIONS=help=1 lists them all",
             NULL);
}

static void log_text(const char *line)
{
    log_line(line, NULL);
}

static void save_other_library_path(void)
{
    struct strbuf path = STRBUF_ON(other_library_path);
    const char *name = strrchr(library_path, '/');
    if (!name)
        return;
    strbuf_add_bytes(&path, library_path, name - library_path);
    strbuf_add_all(&path, sizeof(uintptr_t) == 8 ? "/32" : "/..", name, NULL);
    if (path.cut)
        other_library_path[0] = '\0';
}

static void save_library_path(char **envp)
{
    Dl_info info;
    struct strbuf path = STRBUF_ON(library_path), text = STRBUF_ON(options_text);
    if (dladdr((void *)process_start, &info) && info.dli_fname) {
        char here[PATH_MAX];
        if (info.dli_fname[0] != '/' && sys_getcwd(here, sizeof here) > 0) {
            strbuf_add(&path, here);
            strbuf_add(&path, "/");
        }
        strbuf_add(&path, info.dli_fname);
    }
    save_other_library_path();
    const char *given = options_getenv(envp, "LIBLEAK_OPTIONS");
    if (given)
        strbuf_add(&text, given);
}

static bool create_recording_page(void)
{
    recording = sys_map(LEAK_PAGE);
    if (!recording)
        return false;
    arena_register(recording, LEAK_PAGE);
    sys_advise(recording, LEAK_PAGE, MADV_WIPEONFORK);
    return true;
}

/* Logs which option files are ignored, once in a tree of processes. */
static void log_option_files(void)
{
    for (enum option_source source = 0; source < SOURCE_MAX; source++) {
        const struct options_file *file = options_get_file(source);
        if (file && file->refusal &&
            (options_current.verbosity || !sys_parent_has_mapped("/libleak.so")))
            log_line("option file ", file->path, " ignored: ", file->refusal, NULL);
        else if (file && !file->refusal && options_current.verbosity)
            log_line("option file ", file->path, NULL);
    }
}

static void log_startup(void)
{
    char buffer[4096];
    struct strbuf text = STRBUF_ON(buffer);
    if (options_help_wanted())
        options_help(log_text);
    if (!options_current.verbosity)
        return;
    log_line("version ", LEAK_VERSION, NULL);
    log_line("store: ", store_path()[0] ? store_path() : "in memory only", NULL);
    options_describe(&options_current, &text);
    for (char *line = buffer, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        log_line("option ", line, NULL);
    }
    for (enum option_source source = 0; source < SOURCE_MAX; source++)
        if (*options_unsupported(source))
            log_line(options_source_name(source), ": libleak has no form of ",
                     options_unsupported(source), NULL);
}

/* Detects allocators of the program. A program that defines malloc calls its own, not libleak's,
 * because the loader looks for symbols in the program first. */
static void find_other_allocators(void)
{
    if (real_functions_loaded_late())
        return;
    if (operator_override_has("malloc"))
        store_count_untracked(LEAK_UNTRACKED_OWN_ALLOCATOR, 1);
    operator_override_start();
}

static void start_blocks(void)
{
    blocks_start();
    blocks_set_spacing(real_functions_have_libc_malloc());
}

static void start_quarantine(void)
{
    if (!sample_state.bytes && !quarantine_start(options_current.quarantine))
        log_line("no memory for the queue of quarantine=: frees are not put off", NULL);
}

static void start_eventlog(void)
{
    char name[PATH_MAX];
    eventlog_start(&options_current, process_info_program_name(name, sizeof name));
}

static bool ensure_crash_recording(void);
static void report_crash(void);
static void before_fork(void);
static void after_fork_in_parent(void);
static void after_fork_in_child(void);

static void start_crash(struct guard *guard)
{
    if (options_current.crash != CRASH_OFF)
        crash_start(guard, ensure_crash_recording, report_crash);
}

/* Says whether the signal can be handled. With crash=off a handler is installed for this signal
 * alone. */
static bool catch_signal(bool wanted, int number)
{
    if (!wanted || !real.sigaction)
        return false;
    if (options_current.crash == CRASH_OFF)
        crash_install_handler(number);
    return true;
}

static void forget_objects(uintptr_t start, uintptr_t end)
{
    unwind_forget(start, end);
    capture_forget_objects(start, end);
}

static void start_breakpoint(void)
{
    if (catch_signal(*options_current.start_at, SIGILL))
        breakpoint_start(options_current.start_at, capture_enable_all, real_sigaction);
}

static void start_slot_watch(void)
{
    if (catch_signal(follow_is_on(), SIGTRAP))
        follow_start_traps(real_sigaction);
}

static void start_alloc_watch(struct guard *guard)
{
    break_at_start(options_current.break_at);
    alloc_watch_start(guard);
}

/* The steps of lifecycle.def whose functions need arguments; their order here does not matter. */
#define START(name, call)                                                                          \
    LIFECYCLE_RUN(name)                                                                            \
    {                                                                                              \
        call;                                                                                      \
        return true;                                                                               \
    }
START(process_info, process_info_write())
START(modules, modules_start(forget_objects))
START(golang, trampoline_callbacks.wants_altstack = golang_detect)
START(got_patch, got_patch_start((const void *)process_start))
START(signal_trampoline,
      if (real_functions_loaded_late()) trampoline_wrap_installed(real_sigaction))
START(bad_free, bad_free_start(options_current.on_error, options_current.live_errors))
START(blocks, start_blocks())
START(sample, return sample_start(options_current.sample, options_current.max_memory))
START(quarantine, start_quarantine())
START(eventlog, start_eventlog())
START(fill, fill_start(envp))
START(follow, follow_start(options_current.follow_blocks); track_select_path())
START(resources, resources_start(guard))
START(operator_override, find_other_allocators())
START(alloc_watch, start_alloc_watch(guard))
START(crash, start_crash(guard))
START(fatal_signal, if (options_current.fatal_look) fatal_signal_start())
START(start_breakpoint, start_breakpoint())
START(slot_watch, start_slot_watch())

#define MODULE(name, file, lock, how, ...) LIFECYCLE_##how(name, start)
#include "preload/lifecycle.def"

static const struct lifecycle_step start_steps[LIFECYCLE_STARTS] = {
#define MODULE(name, file, lock, how, step, child, child_step, end, end_step, scope)               \
    LIFECYCLE_ROW_##how(name, step, scope)
#include "preload/lifecycle.def"
};

static void set_recording_flags(bool only_crash)
{
    if (only_crash) {
        store_set_flag(LEAK_FLAG_CRASH_ONLY);
        options_current.exit_look = false;
        return;
    }
    if (real_functions_loaded_late())
        store_set_flag(LEAK_FLAG_LATE);
    if (options_current.exit_look)
        store_set_flag(LEAK_FLAG_EXIT_LOOK);
    if (!options_current.site_stacks)
        store_set_flag(LEAK_FLAG_NO_STACKS);
    if (options_current.min_size || options_current.max_size)
        store_set_flag(LEAK_FLAG_FILTERED);
    store_count_untracked(LEAK_UNTRACKED_BOOT, missed_at_start);
}

static bool start_modules(struct guard *guard, char **envp)
{
    char name[PATH_MAX];
    bool only_crash = options_current.crash == CRASH_ONLY;
    if (real_functions_loaded_late())
        locked_memory_start_late();
    if (!create_recording_page() ||
        !store_create(options_current.dir, process_info_program_name(name, sizeof name), envp))
        return false;
    set_recording_flags(only_crash);
    return lifecycle_run(start_steps, LIFECYCLE_STARTS, only_crash, guard, envp);
}

static void start_process(struct guard *guard, char **envp)
{
    state = STARTING;
    if (process_is_sanitized()) {
        state = OFF;
        log_start();
        log_line("this program was built with a sanitizer, which has a malloc of its own: it runs "
                 "untracked; see what AddressSanitizer says with ASAN_OPTIONS=detect_leaks=1",
                 NULL);
        return;
    }
    /* The environment of a setuid program comes from a user who is not trusted. */
    if (getauxval(AT_SECURE))
        envp = NULL;
    if (options_getenv(envp, LEAK_HELPER_VARIABLE)) {
        real_functions_find();
        state = OFF;
        return;
    }
    sandbox_probe_inherited();
    sys_learn_identity();
    lock_start();
    real_functions_find();
    log_start();
    lsan_register_parser();
    options_load(&options_current, envp, log_ignored);
    lsan_load_options(envp);
    save_library_path(envp);
    leakreport_set_library(library_path);
    if (!options_current.enabled || process_is_under_valgrind()) {
        state = OFF;
        if (options_current.enabled && options_current.verbosity)
            log_line("this program runs under valgrind: it runs untracked", NULL);
        return;
    }
    log_option_files();
    arena_set_limit(options_current.max_memory);
    if (!start_modules(guard, envp)) {
        state = OFF;
        log_line(
            "no memory for libleak itself: the program runs untracked. Raise max_memory or the "
            "address space limit",
            NULL);
        return;
    }
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    process_exit_register();
    log_startup();
    *recording = true;
    state = options_current.crash == CRASH_ONLY ? ONLY_CRASHES : RUNNING;
    if (state == RUNNING)
        process_state.recording = recording;
}

void process_start(char **envp)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = guard_enter(&caller);
    if (!guard)
        return;
    if (state == BEFORE_START)
        start_process(guard, envp);
    guard_leave(guard);
}

/* ---- Attach and detach ----------------------------------------------------------------------- */

/* Installs signal handlers again. First the program's handlers get trampolines. Then libleak's own
 * handler is installed, which must not have a trampoline, because syscall_restart takes each
 * handler behind a trampoline for one of the program. */
static void resume_signals(void)
{
    trampoline_wrap_installed(real_sigaction);
    trampoline_replace_again(real_sigaction);
    deferred_work_resume();
}

/* Begins recording again. In a fork child of a detached process the recording is the parent's, in
 * which the child must not write; a recording of its own can only be begun by the thread that
 * forked, which is the first one. */
static void resume_recording(struct guard *guard)
{
    if (store_header->pid == sys_getpid()) {
        track_forget_blocks(guard);
        store_clear_flag(LEAK_FLAG_DETACHED);
        resume_signals();
        /* Set before `state`: RUNNING while *recording is false means a fork child without a
         * recording. */
        *recording = true;
        state = RUNNING;
        return;
    }
    if (sys_gettid() != sys_getpid())
        return;
    state = RUNNING;
    if (!process_enter_slow(guard))
        return;
    track_forget_blocks(guard);
    resume_signals();
}

bool process_attach(char **envp)
{
    struct frame caller = CALLER_FRAME();
    if (process_is_running())
        return false;
    process_start(envp);
    struct guard *guard = state == DETACHED ? guard_enter(&caller) : NULL;
    if (guard) {
        resume_recording(guard);
        guard_leave(guard);
    }
    return true;
}

bool process_detach(void)
{
    if (state != RUNNING || !real_functions_loaded_late())
        return false;
    bool own = store_header->pid == sys_getpid();
    /* Set before *recording: RUNNING while that is false means a fork child without a recording. */
    state = DETACHED;
    __asm__ volatile("" ::: "memory");
    *recording = false;
    if (own) {
        store_set_flag(LEAK_FLAG_DETACHED);
        deferred_work_pause();
        snapshot_reap();
    }
    trampoline_unwrap_installed(real_sigaction);
    return true;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

/* In fork: fork_holds says that fork has taken all locks of the runtime, fork_holds_streams that it
 * has taken libc's lock of its list of streams. Meanwhile signals are blocked, because a handler of
 * the program that allocates would deadlock; fork_mask is the signal mask to restore. */
static bool fork_holds, fork_holds_streams;
static uint64_t fork_mask;

/* Take and release libc's lock of its list of streams. With more than one thread, libc's fork takes
 * that lock after the handlers of pthread_atfork, and gives the child a free one. */
extern void _IO_list_lock(void) __attribute__((weak));
extern void _IO_list_unlock(void) __attribute__((weak));

/* Takes every lock that another thread could hold, because that thread does not exist in the child.
 * A thread that holds libc's list of streams (fopen, fclose, fflush(NULL)) may allocate and wait
 * for a lock of libleak, so that list is locked first. Its lock is recursive. */
static void before_fork(void)
{
    uint64_t mask;
    fork_chain_before_fork(guard_self.thread ? guard_self.thread->serial : 0);
    if (state != ONLY_CRASHES && (state != RUNNING || !*recording))
        return;
    bool streams = !*lock_single_threaded && _IO_list_lock && _IO_list_unlock;
    if (streams)
        _IO_list_lock();
    sys_signals_block(&mask);
    all_locks_acquire();
    fork_holds = true;
    fork_holds_streams = streams;
    fork_mask = mask;
}

static void release_fork_locks(bool streams)
{
    uint64_t mask = fork_mask;
    fork_holds = false;
    all_locks_release();
    sys_signals_restore(&mask);
    if (streams)
        _IO_list_unlock();
}

static void after_fork_in_parent(void)
{
    sandbox_note_child();
    if (fork_holds)
        release_fork_locks(fork_holds_streams);
}

/* Prepares the child; its first hook begins a recording, so a child that only calls exec costs
 * nothing. If a signal handler has forked, the child also returns into the interrupted hook: the
 * rest of that hook must not write to the parent's recording. */
static void after_fork_in_child(void)
{
    sys_learn_identity_in_child();
    fork_chain_fork_child();
    breakpoint_fork_child();
    if (!fork_holds)
        return;
    log_file_detach();
    /* The kernel has already cleared *recording (MADV_WIPEONFORK), but qemu-user does not. */
    *recording = false;
    if (guard_self.sp)
        store_make_private();
    release_fork_locks(false);
    sample_reset_thread();
}

/* Gives the process a recording of its own before a crash is recorded, because a fork child may
 * have none. False: that is not possible. A vfork child shares memory with its parent, and a thread
 * inside the runtime may be just beginning a recording. */
static bool ensure_crash_recording(void)
{
    if (store_header && store_header->pid == sys_getpid())
        return true;
    if (*recording || guard_self.sp || lock_thread.held || !process_is_running())
        return false;
    struct frame nobody = {.sp = 1};
    struct guard *guard = guard_enter(&nobody);
    bool done = guard && (state == RUNNING ? fork_child_start_recording(guard)
                                           : fork_child_start_crash_only());
    if (guard)
        guard_leave(guard);
    if (done)
        *recording = true;
    return done;
}

/* Writes the report after a crash. Other threads still run, and this function does not wait for
 * them. */
static void report_crash(void)
{
    eventlog_end(false);
    process_exit_report();
}

/* Reads the environment from /proc, because libc's constructor has not set environ yet. */
static char **read_environment(void)
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

bool process_enter_slow(struct guard *guard)
{
    /* The first call can come before libleak's constructor: from another constructor that runs
     * earlier. */
    if (state == BEFORE_START)
        start_process(guard, environ ? environ : read_environment());
    if (state != RUNNING)
        return false;
    if (*recording)
        return true;
    /* Signals are blocked, because a handler could fork or leave by longjmp while the recording is
     * being created. */
    uint64_t mask;
    sys_signals_block(&mask);
    bool done = fork_child_start_recording(guard);
    sys_signals_restore(&mask);
    if (!done) {
        state = OFF;
        log_line("no memory for the recording of a forked child: it runs untracked", NULL);
        return false;
    }
    *recording = true;
    if (options_current.verbosity)
        log_line("store of the forked child: ", store_path(), NULL);
    return true;
}

/* ---- exec and end ---------------------------------------------------------------------------- */

/* Says whether this process owns the recording. A vfork child, which shares its parent's memory,
 * and a fork child that has not begun a recording do not. */
static bool owns_recording(void)
{
    return process_is_running() && *recording && sys_getpid() == store_header->pid;
}

bool process_exec_begin(void)
{
    if (!owns_recording())
        return false;
    snapshot_block();
    eventlog_pause();
    track_tick();
    uint32_t tick = load_relaxed(&store_header->epoch);
    store_release(&store_header->exec_at, tick ? tick : 1);
    return true;
}

void process_exec_undo(void)
{
    store_release(&store_header->exec_at, 0);
    snapshot_unblock();
}

/* Does the last work before exit handlers run. If an exit handler calls exit again, the leak check
 * is not repeated. */
NOINLINE bool process_before_exit(const uintptr_t *record)
{
    struct frame caller = FRAME_ABOVE(record);
    struct roots_caller taker = SNAPSHOT_CALLER(&caller);
    if (!owns_recording())
        return false;
    exit_callbacks_run();
    follow_end(&caller);
    snapshot_early(&taker);
    return true;
}

void process_quick_exit(int status)
{
    if (owns_recording())
        process_exit_set_status(status);
}

NOINLINE bool process_before_abrupt_exit(const uintptr_t *record)
{
    struct frame caller = FRAME_ABOVE(record);
    struct roots_caller taker = SNAPSHOT_CALLER(&caller);
    if (!owns_recording())
        return false;
    struct guard *guard = guard_enter(&caller);
    process_exit_record(LEAK_END_EXIT, process_state.exit_status, &taker, LEAK_OCCASION_ABRUPT);
    if (guard)
        guard_leave(guard);
    return true;
}
