/* faults.h - describes the errors of a process, with names: crashes, bad frees, resources left
 * open.
 */
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
 * One kind of mismatch is not reported: an operator new of the program itself allocated the block,
 * or an operator delete of the program releases it. The program may implement such an operator with
 * another one, so a mismatch between them is no error. */

/* Fills in the bad frees of a process, and their number. */
void bad_frees_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                    struct process *process);

/* Clears addresses, times and thread numbers of bad frees, which differ from run to run. */
void bad_frees_make_stable(struct process *process);

/* ---- bad_frees.c: the last frees of each thread ------------------------------------------------
 *
 * libleak keeps a ring of each thread's last frees. A sample of the frees is recorded with the
 * whole stack, the others only with the return address. When a thread ends, its ring goes to
 * another thread. */

struct recent_frees_options {
    bool all;         /* list every free in the rings */
    bool one;         /* list only the frees of `address` */
    uint64_t address; /* start of the block whose frees are listed, if `one` is set */
};

/* Fills in the recent frees of a process that the options ask for. */
void recent_frees_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                       const struct recent_frees_options *options, struct process *process);

/* ---- crashes.c: the signal that killed the process ------------------------------------------- */

/* Fills in the crash of a process, and counts it as an error. When libc detects a bad free, it
 * aborts the process; such an abort is no error of its own, and the bad free becomes the first in
 * the list. Call it after the end of the process and the bad frees are filled in. */
void crash_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                struct process *process);
/* Clears addresses and other values of the crash that differ from run to run. */
void crash_make_stable(struct process *process);

/* ---- signal_words.c: a fatal signal in words --------------------------------------------------
 *
 * The text depends only on what the kernel reported and what was mapped. The numbers of signals are
 * those of Linux, because the machine that reads the recording file may have others. */

/* Returns the name of a signal, like "SIGSEGV"; NULL = not one of the signals that libleak
 * records. */
const char *signal_name(int32_t signal);
/* Returns the cause of the signal: "write to 0x0, a null pointer", "integer divided by zero", "sent
 * by process 42". pid: of the process that crashed. */
const char *signal_cause(struct arena *mem, const struct leak_crash *crash, int32_t pid);
/* Returns what is mapped at the fault address, if no block is there; NULL = unknown. */
const char *signal_address_words(struct arena *mem, const struct leak_crash *crash);
/* Returns the name of register i, from 0, in the order in which the kernel saves registers on a
 * machine (e_machine of ELF); NULL after the last. */
const char *signal_register_name(uint32_t machine, uint32_t i);

/* ---- resources.c: what a process left open besides memory: descriptors, streams, threads ------
 *
 * A resource is reported if the process opened it itself and it is still open. The standard
 * descriptors, inherited ones, and the descriptor of a reported stream are not reported. Resources
 * of one kind whose stacks have equal names are one record. If the process called exec, nothing is
 * reported, because the new program gets the open descriptors on purpose. */

void resources_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                    struct suppressions *suppressions, struct process *process);

#endif
