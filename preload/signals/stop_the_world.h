/* stop_the_world.h - all other threads stand still, outside of the runtime, and do not notice.
 *
 * A thread is held by the signal that libleak keeps for itself (option snapshot_signal): its
 * handler waits, the registers lie on the thread's own stack. One that is inside a hook says "busy"
 * instead and asks itself again when the hook is over: so nobody is held who has a lock of ours, a
 * lock of the allocator, or a block on its way into the table. What a held thread was waiting for
 * in the kernel goes on afterwards (syscall_restart.h).
 *
 *     threads there are = taker + parked + missed
 *
 * Missed are threads that keep the signal blocked by means that no hook sees.
 */
#ifndef PRELOAD_SIGNALS_STOP_THE_WORLD_H
#define PRELOAD_SIGNALS_STOP_THE_WORLD_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/signals/syscall_restart.h"

#include <signal.h>

#define PARK_MOST 16384

struct park_thread {
    int tid;
    uint32_t state;            /* to ask, asked, busy, parked, gone */
    uint32_t late;             /* times it had not answered when nobody did */
    struct thread *thread;     /* ours of it, NULL = it never came to a hook */
    uintptr_t block;           /* its thread block */
    const ucontext_t *context; /* its registers, on its stack */
    struct resume_call call;
};

struct park {
    struct park_thread *thread; /* PARK_MOST of them; only what is used is touched */
    uint32_t count;             /* all others there are */
    uint32_t parked;
    bool others; /* there is another thread at all */
};

/* number: of the signal. asked: called in its handler when it came from somebody else.
 * on_own_stack: is that a place on the stack that the calling thread was made with? The handler is
 * installed when it is first needed; park_listen does so at once. */
void park_start(int number, void (*asked)(siginfo_t *info, ucontext_t *context),
                bool (*on_own_stack)(uintptr_t sp));
bool park_listen(void);
/* 0: not started. */
int park_signal(void);
/* The program has a handler of its own for the number, or ignores it: what others send is its. */
void park_give_others(void (*handler)(int, siginfo_t *, void *), bool ignored);
/* Sent by leakctl: never the program's. */
bool park_is_request(const siginfo_t *info);
/* Is the calling thread inside of the runtime? For a handler. */
bool park_inside(void);

/* Holds all other threads, for at most "most" nanoseconds: true when all of them stand. When not,
 * they have been let go again, and counts say how many stood. Not for two threads at once. */
bool park_all(struct park *park, uint64_t most); /* park: static, handlers read it */
void park_release(void);
/* A fork child: nobody stands. */
void park_fork_child(void);
bool park_was_parked(const struct park_thread *thread);

#endif
