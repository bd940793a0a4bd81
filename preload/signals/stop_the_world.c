#include "preload/signals/stop_the_world.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/base/lock.h"
#include "preload/interpose/real_functions.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "context.h"
#include "leak_store.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

/* Nanoseconds without an answer of any thread, after which the threads that have not answered are
 * examined. */
#define LATE 4000000
/* Number of examinations after which a thread that may still answer is given up. */
#define MAX_LATE 25
#define MAX_DEAF 64
#define MAX_CALLS 256 /* with more threads, their system calls are not read from /proc */

/* The value that is sent with the stop signal: a mark that the signal is libleak's, the generation,
 * and the thread's index in world.thread. */
#define MARK (sizeof(uintptr_t) == 8 ? 0x6c6bull : 0x6cull)
#define MARK_SHIFT (sizeof(uintptr_t) == 8 ? 48 : 24)
#define ROUND_SHIFT (sizeof(uintptr_t) == 8 ? 32 : 16)
#define ROUND_MASK (sizeof(uintptr_t) == 8 ? 0xffff : 0xff)

enum { TO_SIGNAL, SIGNALLED, BUSY, STOPPED, ENDED }; /* states of a thread (struct world_thread) */

static int reserved_number;
static void (*on_request)(siginfo_t *info, ucontext_t *context);
static bool (*is_on_own_stack)(uintptr_t sp);
static void (*program_handler)(int, siginfo_t *, void *);
static bool program_ignores;
static bool installed;

/* Odd while threads must stop; a futex on which stopped threads wait for the next value. */
static uint32_t generation;
static uint32_t answers; /* counts answers of threads; a futex on which world_stop waits */
static struct world *current;

int world_signal(void)
{
    return reserved_number;
}

bool world_thread_is_stopped(const struct world_thread *thread)
{
    return thread->state == STOPPED;
}

/* ---- In the thread that must stop ------------------------------------------------------------ */

static void *signal_value(uint32_t round, uint32_t at)
{
    return (void *)(uintptr_t)(MARK << MARK_SHIFT | (uint64_t)(round & ROUND_MASK) << ROUND_SHIFT |
                               at);
}

static struct world_thread *own_entry(const siginfo_t *info, uint32_t round)
{
    struct world *world = load_acquire(&current);
    uint32_t at = (uintptr_t)info->si_value.sival_ptr & ((1ull << ROUND_SHIFT) - 1);
    int tid = sys_gettid();
    if (!world || !(round & 1) || info->si_value.sival_ptr != signal_value(round, at))
        return NULL;
    if (at < load_relaxed(&world->count) && world->thread[at].tid == tid)
        return &world->thread[at];
    return NULL;
}

static void publish_answer(struct world_thread *entry, uint32_t state)
{
    /* pairs with load_acquire in signal_threads, which then sees the entry's other members */
    store_release(&entry->state, state);
    add_release(&answers, 1);
    sys_futex_wake(&answers, 1);
}

bool world_thread_is_busy(void)
{
    return guard_self.sp || lock_thread.held || lock_thread.put_off;
}

static void wait_stopped(struct world_thread *entry, uint32_t round, ucontext_t *context)
{
    entry->thread = guard_self.thread;
    entry->block = arch_thread_block();
    entry->context = context;
    struct syscall_interrupted call = entry->call;
    /* The thread counts as holding a lock of the runtime, so the program's handlers are deferred.
     * One could run otherwise if it is installed during the stop: its signal is not blocked. */
    lock_thread.held++;
    publish_answer(entry, STOPPED);
    while (load_acquire(&generation) == round) /* world_resume changes the generation */
        sys_futex_wait(&generation, round);
    lock_thread.held--;
    lock_thread.put_off = false; /* signals are unblocked when this handler returns */
    syscall_restart(context, &call);
}

/* The stop signal that came while the thread was in the runtime; it is sent again when the hook
 * ends. */
static __thread siginfo_t deferred __attribute__((tls_model("initial-exec")));

static void send_deferred(void)
{
    sys_signal_self(reserved_number, &deferred);
}

static void defer_stop(struct world_thread *entry, const siginfo_t *info)
{
    deferred = *info;
    __asm__ volatile("" ::: "memory");
    guard_self.asked = true;
    publish_answer(entry, BUSY);
}

