/* signal_words.h - a signal that killed, in words.
 *
 * Pure functions of what the kernel said and what was mapped. Numbers are Linux's, not those of the
 * machine that reads.
 */
#ifndef SYMBOLIZE_FAULTS_SIGNAL_WORDS_H
#define SYMBOLIZE_FAULTS_SIGNAL_WORDS_H

#include "leak_store.h"
#include "common/base/arena.h"

/* "SIGSEGV"; NULL = none of those that are recorded. */
const char *signal_name(int32_t signal);
/* "write to 0x0, a null pointer", "integer divided by zero", "sent by process 42". pid: of the
 * process. */
const char *signal_cause(struct mem *mem, const struct leak_crash *crash, int32_t pid);
/* What lies at the address, when it is no block; NULL = nothing is known. */
const char *signal_near(struct mem *mem, const struct leak_crash *crash);
/* Names of registers as the kernel of that machine (e_machine) saves them; NULL behind the last. */
const char *signal_register(uint32_t machine, uint32_t i);

#endif
