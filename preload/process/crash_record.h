/* crash_record.h - what is written down of a crash, step by step.
 *
 * Each step may fault without harm to the ones before: what is there is published already. Nothing
 * here waits, allocates from the arena, or reads the program's memory but through the kernel.
 */
#ifndef PRELOAD_PROCESS_CRASH_RECORD_H
#define PRELOAD_PROCESS_CRASH_RECORD_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "leak_store.h"

#include <signal.h>
#include <ucontext.h>

struct witness {
    const siginfo_t *info;
    const ucontext_t *context;
    enum leak_crash_state state;
    bool has_look;            /* one is under way */
    struct leak_crash *crash; /* in the store */
    uint64_t *place;          /* of it: the next one goes there, too */
};

#define WITNESS_STEPS 5
/* The steps in their order; the first one makes "crash", and without it there are no others. */
extern void (*const witness_steps[WITNESS_STEPS])(struct witness *witness) HIDDEN;

#endif