static bool is_stop_signal(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_pid == sys_getpid() &&
           (uint64_t)(uintptr_t)info->si_value.sival_ptr >> MARK_SHIFT == MARK;
}

/* The system calls of world_note_calls. */
static struct {
    int tid;
    struct syscall_interrupted call;
} noted[2];

static struct syscall_interrupted noted_call(void)
{
    int tid = sys_gettid();
    for (unsigned i = 0; i < ARRAY_LENGTH(noted); i++)
        if (noted[i].tid == tid)
            return noted[i].call;
    return (struct syscall_interrupted){.number = -1};
}

bool world_is_request(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_value.sival_int == LEAK_REQUEST_VALUE;
}

static void handle_signal(int number, siginfo_t *info, void *context)
{
    if (!is_stop_signal(info)) {
        void (*handler)(int, siginfo_t *, void *) = load_acquire(&program_handler);
        bool for_us = info->si_code == SI_TIMER || world_is_request(info);
        if (handler && !for_us)
            handler(number, info, context);
        else if (!program_ignores || for_us)
            on_request(info, context);
        struct syscall_interrupted call = noted_call();
        syscall_restart(context, &call);
        return;
    }
    uint32_t round = load_acquire(&generation);
    struct world_thread *entry = own_entry(info, round);
    if (!entry) /* the signal came too late: threads were resumed */
        syscall_restart(context, &(struct syscall_interrupted){.number = -1});
    else if (world_thread_is_busy())
        defer_stop(entry, info);
    else
        wait_stopped(entry, round, context);
}

static bool program_wants_altstack(void)
{
    uintptr_t handler = (uintptr_t)load_relaxed(&program_handler);
    return handler && trampoline_callbacks.wants_altstack &&
           trampoline_callbacks.wants_altstack(handler);
}

/* Handles the stop signal, on the interrupted stack if that is the thread's own. The stack of a
 * fibre or goroutine may be too small for a signal frame, and the program does not expect this
 * signal; so there the handler stays on the alternate stack. */
static void on_stop_signal(int number, siginfo_t *info, void *context)
{
    if (is_on_own_stack(context_sp(context)) && (is_stop_signal(info) || !program_wants_altstack()))
        trampoline_run_handler(handle_signal, number, info, context);
    else
        handle_signal(number, info, context);
}

/* ---- In the thread that stops the others ----------------------------------------------------- */

void world_init(int number, void (*requested)(siginfo_t *info, ucontext_t *context),
                bool (*on_own_stack)(uintptr_t sp))
{
    reserved_number = number;
    is_on_own_stack = on_own_stack;
    on_request = requested;
    guard_callbacks.outside = send_deferred;
}

void world_set_program_handler(void (*handler)(int, siginfo_t *, void *), bool ignored)
{
    program_ignores = ignored;
    /* pairs with load_acquire in handle_signal, which then sees whether the program ignores the
     * signal */
    store_release(&program_handler, handler);
    world_install_handler();
}

