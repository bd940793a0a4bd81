/* stop_the_world.h - stops all other threads of the process, at moments when they are not in
 * libleak, and resumes them without a visible effect.
 *
 * A thread is stopped by the signal that libleak reserves (option snapshot_signal): its handler
 * waits, and the thread's registers lie on its own stack. A thread inside of a hook answers "busy"
 * instead and sends the signal to itself when the hook ends. So no stopped thread holds a lock of
 * libleak or of the allocator, or a block that is not in the table yet. A system call that the
 * signal has interrupted is continued afterwards (syscall_restart.h).
 *
 *     threads = the caller + parked + missed
 *
 * Missed threads keep the signal blocked by means that no hook sees. */
#ifndef PRELOAD_SIGNALS_STOP_THE_WORLD_H
#define PRELOAD_SIGNALS_STOP_THE_WORLD_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/signals/syscall_restart.h"

#include <signal.h>

#define WORLD_MAX_THREADS 16384

struct world_thread {
    int tid;
    uint32_t state;            /* TO_SIGNAL, SIGNALLED, BUSY, STOPPED or ENDED */
    uint32_t late;             /* how often the thread was examined because no thread answered */
    struct thread *thread;     /* libleak's state of the thread; NULL: it never entered a hook */
    uintptr_t block;           /* address of the thread's control block */
    const ucontext_t *context; /* the thread's registers, in the signal frame on its stack */
    struct syscall_interrupted call;
};

struct world {
    /* Room for WORLD_MAX_THREADS entries; pages are touched as needed. */
    struct world_thread *thread;
    uint32_t count;  /* number of all other threads */
    uint32_t parked; /* number of threads that are stopped */
    bool others;     /* the process has another thread */
};

/* Prepares the stop signal. number: the signal's number. requested: called in the signal's handler
 * when another process or the program has sent the signal. on_own_stack: says whether an address
 * lies on the stack with which the calling thread was created. The first stop installs the handler;
 * world_install_handler installs it earlier (false: failed). */
void world_init(int number, void (*requested)(siginfo_t *info, ucontext_t *context),
                bool (*on_own_stack)(uintptr_t sp));
bool world_install_handler(void);
/* Installs the program's own action for the signal again; a pending signal is dropped. */
void world_remove_handler(void);
/* Returns the number of the stop signal; 0: world_init was not called. */
int world_signal(void);
/* Stores the handler that the program has installed for this signal, or that the program ignores
 * it: a signal that libleak has not sent is for the program. */
void world_set_program_handler(void (*handler)(int, siginfo_t *, void *), bool ignored);
/* Says whether leakctl has sent the signal; the program does not get such a signal. */
bool world_is_request(const siginfo_t *info);
/* Records in which system calls leakctl attach has met two threads, for the case that a request of
 * leakctl interrupts such a call, which then must be restarted: the calling thread, whose call attach
 * has interrupted (own), and the process's first thread, which gets most signals; its call is read
 * from /proc. */
void world_note_calls(const struct syscall_interrupted *own);
/* Says whether the calling thread is inside of the runtime; for signal handlers. */
bool world_thread_is_busy(void);

/* Stops all other threads. True: all are stopped, within timeout nanoseconds. Otherwise they are
 * resumed, and world->parked says how many were stopped. Two threads must not call it at the same
 * time. world must be static, because signal handlers read it. */
bool world_stop(struct world *world, uint64_t timeout);
void world_resume(void);
/* Resets the state in a fork child, where no other thread exists. */
void world_fork_child(void);
bool world_thread_is_stopped(const struct world_thread *thread);

#endif
