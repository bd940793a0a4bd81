/* stop_the_world.h - stops all other threads, outside of the runtime, without their noticing.
 *
 * A thread is stopped by the signal that libleak reserves (option snapshot_signal): its handler
 * waits, and the thread's registers lie on its own stack. A thread inside of a hook answers "busy"
 * instead and sends the signal to itself when the hook ends. So no stopped thread holds a lock of
 * libleak or of the allocator, or a block that is not in the table yet. A system call that the
 * signal has interrupted is continued afterwards (syscall_restart.h).
 *
 *     threads = the caller + parked + missed
 *
 * Missed threads keep the signal blocked by means that no hook sees.
 */
#ifndef PRELOAD_SIGNALS_STOP_THE_WORLD_H
#define PRELOAD_SIGNALS_STOP_THE_WORLD_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/signals/syscall_restart.h"

#include <signal.h>

#define WORLD_MAX_THREADS 16384

struct world_thread {
    int tid;
    uint32_t state;            /* to signal, signalled, busy, stopped, ended */
    uint32_t late;             /* times without an answer while no thread answered */
    struct thread *thread;     /* libleak's record of it, NULL = it never entered a hook */
    uintptr_t block;           /* its thread control block */
    const ucontext_t *context; /* its registers, on its stack */
    struct syscall_interrupted call;
};

struct world {
    struct world_thread *thread; /* WORLD_MAX_THREADS of them; pages are touched as needed */
    uint32_t count;              /* all other threads */
    uint32_t parked;             /* of these are stopped */
    bool others;                 /* there is another thread at all */
};

/* Prepares the signal. number: of the signal. requested: called in the signal's handler when
 * another process or the program has sent it. on_own_stack: says whether an address lies on the
 * stack with which the calling thread was created. The handler is installed when it is first
 * needed; world_install_handler does so at once. */
void world_init(int number, void (*requested)(siginfo_t *info, ucontext_t *context),
                bool (*on_own_stack)(uintptr_t sp));
bool world_install_handler(void);
/* The program's own action for the number is in force; a pending signal is dropped. */
void world_remove_handler(void);
/* The number of the signal; 0: world_init was not called. */
int world_signal(void);
/* The program has a handler of its own for the number, or ignores it: signals from elsewhere are
 * the program's. */
void world_set_program_handler(void (*handler)(int, siginfo_t *, void *), bool ignored);
/* Sent by leakctl: never the program's. */
bool world_is_request(const siginfo_t *info);
/* Is the calling thread inside of the runtime? For a signal handler. */
bool world_thread_is_busy(void);

/* Stops all other threads: true when all are stopped within timeout nanoseconds. Otherwise they
 * have been resumed, and world->parked says how many were stopped. Not for two threads at once.
 * world: static, handlers read it. */
bool world_stop(struct world *world, uint64_t timeout);
void world_resume(void);
/* Begins anew in a fork child, where no other thread exists. */
void world_fork_child(void);
bool world_thread_is_stopped(const struct world_thread *thread);

#endif