static bool install_handler(uint64_t blocked)
{
    struct sigaction action = {.sa_sigaction = on_stop_signal,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    memcpy(&action.sa_mask, &blocked, sizeof blocked);
    return real_sigaction(reserved_number, &action, NULL) == 0;
}

bool world_install_handler(void)
{
    installed = installed || install_handler(~0ull);
    return installed;
}

/* Removes the handler. The signal is ignored first: that drops a pending signal, whose default
 * action would end the process. */
void world_remove_handler(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    if (!installed)
        return;
    real_sigaction(reserved_number, &action, NULL);
    action = (struct sigaction){.sa_handler = SIG_DFL};
    if (program_handler)
        action = (struct sigaction){.sa_sigaction = program_handler, .sa_flags = SA_SIGINFO};
    if (!program_ignores)
        real_sigaction(reserved_number, &action, NULL);
    installed = false;
}

/* Installs the handler with another mask, if necessary: a stopped thread blocks exactly the signals
 * that have a handler (sys_signals_block). */
static void update_blocked(void)
{
    static uint64_t blocked = ~0ull;
    uint64_t now = ~sys_signals_without_handler(~(1ull << (reserved_number - 1)));
    if (installed && now != blocked && install_handler(now))
        blocked = now;
}

/* Reads the last number of a line, and cuts it off. */
static bool cut_number(char *line, uint64_t *value)
{
    char *last = strrchr(line, ' ');
    if (!last || !parse_number(last + 1, strcspn(last + 1, "\n"), value))
        return false;
    *last = '\0';
    return true;
}

/* Reads the system call that a thread executes from /proc: number, arguments, stack pointer, pc. */
static struct syscall_interrupted read_call(int tid)
{
    char line[256];
    struct syscall_interrupted call = {.number = -1};
    uint64_t number, first, sp, pc;
    if (sys_read_task_file(0, tid, "syscall", line, sizeof line) <= 0)
        return call;
    size_t length = strcspn(line, " \n");
    if (!parse_number(line, length, &number) || line[length] != ' ')
        return call;
    const char *argument = line + length + 1;
    if (parse_number(argument, strcspn(argument, " \n"), &first) && cut_number(line, &pc) &&
        cut_number(line, &sp))
        call = (struct syscall_interrupted){number, first, pc, sp};
    return call;
}

void world_note_calls(const struct syscall_interrupted *own)
{
    int first = sys_getpid(), tid = sys_gettid();
    noted[0].tid = tid;
    noted[0].call = *own;
    noted[1].tid = first;
    if (first != tid)
        noted[1].call = read_call(first);
}

/* Sends the signal to one thread. False: the queue of pending signals is full
 * (RLIMIT_SIGPENDING). */
static bool signal_thread(struct world *world, uint32_t at)
{
    struct world_thread *thread = &world->thread[at];
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    info.si_pid = sys_getpid();
    info.si_value.sival_ptr = signal_value(load_relaxed(&generation), at);
    /* A busy thread may change its state to STOPPED at any time, so the state is replaced only if
     * it is still the one that was read. */
    uint32_t state = load_relaxed(&thread->state);
    if ((state != TO_SIGNAL && state != BUSY) || !cas_acquire(&thread->state, &state, SIGNALLED))
        return true;
    if (state == TO_SIGNAL && world->count <= MAX_CALLS)
        thread->call = read_call(thread->tid);
    int result = sys_signal_thread(thread->tid, reserved_number, &info);
    if (result < 0)
        store_relaxed(&thread->state, result == -ESRCH ? ENDED : TO_SIGNAL);
    return result >= 0 || result == -ESRCH;
}

static int deaf[MAX_DEAF]; /* tids of threads that had the signal blocked at an earlier stop */

static void note_deaf(int tid)
{
    for (unsigned i = 0; i < MAX_DEAF; i++)
        if (!deaf[i] || deaf[i] == tid) {
            deaf[i] = tid;
            return;
        }
}

static bool was_deaf(int tid)
{
    for (unsigned i = 0; i < MAX_DEAF && deaf[i]; i++)
        if (deaf[i] == tid)
            return true;
    return false;
}

enum condition { WILL_ANSWER, MAY_ANSWER, IS_DEAF, HAS_ENDED };

/* Says whether the reserved signal is in the signal set on that line of /proc/PID/status. */
static bool set_has_signal(const char *status, const char *line)
{
    const char *set = strstr(status, line);
    if (!set)
        return false;
    set += strlen(line);
    return parse_hex(&set) >> (reserved_number - 1) & 1;
}

/* Finds out whether a thread can still answer. A thread cannot if it has ended, or if it blocks the
 * signal by means that no hook sees. If the signal is blocked but no longer pending, the handler
 * has begun. libc blocks all signals while it creates or starts threads, but does not sleep then;
 * so a thread that sleeps with the signal blocked will not answer. */
static enum condition thread_condition(int tid)
{
    char status[2048];
    if (sys_read_task_file(0, tid, "status", status, sizeof status) <= 0)
        return HAS_ENDED;
    const char *state = strstr(status, "State:\t");
    char letter = state ? state[7] : ' ';
    if (letter == 'Z' || letter == 'X')
        return HAS_ENDED;
    if (!set_has_signal(status, "SigBlk:\t") || !set_has_signal(status, "SigPnd:\t"))
        return WILL_ANSWER;
    return letter == 'S' ? IS_DEAF : MAY_ANSWER;
}

static bool add_thread(int tid, void *context)
{
    struct world *world = context;
    if (tid == sys_gettid())
        return true;
    world->others = true;
    for (uint32_t i = 0; i < world->count; i++)
        if (world->thread[i].tid == tid)
            return true;
    if (world->count == WORLD_MAX_THREADS || !world_install_handler())
        return false;
    world->thread[world->count] = (struct world_thread){.tid = tid, .call.number = -1};
    /* From here on, own_entry in the thread that gets the signal finds the entry. */
    store_release(&world->count, world->count + 1);
    /* If the signal of an earlier stop is still pending in the thread, no second one is sent. */
    if (was_deaf(tid) && thread_condition(tid) != WILL_ANSWER)
        store_relaxed(&world->thread[world->count - 1].state, SIGNALLED);
    signal_thread(world, world->count - 1);
    return true;
}

/* Says whether it is useless to wait longer for the answer of this thread. */
static bool is_hopeless(struct world_thread *thread)
{
    enum condition condition = thread_condition(thread->tid);
    if (condition == HAS_ENDED) {
        /* An ended main thread stays in /proc/self/task while other threads live, so it is
         * noted. */
        note_deaf(thread->tid);
        store_relaxed(&thread->state, ENDED);
    }
    bool hopeless = condition == IS_DEAF || (condition == MAY_ANSWER && ++thread->late > MAX_LATE);
    if (hopeless)
        note_deaf(thread->tid);
    return hopeless;
}

/* Sends the signal to threads that have not got it yet, and again to threads that are busy. late:
 * no thread has answered for a while. *give_up is set to true if a thread will not answer. True:
 * all threads are stopped or have ended. */
static bool signal_threads(struct world *world, bool late, bool *give_up)
{
    bool all = true, room = true;
    world->parked = 0;
    for (uint32_t i = 0; i < world->count; i++) {
        struct world_thread *thread = &world->thread[i];
        uint32_t state = load_acquire(&thread->state);
        if (state == SIGNALLED && late)
            *give_up |= is_hopeless(thread);
        else if (room && (state == TO_SIGNAL || (state == BUSY && late)))
            /* The signal is sent again: a thread stays busy for ever if a handler has left its hook
             * by longjmp. */
            room = signal_thread(world, i);
        if (state == TO_SIGNAL && late)
            *give_up |= !room && ++thread->late > MAX_LATE;
        state = load_acquire(&thread->state);
        world->parked += state == STOPPED;
        all &= state == STOPPED || state == ENDED;
    }
    return all;
}

static void drop_ended(struct world *world)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world->count; i++)
        if (world->thread[i].state != ENDED)
            world->thread[kept++] = world->thread[i];
    world->count = kept;
}

