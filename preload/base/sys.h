/* sys.h - every kernel call of the runtime.
 *
 * Each function returns what the kernel returns: a value, or -errno. errno itself is never written.
 * Callable anywhere: in signal handlers, in vfork children, with any lock held. sys.c has memory,
 * files, clocks and futexes; sys_process.c signals, timers, children and /proc/PID/task.
 */
#ifndef PRELOAD_BASE_SYS_H
#define PRELOAD_BASE_SYS_H

#include "preload/base/base.h"
#include "preload/base/sandbox.h"
#include "preload/base/system_calls_32.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/types.h>
#ifndef MADV_POPULATE_WRITE /* of Linux 5.14; older headers lack it, older kernels refuse it */
#define MADV_POPULATE_WRITE 23
#endif

struct stat;
struct timespec;
struct rlimit;

/* Makes one system call, with its number and up to six arguments. A macro, no function, because a
 * vfork child returns from it as well. */
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

/* ---- Memory --------------------------------------------------------------------------------- */

/* Anonymous private memory; NULL when the kernel refuses. */
void *sys_map(size_t size);
/* The same, not counted against overcommit: for large ranges that are sparsely used. */
void *sys_map_lazily(size_t size);
/* Maps memory at that address if nothing is mapped there, else anywhere. */
void *sys_map_near(uintptr_t address, size_t size);
/* Shared with children, leak checks among them. */
void *sys_map_shared(size_t size);
void *sys_map_file(int fd, size_t size);
/* Maps the file over what is mapped at memory. */
bool sys_map_file_at(void *memory, int fd, size_t size, uint64_t offset);
/* Maps a private copy of the file over what is mapped at memory. */
void sys_map_file_private(void *memory, int fd, size_t size);
/* Maps zeros over what is mapped at memory. */
bool sys_map_zeros(void *memory, size_t size);
/* Moves a mapping over another one. */
void sys_remap_to(void *memory, size_t size, void *to);
/* Enlarges a mapping, which may move; NULL: it is unchanged. */
void *sys_remap_larger(void *memory, size_t size, size_t larger);
void sys_unmap(void *memory, size_t size);
/* The program has called mlockall(MCL_FUTURE): the kernel locks, and fills, whatever is mapped.
 * While that is set, what the functions above return is not locked. */
void sys_set_maps_locked(bool locked);
/* Locks pages in memory. on_fault: locks only pages that exist, and the others when they are
 * touched. Parts that have no pages are no error. */
void sys_lock(uintptr_t memory, size_t size, bool on_fault);
void sys_unlock(uintptr_t memory, size_t size);
int sys_lock_all(int flags);
int sys_unlock_all(void);
int sys_protect(void *memory, size_t size, int protection);
int sys_advise(void *memory, size_t size, int advice);
/* pages gets a byte for each page; its lowest bit: the page is in memory. */
int sys_mincore(void *memory, size_t size, unsigned char *pages);
/* The kernel's page size, which may be larger than LEAK_PAGE. */
uint64_t sys_page_size(void);
/* Copies memory of this process through the kernel: false instead of a fault where it is not
 * mapped. A kernel without process_vm_readv (qemu-user, some small kernels) can only say whether a
 * page is readable, and then the page is read directly: sys_peek_may_fault is true there, for
 * callers that read memory which another thread may be unmapping at the same moment. */
bool sys_peek(uintptr_t address, void *out, size_t size);
bool sys_peek_may_fault(void);
/* True when the kernel answers EFAULT to a read of the aligned word that contains the address. The
 * question is a call of rt_sigprocmask, which sandboxes allow; when it is refused, the answer is
 * false. */
bool sys_faults(uintptr_t address);

/* ---- Files ---------------------------------------------------------------------------------- */

