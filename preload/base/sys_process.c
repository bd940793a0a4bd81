/* sys_process.c - the functions of sys.h for watchpoints, signals, timers, ids, child processes and
 * /proc. */
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/version.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

/* ---- Watchpoints ----------------------------------------------------------------------------- */

/* Descriptors of watchpoints get numbers from here on, because programs expect low numbers for
 * their own files. */
#define WATCH_LEAST_FD 400

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 13, 0)
static struct perf_event_attr describe_breakpoint(uintptr_t address, uint32_t type)
{
    struct perf_event_attr what;
    memset(&what, 0, sizeof what);
    what.type = PERF_TYPE_BREAKPOINT;
    what.size = sizeof what;
    what.bp_type = type;
    what.bp_addr = address;
    what.bp_len = sizeof address;
    what.sample_period = 1;
    what.exclude_kernel = what.exclude_hv = 1;
    what.sigtrap = what.remove_on_exec = 1;
    return what;
}

static int open_breakpoint(int tid, struct perf_event_attr *what)
{
    int fd = SYSCALL(SYS_perf_event_open, what, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    int moved = fd < 0 ? fd : SYSCALL(SYS_fcntl, fd, F_DUPFD_CLOEXEC, WATCH_LEAST_FD);
    if (moved < 0)
        return fd;
    sys_close(fd);
    return moved;
}

int sys_watch_word(int tid, uintptr_t address, bool reads)
{
    struct perf_event_attr what =
        describe_breakpoint(address, reads ? HW_BREAKPOINT_RW : HW_BREAKPOINT_W);
    what.inherit = what.inherit_thread = 1;
    return open_breakpoint(tid, &what);
}

int sys_break_open(uintptr_t address)
{
    struct perf_event_attr what = describe_breakpoint(address, HW_BREAKPOINT_X);
    return open_breakpoint(0, &what);
}

bool sys_break_move(int descriptor, uintptr_t address)
{
    struct perf_event_attr what = describe_breakpoint(address, HW_BREAKPOINT_X);
    return SYSCALL(SYS_ioctl, descriptor, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &what) >= 0;
}

void sys_break_disable(int descriptor)
{
    SYSCALL(SYS_ioctl, descriptor, PERF_EVENT_IOC_DISABLE, 0);
}
#else
int sys_watch_word(int tid, uintptr_t address, bool reads)
{
    (void)tid, (void)address, (void)reads;
    return -ENOSYS;
}

int sys_break_open(uintptr_t address)
{
    (void)address;
    return -ENOSYS;
}

bool sys_break_move(int descriptor, uintptr_t address)
{
    (void)descriptor, (void)address;
    return false;
}

void sys_break_disable(int descriptor)
{
    (void)descriptor;
}
#endif

/* ---- Signals and timers --------------------------------------------------------------------- */

bool sys_on_signal_stack(uintptr_t *low, uintptr_t *high)
{
    stack_t stack;
    if (SYSCALL(SYS_sigaltstack, 0, &stack) < 0 || !(stack.ss_flags & SS_ONSTACK))
        return false;
    *low = (uintptr_t)stack.ss_sp;
    *high = *low + stack.ss_size;
    return true;
}

int sys_signal_stack(const stack_t *stack, stack_t *old)
{
    return SYSCALL(SYS_sigaltstack, stack, old);
}

static const uint64_t faults = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) |
                               1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1);

bool sys_signal_is_fault(int number)
{
    return number > 0 && number <= 64 && faults >> (number - 1) & 1;
}

static const struct sandbox_call calls_of_death[] = {
    {SYS_rt_sigaction, {SIGSEGV, 0, 0, sizeof(uint64_t)}}, {SYS_rt_tgsigqueueinfo, {0}}};

static bool all_allowed(const struct sandbox_call *calls, size_t count)
{
    for (size_t i = 0; sandbox_restricts && i < count; i++)
        if (!sandbox_allows(&calls[i]))
            return false;
    return true;
}

