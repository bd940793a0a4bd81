/* ledger.h - what a report comes to, for comparing: one entry for each signature.
 *
 * Made of a report, or of one that was written as JSON earlier, maybe elsewhere. Signatures
 * survive other addresses, another build and moved lines, so entries of two ledgers are about the
 * same thing when theirs are equal. What is suppressed is in none.
 */
#ifndef SYMBOLIZE_LEDGER_H
#define SYMBOLIZE_LEDGER_H

#include "symbolize/map.h"
#include "symbolize/mem.h"
#include "symbolize/model.h"

struct ledger_entry {
    uint64_t signature;
    const char *sort;  /* verdict, type of error or of resource; of several verdicts the worst */
    const char *words; /* the same in a sentence */
    int rank;          /* the worst is the least */
    uint64_t bytes;    /* of errors none */
    uint64_t count;    /* blocks, times, or how many are open */
    const char *unit;  /* "block", "time" ... */
    const struct frame *title; /* what it is about, NULL = unknown */
    bool matched;              /* the comparer's */
};

struct ledger {
    struct mem *mem;
    struct ledger_entry *entries;
    size_t count, capacity;
    struct map by_signature; /* -> index + 1 */
    bool shows[VERDICT_MAX]; /* records of other verdicts are left out */
};

/* Everything it is told lives in mem. */
struct ledger ledger_begin(struct mem *mem, const bool shows[VERDICT_MAX]);
void ledger_end(struct ledger *ledger);

void ledger_add_process(struct ledger *ledger, const struct process *process);

/* A record, by its verdict. */
void ledger_add_record(struct ledger *ledger, uint64_t signature, enum verdict verdict,
                       uint64_t bytes, uint64_t blocks, const struct frame *title);
void ledger_add_error(struct ledger *ledger, uint64_t signature, const char *type, uint64_t count,
                      const struct frame *title);
void ledger_add_resource(struct ledger *ledger, uint64_t signature, const char *type,
                         uint64_t count, const struct frame *title);

struct ledger_entry *ledger_find(const struct ledger *ledger, uint64_t signature);

#endif