int sys_open(const char *path, int flags, int mode);
int sys_open_at(int directory, const char *path, int flags);
ssize_t sys_read(int fd, void *buffer, size_t size);
/* Leaves the descriptor's position alone. */
ssize_t sys_read_at(int fd, void *buffer, size_t size, uint64_t offset);
ssize_t sys_write(int fd, const void *buffer, size_t size);
/* The same, but a pipe without a reader raises no SIGPIPE. */
ssize_t sys_write_no_sigpipe(int fd, const void *buffer, size_t size);
int sys_close(int fd);
/* Closes every descriptor from that number on. */
void sys_close_from(unsigned first);
/* Says whether a descriptor is open. True also where the kernel does not answer (seccomp). */
bool sys_is_open(int fd);
/* The address a socket is connected to: at most size bytes of it; or -errno. */
ssize_t sys_getpeername(int fd, void *address, size_t size);
/* The time limit of a socket in nanoseconds; 0: it has none, or fd is no socket. */
uint64_t sys_socket_timeout(int fd, bool receiving);
/* An anonymous file, inherited by children; its descriptor is above 2. */
int sys_memfd(const char *name);
/* An anonymous file that only those children inherit to which sys_spawn passes it. */
int sys_memfd_cloexec(const char *name);
/* The next read begins at the beginning. */
void sys_rewind(int fd);
int sys_truncate(int fd, uint64_t size);
int sys_allocate(int fd, uint64_t size);
/* Free bytes on the disk that holds a file, UINT64_MAX when unknown. */
uint64_t sys_disk_free(int fd);
int sys_mkdir(const char *path, int mode);
int sys_unlink(const char *path);
/* Replaces a file that is there. */
int sys_rename(const char *from, const char *to);
ssize_t sys_readlink(const char *path, char *buffer, size_t size);
/* The path of the program's file, NUL-terminated; where a sandbox refuses to tell, as exec named it.
 * Its length, 0: not known. */
size_t sys_program_path(char *buffer, size_t size);
int sys_lstat(const char *path, struct stat *out);
/* Works like access(), with the effective ids; -ENOSYS before Linux 5.8. */
int sys_access_effective(const char *path, int mode);
int sys_fstat(int fd, struct stat *out);
ssize_t sys_getcwd(char *buffer, size_t size);
/* The whole file, or as much of it as fits, NUL-terminated. Bytes read, or -errno. */
ssize_t sys_read_file(const char *path, char *buffer, size_t size);
/* The same for the file /proc/PID/task/TID/name; pid 0: this process. */
ssize_t sys_read_task_file(int pid, int tid, const char *name, char *buffer, size_t size);
/* Says whether the parent process has mapped a file whose path contains the text. False also if
 * that cannot be seen. */
bool sys_parent_has_mapped(const char *text);
void sys_write_file(const char *path, const char *text);
/* Visits the entries of a folder of /proc whose names are numbers, in any order, until visit
 * returns false. False: the folder cannot be read. */
bool sys_each_numbered_entry(const char *folder, bool (*visit)(int number, void *context),
                             void *context);

/* ---- Time, limits, futexes ------------------------------------------------------------------ */

uint64_t sys_clock_ns(int clock);
/* The soft limit in bytes, UINT64_MAX when there is none. */
uint64_t sys_rlimit(int resource);
void sys_set_rlimit(int resource, uint64_t limit);
void sys_raise_rlimit(int resource); /* to the hard limit */
void sys_futex_wait(uint32_t *word, uint32_t value);
/* Waits until the word changes or is woken. False after `ns` nanoseconds. */
bool sys_futex_wait_for(uint32_t *word, uint32_t value, uint64_t ns);
void sys_futex_wake(uint32_t *word, int count);
/* The same between processes. */
bool sys_futex_wait_shared_for(uint32_t *word, uint32_t value, uint64_t ns);
void sys_futex_wake_shared(uint32_t *word);

/* ---- Signals and timers --------------------------------------------------------------------- */

/* True while the calling thread runs on its signal stack; its range is then in *low, *high. */
bool sys_on_signal_stack(uintptr_t *low, uintptr_t *high);
/* Calls sigaltstack; either argument may be NULL. */
int sys_signal_stack(const stack_t *stack, stack_t *old);
/* Is it a signal that a thread's own instruction raises? sys_signals_block leaves these alone:
 * blocking them would turn a bug into a silent kill. */
bool sys_signal_is_fault(int number);
/* Does a sandbox let a handler put a signal off until later? */
bool sys_may_defer_signals(void);
/* Does a sandbox let a handler restore the default action and send the signal once more? filter:
 * one that will be installed, or NULL. */