bool sys_may_defer_signals(void)
{
    static const struct sandbox_call block = {SYS_rt_sigprocmask,
                                              {SIG_SETMASK, 0, 0, sizeof(uint64_t)}};
    return all_allowed(&block, 1) && all_allowed(calls_of_death, ARRAY_LENGTH(calls_of_death));
}

bool sys_may_die_by_signal(const struct sandbox_filter *filter)
{
    for (size_t i = 0; filter && i < ARRAY_LENGTH(calls_of_death); i++)
        if (!sandbox_filter_allows(filter, &calls_of_death[i]))
            return false;
    return all_allowed(calls_of_death, ARRAY_LENGTH(calls_of_death));
}

static const uint64_t ignored_by_default =
    1ull << (SIGCHLD - 1) | 1ull << (SIGURG - 1) | 1ull << (SIGWINCH - 1) | 1ull << (SIGCONT - 1);

uint64_t sys_signals_without_handler(uint64_t among)
{
    uint64_t found = 0;
    for (uint64_t left = among; left; left &= left - 1) {
        struct sys_sigaction action;
        int number = __builtin_ctzll(left) + 1;
        if (sys_sigaction(number, NULL, &action) >= 0 && action.handler <= (uintptr_t)SIG_IGN)
            found |= 1ull << (number - 1);
    }
    return found;
}

void sys_signals_block(uint64_t *saved)
{
    uint64_t most = ~faults & ~sys_signals_without_handler(ignored_by_default);
    *saved = 0; /* the value if a sandbox refuses the call */
    SYSCALL(SYS_rt_sigprocmask, SIG_BLOCK, &most, saved, sizeof most);
}

void sys_signals_block_handled(uint64_t *saved)
{
    uint64_t handled = ~faults & ~sys_signals_without_handler(~faults);
    *saved = 0;
    SYSCALL(SYS_rt_sigprocmask, SIG_BLOCK, &handled, saved, sizeof handled);
}

void sys_signals_restore(const uint64_t *saved)
{
    SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, saved, 0, sizeof *saved);
}

int sys_sigaction(int number, const struct sys_sigaction *action, struct sys_sigaction *old)
{
    return SYSCALL(SYS_rt_sigaction, number, action, old, sizeof action->mask);
}

int sys_signal_thread(int tid, int number, const siginfo_t *info)
{
    return SYSCALL(SYS_rt_tgsigqueueinfo, sys_getpid(), tid, number, info);
}

int sys_signal_self(int number, const siginfo_t *info)
{
    return SYSCALL(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), number, info);
}

void sys_raise_trap(void)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = SIGTRAP;
    info.si_code = SI_TKILL;
    info.si_pid = sys_getpid();
    info.si_uid = sys_geteuid();
    sys_signal_self(SIGTRAP, &info);
}

int sys_take_signal(int number, siginfo_t *info)
{
    uint64_t set = 1ull << (number - 1);
    struct timespec now = {0, 0};
    return SYSCALL(SYS_rt_sigtimedwait, &set, info, &now, sizeof set);
}

uint64_t sys_signals_pending(void)
{
    uint64_t pending = 0;
    SYSCALL(SYS_rt_sigpending, &pending, sizeof pending);
    return pending;
}

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

int sys_timer_create(int tid, int signal, int value)
{
    struct sigevent event;
    int timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = tid ? SIGEV_THREAD_ID : SIGEV_SIGNAL;
    event.sigev_notify_thread_id = tid;
    event.sigev_signo = signal;
    event.sigev_value.sival_int = value;
    long result = SYSCALL(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer);
    return result < 0 ? (int)result : timer;
}

void sys_timer_set(int timer, uint64_t first, uint64_t every)
{
    struct itimerspec time = {.it_value = {first / 1000000000u, first % 1000000000u},
                              .it_interval = {every / 1000000000u, every % 1000000000u}};
    SYSCALL(SYS_timer_settime, timer, 0, &time, 0);
}

void sys_timer_delete(int timer)
{
    SYSCALL(SYS_timer_delete, timer);
}

