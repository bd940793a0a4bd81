/* sys.h - all system calls of the runtime.
 *
 * Each function returns what the kernel returns: a value, or -errno. errno itself is never written.
 * The functions may be called anywhere: in signal handlers, in vfork children, with any lock held.
 * sys.c has memory, files, clocks and futexes; sys_process.c signals, timers, children and
 * /proc/PID/task.
 */
#ifndef PRELOAD_BASE_SYS_H
#define PRELOAD_BASE_SYS_H

#include "preload/base/base.h"
#include "preload/base/sandbox.h"
#include "preload/base/system_calls_32.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/types.h>
/* Added in Linux 5.14; older headers do not define it, and older kernels refuse it. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct stat;
struct timespec;
struct rlimit;

/* Makes one system call, with its number and up to six arguments. It is a macro and not a function,
 * because after vfork the child returns from it, too, and would destroy the frame of a function. */
#define SYSCALL(what, ...) SYSCALL_(what, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define SYSCALL_(what, a, b, c, d, e, f, ...)                                                      \
    ({                                                                                             \
        const struct sandbox_call call_ = {what,                                                   \
                                           {(uintptr_t)(a), (uintptr_t)(b), (uintptr_t)(c),        \
                                            (uintptr_t)(d), (uintptr_t)(e), (uintptr_t)(f)}};      \
        int refusal_ = likely(!sandbox_restricts) ? 0 : sandbox_refusal(&call_);                   \
        likely(!refusal_)                                                                          \
            ? arch_syscall(call_.number, call_.argument[0], call_.argument[1], call_.argument[2],  \
                           call_.argument[3], call_.argument[4], call_.argument[5])                \
            : -refusal_;                                                                           \
    })

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Maps private anonymous memory. NULL: the kernel refuses. */
void *sys_map(size_t size);
/* Maps private anonymous memory that does not count for the kernel's overcommit limit: for large
 * ranges of which only parts are used. NULL: the kernel refuses. */
void *sys_map_lazily(size_t size);
/* Maps private anonymous memory at that address if nothing is mapped there, else anywhere. */
void *sys_map_near(uintptr_t address, size_t size);
/* Maps memory that this process shares with its children, among them the copies that make leak
 * checks. */
void *sys_map_shared(size_t size);
void *sys_map_file(int fd, size_t size);
/* Maps the file, from that offset on, over whatever is mapped at "memory". False: the kernel
 * refuses. */
bool sys_map_file_at(void *memory, int fd, size_t size, uint64_t offset);
/* Maps a private copy of the file over whatever is mapped at "memory". */
void sys_map_file_private(void *memory, int fd, size_t size);
/* Maps zeroed memory over whatever is mapped at "memory". False: the kernel refuses. */
bool sys_map_zeros(void *memory, size_t size);
/* Moves the mapping at "memory" to the address "to", over whatever is mapped there. */
void sys_remap_to(void *memory, size_t size, void *to);
/* Enlarges a mapping, which may move. Returns its address; NULL: the mapping is unchanged. */
void *sys_remap_larger(void *memory, size_t size, size_t larger);
void sys_unmap(void *memory, size_t size);
/* Sets whether the kernel locks, and so fills, each new mapping, because the program has called
 * mlockall(MCL_FUTURE). If so, the sys_map functions unlock what they map. */
void sys_set_maps_locked(bool locked);
/* Locks pages in memory. on_fault: locks pages that exist now, and other pages when they are
 * touched. Parts of the range that are not mapped are no error. */
void sys_lock(uintptr_t memory, size_t size, bool on_fault);
void sys_unlock(uintptr_t memory, size_t size);
int sys_lock_all(int flags);
int sys_unlock_all(void);
int sys_protect(void *memory, size_t size, int protection);
int sys_advise(void *memory, size_t size, int advice);
/* Writes one byte for each page of the range to "pages"; the lowest bit of a byte says whether the
 * page is in memory. */
