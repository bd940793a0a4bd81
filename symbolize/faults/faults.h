/* faults.h - the errors of a process, with names: crashes, bad frees, resources left open. */
#ifndef SYMBOLIZE_FAULTS_FAULTS_H
#define SYMBOLIZE_FAULTS_FAULTS_H

#include "leak_store.h"
#include "common/base/arena.h"
#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"
#include "common/suppress/suppress.h"

/* ---- bad_frees.c: bad frees --------------------------------------------------------------------
 *
 * One kind is left out: the block comes from an operator new that is not libleak's, or such an
 * operator delete releases it. Then the program implements its operators with other ones, and what
 * these do to each other is no error. */

/* Fills in the mistakes of a process, and their number. */
void bad_frees_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                    struct process *process);

/* Clears addresses, times and thread numbers, which differ from run to run. */
void bad_frees_make_stable(struct process *process);

/* ---- bad_frees.c: the last frees of each thread ------------------------------------------------
 *
 * The runtime keeps a ring of each thread's last frees. A free that was inspected has its whole
 * stack, the others only the return address. When a thread ends, its ring goes to another
 * thread. */

struct recent_frees_options {
    bool all;         /* every free in the rings … */
    bool one;         /* … or only those of this address */
    uint64_t address; /* start of a block */
};

/* Fills in the requested recent frees of a process. */
void recent_frees_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                       const struct recent_frees_options *options, struct process *process);

/* ---- crashes.c ------------------------------------------------------------------------------- */

/* Fills in the crash and counts it as an error, unless it is libc's answer to a wrong free: then that
 * one becomes the first of the mistakes. Needs the end of the process and the mistakes. */
void crash_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                struct process *process);
/* Clears what differs from run to run. */
void crash_make_stable(struct process *process);

/* ---- signal_words.c: a fatal signal in words --------------------------------------------------
 *
 * Pure functions of what the kernel reported and what was mapped. Numbers are Linux's, not those of
 * the machine that reads. */

/* "SIGSEGV"; NULL = not one of the recorded signals. */
const char *signal_name(int32_t signal);
/* "write to 0x0, a null pointer", "integer divided by zero", "sent by process 42". pid: of the
 * process that crashed. */
const char *signal_cause(struct arena *mem, const struct leak_crash *crash, int32_t pid);
/* What lies at the address, when it is in no block; NULL = unknown. */
const char *signal_address_words(struct arena *mem, const struct leak_crash *crash);
/* The i-th register as the kernel of that machine (e_machine) saves it; NULL after the last. */
const char *signal_register_name(uint32_t machine, uint32_t i);

/* ---- resources.c: what a process left open besides memory: descriptors, streams, threads ------
 *
 * Reported is what the process opened itself and what is still open: not the standard descriptors,
 * not inherited ones, not the descriptor of a reported stream. Records of one kind whose stacks
 * have equal names are one. After exec nothing is reported: open descriptors passed to the new
 * program on purpose. */

void resources_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                    struct suppressions *suppressions, struct process *process);

#endif