/* ---- Ids of the process and thread ----------------------------------------------------------- */

static struct {
    int pid, parent;
    unsigned user, group;
    /* Offset of the thread's id in its control block (struct pthread); 0: not known. */
    uint32_t tid_offset;
} identity;

void sys_learn_identity(void)
{
    /* glibc exports the offset of the tid for debuggers (libthread_db), as {bits, elements,
     * offset}. */
    const uint32_t *field = dlsym(RTLD_DEFAULT, "_thread_db_pthread_tid");
    /* Clears the error of dlsym, so that a dlerror() of the program does not return it. */
    if (!field)
        dlerror();
    long tid = SYSCALL(SYS_gettid), pid = SYSCALL(SYS_getpid), parent = SYSCALL(SYS_getppid);
    int noted = field && field[0] == 32 ? *(const int *)(arch_thread_block() + field[2]) : 0;
    if (noted > 0 && (tid < 0 || tid == noted))
        identity.tid_offset = field[2];
    identity.pid = pid > 0 ? pid : noted;
    identity.parent = parent > 0 ? parent : 0;
    identity.user = getauxval(AT_EUID);
    identity.group = getauxval(AT_EGID);
}

void sys_learn_identity_in_child(void)
{
    int parent = identity.pid, tid = sys_gettid();
    long pid = SYSCALL(SYS_getpid);
    identity.parent = parent;
    identity.pid = pid > 0 ? pid : tid;
}

int sys_gettid(void)
{
    long tid = SYSCALL(SYS_gettid);
    if (likely(tid > 0))
        return tid;
    return identity.tid_offset ? *(const int *)(arch_thread_block() + identity.tid_offset)
                               : identity.pid;
}

int sys_getpid(void)
{
    long pid = SYSCALL(SYS_getpid);
    return likely(pid > 0) ? pid : identity.pid;
}

int sys_getppid(void)
{
    long pid = SYSCALL(SYS_getppid);
    return likely(pid >= 0) ? pid : identity.parent;
}

unsigned sys_geteuid(void)
{
    long user = SYSCALL(SYS_geteuid);
    return likely(user >= 0) ? (unsigned)user : identity.user;
}

unsigned sys_getegid(void)
{
    long group = SYSCALL(SYS_getegid);
    return likely(group >= 0) ? (unsigned)group : identity.group;
}

void sys_thread_name(char name[16])
{
    if (SYSCALL(SYS_prctl, PR_GET_NAME, name) < 0)
        name[0] = '\0';
}

/* ---- Processes ------------------------------------------------------------------------------- */

ssize_t sys_read_task_file(int pid, int tid, const char *name, char *buffer, size_t size)
{
    char path[64];
    struct strbuf text = STRBUF_ON(path);
    strbuf_add(&text, "/proc/");
    if (pid)
        strbuf_add_number(&text, pid);
    else
        strbuf_add(&text, "self");
    strbuf_add(&text, "/task/");
    strbuf_add_number(&text, tid);
    strbuf_add_all(&text, "/", name, NULL);
    return sys_read_file(path, buffer, size);
}

bool sys_parent_has_mapped(const char *text)
{
    char path[64], piece[4096];
    size_t length = strlen(text), have = 0;
    struct strbuf name = STRBUF_ON(path);
    strbuf_add(&name, "/proc/");
    strbuf_add_number(&name, sys_getppid());
    strbuf_add(&name, "/maps");
    int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    bool found = false;
    ssize_t got = fd;
    while (!found && got >= 0) {
        got = sys_read(fd, piece + have, sizeof piece - 1 - have);
        if (got <= 0)
            break;
        have += got;
        piece[have] = '\0';
        found = strstr(piece, text);
        /* Keeps the end of the piece, because the text may go on in the next one. */
        size_t kept = have < length ? have : length;
        memmove(piece, piece + have - kept, kept);
        have = kept;
    }
    if (fd >= 0)
        sys_close(fd);
    return found;
}

/* Makes the child without CLONE_VM, so that it has a copy of the stack. The exit signal is 0, so it
 * sends no SIGCHLD. */
