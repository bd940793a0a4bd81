/* sys.h - the runtime's whole surface towards the kernel.
 *
 * Every function returns what the kernel returns: a value, or -errno. errno itself is never
 * touched. Callable anywhere: signal handlers, vfork children, with any lock held. Signals and
 * timers are in sys_signals.c, copies of the process and programs that it runs in sys_children.c.
 */
#ifndef PRELOAD_BASE_SYS_H
#define PRELOAD_BASE_SYS_H

#include "preload/base/base.h"

#include <signal.h>
#include <sys/types.h>
struct stat;
struct timespec;
struct rlimit;

/* Anonymous private memory; NULL when the kernel refuses. */
void *sys_map(size_t size);
/* Like it, but does not count against overcommit: for large, sparsely used ranges. */
void *sys_map_lazily(size_t size);
/* Where the kernel is asked for it, if nothing is there; else wherever it likes. */
void *sys_map_near(uintptr_t address, size_t size);
/* And shared with children, looks among them. */
void *sys_map_shared(size_t size);
void *sys_map_file(int fd, size_t size);
/* The same in the place of what is mapped there. */
bool sys_map_file_at(void *memory, int fd, size_t size, uint64_t offset);
/* Puts a private view of the file in the place of what is mapped at memory. */
void sys_map_copy(void *memory, int fd, size_t size);
int sys_protect(void *memory, size_t size, int protection);
/* Zeros in the place of whatever is there. */
bool sys_map_zeros(void *memory, size_t size);
/* Moves a mapping to the place of another one. */
void sys_move(void *memory, size_t size, void *to);
/* Larger, where it is or elsewhere; NULL: it is as it was. */
void *sys_map_grow(void *memory, size_t size, size_t larger);
void sys_unmap(void *memory, size_t size);
int sys_advise(void *memory, size_t size, int advice);

int sys_open(const char *path, int flags, int mode);
ssize_t sys_read(int fd, void *buffer, size_t size);
/* Leaves the descriptor's position alone. */
ssize_t sys_read_at(int fd, void *buffer, size_t size, uint64_t offset);
ssize_t sys_write(int fd, const void *buffer, size_t size);
/* Like it, but a pipe without a reader raises no SIGPIPE. */
ssize_t sys_write_quietly(int fd, const void *buffer, size_t size);
int sys_close(int fd);
/* Where the kernel does not say (seccomp), it is. */
bool sys_is_open(int fd);
/* Whom a socket is connected to: bytes of the address, at most size; or -errno. */
ssize_t sys_peer(int fd, void *address, size_t size);
/* An anonymous file, inherited by children. */
int sys_memory_file(const char *name);
/* One that only a child gets to which it is given by sys_spawn; empty. */
int sys_memory_file_kept(const char *name);
/* The next read begins at the beginning. */
void sys_rewind(int fd);
int sys_truncate(int fd, uint64_t size);
int sys_allocate(int fd, uint64_t size);
/* How much is free on the disk of a file, UINT64_MAX when nobody says. */
uint64_t sys_space(int fd);
int sys_mkdir(const char *path, int mode);
int sys_unlink(const char *path);
ssize_t sys_readlink(const char *path, char *buffer, size_t size);
int sys_lstat(const char *path, struct stat *out);
int sys_fstat(int fd, struct stat *out);
ssize_t sys_getcwd(char *buffer, size_t size);
/* Whole file, or as much as fits; NUL-terminated. Bytes read, or -errno. */
ssize_t sys_read_file(const char *path, char *buffer, size_t size);

void sys_write_file(const char *path, const char *text);

int sys_getpid(void);
int sys_getppid(void);
int sys_gettid(void);
unsigned sys_geteuid(void);
/* The limit in bytes, UINT64_MAX when there is none. */
uint64_t sys_limit(int resource);
/* The time limit of a socket in nanoseconds; 0: it has none, or is no socket. */
uint64_t sys_socket_limit(int fd, bool receiving);
/* Waits for events (POLLIN ...) on one descriptor: 1, 0 when the time is over, or -errno. */
int sys_poll(int fd, int events, uint64_t ns);
/* A timer of the process that sends a signal which carries the value; its number, or -errno. Not
 * inherited by fork. */