bool sys_may_die_by_signal(const struct sandbox_filter *filter);
/* Blocks signals whose handlers must not run now. A signal that is ignored must stay open: the
 * kernel drops it when it is sent, unless the receiving thread blocks it; then it becomes pending,
 * and a sigtimedwait or signalfd of another thread reads it. sys_signals_block leaves those open
 * that are ignored by default (SIGCHLD ...) and have no handler; sys_signals_block_handled, for
 * milliseconds rather than microseconds, leaves every signal without handler open. */
void sys_signals_block(uint64_t *saved);
void sys_signals_block_handled(uint64_t *saved);
/* Selects those of the signals `among` (bit number - 1) whose action is SIG_DFL or SIG_IGN. */
uint64_t sys_signals_without_handler(uint64_t among);
void sys_signals_restore(const uint64_t *saved);
/* The kernel's struct sigaction; for sys_sigaction either may be NULL. */
struct sys_sigaction {
    uintptr_t handler, flags;
#if ARCH_HAS_RESTORER
    uintptr_t restorer;
#endif
    uint64_t mask;
};
int sys_sigaction(int number, const struct sys_sigaction *action, struct sys_sigaction *old);
/* Sends a signal to a thread of this process. */
int sys_signal_thread(int tid, int number, const siginfo_t *info);
/* Sends a signal to the calling thread, with the siginfo of another one. */
int sys_signal_self(int number, const siginfo_t *info);
/* Raises SIGTRAP in the calling thread, as tgkill does: for a debugger. */
void sys_raise_trap(void);
/* Removes a pending signal of the calling thread; one that was sent to the thread alone is taken
 * first. */
int sys_take_signal(int number, siginfo_t *info);
/* The signals pending for the calling thread, or for any thread of the process. */
uint64_t sys_signals_pending(void);
/* Creates a timer of the process that sends a signal which carries the value to that thread, or
 * with tid 0 to any. Result: its number, or -errno. Not inherited by fork. */
int sys_timer_create(int tid, int signal, int value);
void sys_timer_delete(int timer);
/* Fires after that many nanoseconds, and then periodically unless every is 0. */
void sys_timer_set(int timer, uint64_t first, uint64_t every);

/* ---- Processes ------------------------------------------------------------------------------ */

/* A sandbox may refuse these: then they answer what was true at the start, or after fork. */
int sys_getpid(void);
int sys_getppid(void);
int sys_gettid(void);
unsigned sys_geteuid(void);
/* Learn the process's ids, at the start and in a fork child, before other functions need them. */
void sys_learn_identity(void);
void sys_learn_identity_in_child(void);
/* The name of the calling thread. */
void sys_thread_name(char name[16]);
void sys_kill(int pid, int number);
/* A hardware watchpoint: the thread, and those that it will start, get SIGTRAP just after any
 * instruction that writes to the aligned word, or also one that reads it. The descriptor to close,
 * a high number; -errno: there are none, or they are not allowed. */
int sys_watch_word(int tid, uintptr_t address, bool reads);
void sys_exit(int status) __attribute__((noreturn));

/* Copies this process with the calling thread alone. The child sends no SIGCHLD and is not seen by
 * a plain wait(); handlers of pthread_atfork do not run. 0 in the child. */
int sys_fork_silent(void);
/* Does a sandbox let this process make such a child, and wait for it? */
bool sys_may_fork(void);
/* Gives up a real-time priority, in a child of libleak's own. */
void sys_drop_realtime(void);
/* Lets a child of libleak's own use a pointer with the wrong tag (MTE) without a fault. */
void sys_ignore_memory_tags(void);

/* What a spawned program gets as descriptors 0, 1 and 2; -1: this process's own. kept: further
 * descriptors that it inherits although they are close-on-exec, ended by -1; NULL: none. */
struct sys_streams {
    int in, out, err;
    const int *kept;
};
/* Runs a program: no SIGCHLD, not seen by a plain wait(). Result: the pid to wait for, whose status
 * is the program's; or -errno. */
int sys_spawn(const char *path, char *const argv[], char *const envp[],
              const struct sys_streams *streams);
/* Waits for a child of either kind: its wait status, or -errno. */
int sys_wait_child(int pid);
/* Says, without waiting, whether the child has ended, or never was a child. */
bool sys_child_has_ended(int pid);

#endif