/* Stops threads until all are stopped and no new one has appeared in /proc/self/task. False: that
 * failed, or took longer than timeout nanoseconds. */
static bool stop_all(struct world *world, uint64_t timeout)
{
    uint64_t begin = sys_clock_ns(CLOCK_MONOTONIC), last_answer = begin;
    uint32_t answered = load_relaxed(&answers);
    bool give_up = false;
    for (uint32_t before = UINT32_MAX; before != world->count;) {
        before = world->count;
        if (!sys_each_numbered_entry("/proc/self/task", add_thread, world) ||
            world->count == WORLD_MAX_THREADS)
            return false;
        /* If the handler is not installed, a sandbox has refused it: without the handler, the
         * signal would end the process. */
        if (world->others && !installed)
            return false;
        for (;;) {
            uint32_t seen = load_acquire(&answers);
            uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
            bool late = seen == answered && now - last_answer > LATE;
            if (signal_threads(world, late, &give_up))
                break;
            if (now - begin > timeout || give_up)
                return false;
            if (late || seen != answered)
                last_answer = now;
            answered = seen;
            sys_futex_wait_for(&answers, seen, LATE / 4);
        }
    }
    return true;
}

bool world_stop(struct world *world, uint64_t timeout)
{
    static struct world_thread *room;
    if (!room) {
        room = sys_map_lazily(WORLD_MAX_THREADS * sizeof *room);
        if (!room)
            return false;
        arena_register(room, WORLD_MAX_THREADS * sizeof *room);
    }
    update_blocked();
    *world = (struct world){.thread = room};
    store_release(&current, world);
    add_release(&generation, 1);
    bool all = stop_all(world, timeout);
    if (!all)
        world_resume();
    drop_ended(world);
    return all;
}

void world_resume(void)
{
    add_release(&generation, 1); /* stopped threads wait for this (wait_stopped) */
    sys_futex_wake(&generation, INT32_MAX);
    store_release(&current, NULL);
}

void world_fork_child(void)
{
    generation += generation & 1;
    current = NULL;
}