int sys_fork_silent(void)
{
    return SYSCALL(SYS_clone, 0, 0, 0, 0, 0);
}

bool sys_may_fork(void)
{
    static const struct sandbox_call calls[] = {
        {SYS_clone, {0}}, {SYS_wait4, {0, 0, __WALL}}, {SYS_futex, {0, FUTEX_WAIT}}};
    return all_allowed(calls, ARRAY_LENGTH(calls));
}

void sys_drop_realtime(void)
{
    struct sched_param none = {0};
    SYSCALL(SYS_sched_setscheduler, 0, SCHED_OTHER, &none);
}

/* On CPUs without memory tags the call fails, and is not needed. */
void sys_ignore_memory_tags(void)
{
    SYSCALL(SYS_prctl, PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE, 0, 0, 0);
}

static bool update_highest(int number, void *highest)
{
    if (number > *(int *)highest)
        *(int *)highest = number;
    return true;
}

void sys_close_from(unsigned first)
{
    int highest = -1;
    if (SYSCALL(SYS_close_range, first, UINT32_MAX, 0) >= 0)
        return;
    if (!sys_each_numbered_entry("/proc/self/fd", update_highest,
                                 &highest)) { /* Linux before 5.9 has no close_range */
        uint64_t limit = sys_rlimit(RLIMIT_NOFILE);
        highest = limit < 1u << 20 ? (int)limit : 1 << 20;
    }
    for (int fd = first; fd <= highest; fd++)
        sys_close(fd);
}

void sys_exit(int status)
{
    SYSCALL(SYS_exit_group, status);
    __builtin_unreachable();
}

/* Runs a program in a child of the calling process, and waits for it. Called in a child that
 * sys_fork_silent has made, which does not call exec itself: a process that calls exec sends
 * SIGCHLD to its parent at its end, however it was cloned. Signals stay blocked in this child,
 * because handlers of the program must not run there. */
static long run_in_grandchild(const char *path, char *const argv[], char *const envp[],
                              const struct sys_streams *streams, const uint64_t *mask)
{
    const int standard[] = {streams->in, streams->out, streams->err};
    int status = 0;
    long pid = SYSCALL(SYS_clone, CLONE_VM | CLONE_VFORK, 0, 0, 0, 0);
    if (pid == 0) {
        sys_signals_restore(mask);
        for (int fd = 0; fd < 3; fd++)
            if (standard[fd] >= 0)
                SYSCALL(SYS_dup3, standard[fd], fd, 0);
        /* Clears close-on-exec; the child has a copy of the descriptor table, so the parent keeps
         * the flag. */
        for (const int *kept = streams->kept; kept && *kept >= 0; kept++)
            SYSCALL(SYS_fcntl, *kept, F_SETFD, 0);
        SYSCALL(SYS_execve, path, argv, envp);
        SYSCALL(SYS_exit_group, 127);
    }
    if (pid < 0)
        return 127;
    /* If SIGCHLD is ignored, the kernel does not keep the status, and wait4 fails. */
    SYSCALL(SYS_wait4, pid, &status, __WALL, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

int sys_spawn(const char *path, char *const argv[], char *const envp[],
              const struct sys_streams *streams)
{
    uint64_t mask;
    sys_signals_block(&mask);
    long pid = sys_fork_silent();
    if (pid == 0)
        SYSCALL(SYS_exit_group, run_in_grandchild(path, argv, envp, streams, &mask));
    sys_signals_restore(&mask);
    return (int)pid;
}

int sys_wait_child(int pid)
{
    int status;
    long result;
    do
        result = SYSCALL(SYS_wait4, pid, &status, __WALL, 0);
    while (result == -EINTR);
    return result < 0 ? (int)result : status;
}

int sys_child_has_ended(int pid)
{
    int status;
    return SYSCALL(SYS_wait4, pid, &status, __WALL | WNOHANG, 0);
}

void sys_kill(int pid, int number)
{
    SYSCALL(SYS_kill, pid, number);
}