int sys_mincore(void *memory, size_t size, unsigned char *pages);
/* Returns the kernel's page size, which may be larger than LEAK_PAGE. */
uint64_t sys_page_size(void);
/* Copies memory of this process through the kernel. False, instead of a fault: the memory is not
 * mapped. A kernel without process_vm_readv (qemu-user, some small kernels) can only say whether a
 * page is readable; then the page is read directly. sys_peek_may_fault is true there, for callers
 * that read memory which another thread may unmap at the same moment. */
bool sys_peek(uintptr_t address, void *out, size_t size);
bool sys_peek_may_fault(void);
/* Says whether the kernel answers EFAULT when it reads the aligned 8 bytes at the address. It uses
 * a call of rt_sigprocmask, which sandboxes allow. False also if a sandbox refuses the call. */
bool sys_faults(uintptr_t address);
/* Says whether the kernel has read the aligned 8 bytes at the address in the same way. False also if
 * a sandbox refuses the call. */
bool sys_is_readable(uintptr_t address);

/* ---- Files ----------------------------------------------------------------------------------- */

int sys_open(const char *path, int flags, int mode);
int sys_open_at(int directory, const char *path, int flags);
ssize_t sys_read(int fd, void *buffer, size_t size);
/* Reads at an offset of the file, without moving the position of the descriptor. */
ssize_t sys_read_at(int fd, void *buffer, size_t size, uint64_t offset);
ssize_t sys_write(int fd, const void *buffer, size_t size);
/* Writes like sys_write, but a pipe without a reader raises no SIGPIPE. */
ssize_t sys_write_no_sigpipe(int fd, const void *buffer, size_t size);
int sys_close(int fd);
/* Closes all descriptors from "first" on. */
void sys_close_from(unsigned first);
/* Says whether a descriptor is open. True also if a sandbox refuses the call. */
bool sys_is_open(int fd);
/* Copies the address that a socket is connected to, at most "size" bytes. Returns the number of
 * bytes copied, or -errno. */
ssize_t sys_getpeername(int fd, void *address, size_t size);
/* Returns the time limit of a socket for receiving or sending, in nanoseconds; 0: it has none, or
 * fd is not a socket. */
uint64_t sys_socket_timeout(int fd, bool receiving);
/* Opens an anonymous file that children inherit. Returns its descriptor, which is above 2. */
int sys_memfd(const char *name);
/* Opens an anonymous file that only those children inherit to which sys_spawn passes its
 * descriptor. */
int sys_memfd_cloexec(const char *name);
void sys_rewind(int fd);
int sys_truncate(int fd, uint64_t size);
int sys_allocate(int fd, uint64_t size);
/* Returns how many bytes are free on the disk with the file; UINT64_MAX: not known. */
uint64_t sys_disk_free(int fd);
int sys_mkdir(const char *path, int mode);
int sys_unlink(const char *path);
/* Renames a file, and replaces a file that has the new name. */
int sys_rename(const char *from, const char *to);
ssize_t sys_readlink(const char *path, char *buffer, size_t size);
/* Copies the path of the program's file, NUL-terminated. If a sandbox refuses readlink, it copies
 * the path that exec was called with. Returns the length, 0: not known. */
size_t sys_program_path(char *buffer, size_t size);
int sys_lstat(const char *path, struct stat *out);
/* Checks access like access(), but for the effective user and group. -ENOSYS before Linux 5.8. */
int sys_access_effective(const char *path, int mode);
int sys_fstat(int fd, struct stat *out);
ssize_t sys_getcwd(char *buffer, size_t size);
/* Reads a whole file, or as much as fits, and terminates it with NUL. Returns the number of bytes,
 * or -errno. */