int sys_timer(int signal, int value);
/* After so many nanoseconds, and then again and again when every is not 0. */
void sys_timer_set(int timer, uint64_t first, uint64_t every);
void sys_limit_set(int resource, uint64_t limit);
void sys_limit_lift(int resource); /* as far as anybody may */
uint64_t sys_clock_ns(int clock);
/* The kernel's, which may be larger than LEAK_PAGE. */
uint64_t sys_page_size(void);
/* The program's own memory, unmapped pages included: false instead of a fault. The kernel copies.
 * One that cannot (no process_vm_readv: qemu-user, some small kernels) is asked whether a page can
 * be read, and then we read it: sys_peek_guesses says so to whoever looks at memory that another
 * thread may be unmapping at this moment. */
bool sys_peek(uintptr_t address, void *out, size_t size);
bool sys_peek_guesses(void);
/* True while the calling thread runs on its signal stack; its range is then in *low, *high. */
bool sys_on_signal_stack(uintptr_t *low, uintptr_t *high);
/* sigaltstack, either may be NULL. */
int sys_signal_stack(const stack_t *stack, stack_t *old);

/* Raised by what the thread itself just did; sys_signals_block leaves these open. */
bool sys_signal_is_fault(int number);
void sys_signals_block(uint64_t *saved);
void sys_signals_restore(const uint64_t *saved);
/* What the kernel keeps of a handler. Either may be NULL. */
struct sys_action {
    uintptr_t handler, flags, restorer;
    uint64_t mask;
};
int sys_action(int number, const struct sys_action *action, struct sys_action *old);
/* Sends a signal to a thread of this process. */
int sys_signal_thread(int tid, int number, const siginfo_t *info);
/* Sends a signal to the calling thread, with what another one carried. */
int sys_signal_self(int number, const siginfo_t *info);
/* SIGTRAP for this thread, as of tgkill: for a debugger. */
void sys_trap(void);
/* Takes one that waits for the calling thread: what was sent to it alone comes first. */
int sys_signal_take(int number, siginfo_t *info);
/* Those that wait for the calling thread, or for any of the process. */
uint64_t sys_signals_pending(void);
void sys_futex_wait(uint32_t *word, uint32_t value);
/* False after so many nanoseconds. */
bool sys_futex_wait_for(uint32_t *word, uint32_t value, uint64_t ns);
/* The same between processes. */
bool sys_futex_wait_shared_for(uint32_t *word, uint32_t value, uint64_t ns);
void sys_futex_wake_shared(uint32_t *word);
void sys_futex_wake(uint32_t *word, int count);

/* The numbers in a folder of /proc, ascending or not, each given to visit until it says no. False:
 * it cannot be read. */
bool sys_each_number(const char *folder, bool (*visit)(int number, void *context), void *context);
/* A copy of this process with the calling thread alone: no SIGCHLD, not seen by a plain wait(), no
 * handler of fork is run. 0 in the child. */
int sys_copy(void);
/* In such a copy: no real-time priority is kept. */
void sys_be_ordinary(void);
/* And memory with tags (MTE) is read by any pointer: unless asked for, a wrong tag is a fault. */
void sys_pass_over_tags(void);
/* No descriptor from that number on stays open. */
void sys_close_from(unsigned first);
void sys_exit(int status) __attribute__((noreturn));

/* What a program that is run finds as 0, 1 and 2; -1: what they are here. kept: more that it finds,
 * also those that are closed on exec, and -1 at the end; NULL: none of these. */
struct sys_streams {
    int in, out, err;
    const int *kept;
};
/* Runs a program: no SIGCHLD, not seen by a plain wait(). The pid to wait for, whose status is the
 * program's; or -errno. */
int sys_run(const char *path, char *const argv[], char *const envp[],
            const struct sys_streams *streams);
/* Waits for it: its wait status, or -errno. */
int sys_wait(int pid);
/* True when it has ended (or never was ours), without waiting. */
bool sys_has_ended(int pid);
void sys_kill(int pid, int number);

#endif