ssize_t sys_read_file(const char *path, char *buffer, size_t size);
/* Reads the file /proc/PID/task/TID/name like sys_read_file; pid 0: this process. */
ssize_t sys_read_task_file(int pid, int tid, const char *name, char *buffer, size_t size);
/* Says whether the parent process has mapped a file whose path contains the text. False also if the
 * mappings of the parent cannot be read. */
bool sys_parent_has_mapped(const char *text);
void sys_write_file(const char *path, const char *text);
/* Visits those entries of a folder of /proc whose names are numbers, in any order, until visit
 * returns false. False: the folder cannot be read. */
bool sys_each_numbered_entry(const char *folder, bool (*visit)(int number, void *context),
                             void *context);

/* ---- Time, limits, futexes ------------------------------------------------------------------- */

uint64_t sys_clock_ns(int clock);
/* Returns the soft limit of a resource; UINT64_MAX: there is none. */
uint64_t sys_rlimit(int resource);
void sys_set_rlimit(int resource, uint64_t limit);
void sys_raise_rlimit(int resource); /* raises the soft limit to the hard limit */
void sys_futex_wait(uint32_t *word, uint32_t value);
/* Waits while the word has the value, until another thread wakes it. False: "ns" nanoseconds have
 * passed. */
bool sys_futex_wait_for(uint32_t *word, uint32_t value, uint64_t ns);
void sys_futex_wake(uint32_t *word, int count);
/* Waits like sys_futex_wait_for, for a word in memory that processes share. */
bool sys_futex_wait_shared_for(uint32_t *word, uint32_t value, uint64_t ns);
void sys_futex_wake_shared(uint32_t *word);

/* ---- Signals and timers ---------------------------------------------------------------------- */

/* Says whether the calling thread runs on its signal stack. If so, *low and *high are the range of
 * that stack. */
bool sys_on_signal_stack(uintptr_t *low, uintptr_t *high);
/* Calls sigaltstack; either argument may be NULL. */
int sys_signal_stack(const stack_t *stack, stack_t *old);
/* Says whether a thread's own instruction can raise the signal (SIGSEGV, SIGTRAP ...).
 * sys_signals_block does not block these signals: instead of calling the handler of a blocked one
 * the kernel kills the process. */
bool sys_signal_is_fault(int number);
/* Says whether the sandbox allows the calls with which a signal handler defers a signal. */
bool sys_may_defer_signals(void);
/* Says whether the sandbox allows the calls with which a handler restores the default action of a
 * signal and sends the signal again. filter: a filter that will be installed, considered as well;
 * or NULL. */
bool sys_may_die_by_signal(const struct sandbox_filter *filter);
/* Block signals whose handlers must not run now. A signal that is ignored must not be blocked: the
 * kernel drops it when it is sent, but if the receiving thread blocks it, it becomes pending, and a
 * sigtimedwait or signalfd of another thread reads it. sys_signals_block does not block signals
 * that are ignored by default (SIGCHLD ...) and have no handler. sys_signals_block_handled, which
 * is slower, blocks only signals that have a handler: use it if signals stay blocked for
 * milliseconds. */
void sys_signals_block(uint64_t *saved);
void sys_signals_block_handled(uint64_t *saved);
/* Returns which of the signals `among` have the action SIG_DFL or SIG_IGN; bit n - 1 stands for
 * signal n. */
uint64_t sys_signals_without_handler(uint64_t among);
void sys_signals_restore(const uint64_t *saved);
/* The kernel's struct sigaction. Both pointers to it that sys_sigaction takes may be NULL. */
struct sys_sigaction {
    uintptr_t handler, flags;
#if ARCH_HAS_RESTORER
    uintptr_t restorer;
#endif
    uint64_t mask;
};
int sys_sigaction(int number, const struct sys_sigaction *action, struct sys_sigaction *old);
int sys_signal_thread(int tid, int number, const siginfo_t *info);
/* Sends a signal to the calling thread, with the given siginfo. */
int sys_signal_self(int number, const siginfo_t *info);
/* Raises SIGTRAP in the calling thread with the siginfo of tgkill, so that a debugger stops there. */
void sys_raise_trap(void);
/* Removes a pending signal, with its siginfo. A signal that is pending for the calling thread alone
 * is removed before one that is pending for the process. */
int sys_take_signal(int number, siginfo_t *info);
/* Returns the signals that are pending for the calling thread or for the process. */
uint64_t sys_signals_pending(void);
/* Creates a timer that sends a signal with the given value to a thread; tid 0: to any thread of the
 * process. Returns the timer's number, or -errno. A fork child does not inherit the timer. */
int sys_timer_create(int tid, int signal, int value);
void sys_timer_delete(int timer);
/* Starts a timer: it fires after "first" nanoseconds, and then every "every" nanoseconds; every 0:
 * only once. */
void sys_timer_set(int timer, uint64_t first, uint64_t every);

/* ---- Processes ------------------------------------------------------------------------------- */

/* These functions return the ids of the process and thread. If a sandbox refuses the system call,
 * they return what was true at the start or after the last fork. */
int sys_getpid(void);
int sys_getppid(void);
int sys_gettid(void);
unsigned sys_geteuid(void);
unsigned sys_getegid(void);
/* Remember the ids of the process, at the start and in a fork child, before other functions need
 * them. */
void sys_learn_identity(void);
void sys_learn_identity_in_child(void);
/* Writes the name of the calling thread; "": a sandbox refuses the call. */
void sys_thread_name(char name[16]);
void sys_kill(int pid, int number);
/* Sets a hardware watchpoint: the thread, and threads that it starts later, get SIGTRAP just after
 * each instruction that writes the aligned word; with "reads" also after each that reads it.
 * Returns a descriptor with a high number, whose close ends the watchpoint; -errno: the CPU has no
 * watchpoint left, or the kernel does not allow one. */
int sys_watch_word(int tid, uintptr_t address, bool reads);
/* Sets a hardware breakpoint: the calling thread gets SIGTRAP just before it executes the
 * instruction at the address. Returns a descriptor, or -errno, as sys_watch_word does. */
int sys_break_open(uintptr_t address);
/* Moves a breakpoint to another instruction, and enables it. False: it stays as it was. */
bool sys_break_move(int descriptor, uintptr_t address);
void sys_break_disable(int descriptor);
void sys_exit(int status) __attribute__((noreturn));

/* Makes a child process, a copy of this process with only the calling thread. The child sends no
 * SIGCHLD, and a plain wait() does not find it; handlers of pthread_atfork do not run. Returns 0 in
 * the child. */
int sys_fork_silent(void);
/* Says whether the sandbox allows sys_fork_silent and waiting for the child. */
bool sys_may_fork(void);
/* Gives up the real-time priority that a child of libleak's own has inherited from the program. */
void sys_drop_realtime(void);
/* Makes the kernel tolerate pointers with a wrong memory tag (MTE), in a child of libleak's own. */
void sys_ignore_memory_tags(void);

/* The descriptors that a program started by sys_spawn gets as 0, 1 and 2; -1: those of this
 * process. kept: NULL, or a list that ends with -1 of other descriptors that the program inherits
 * although they are close-on-exec. */
struct sys_streams {
    int in, out, err;
    const int *kept;
};
/* Starts a program as a child that sends no SIGCHLD and that a plain wait() does not find. Returns
 * the pid to wait for, whose exit status is that of the program; or -errno. */
int sys_spawn(const char *path, char *const argv[], char *const envp[],
              const struct sys_streams *streams);
/* Waits for a child made by sys_fork_silent or sys_spawn. Returns its wait status, or -errno. */
int sys_wait_child(int pid);
/* Says whether a child has ended, without waiting. 0: it still runs; above 0: it has ended, and
 * this call has reaped it; below 0: pid is no child of this process, or was reaped before. */
int sys_child_has_ended(int pid);

#endif
