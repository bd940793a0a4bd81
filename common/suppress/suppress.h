/* suppress.h - leaks that are known: which rules there are, and what each keeps quiet.
 *
 * Rules come from files that the user names, which hold for every process, and from the stores,
 * each for its own. Rules are asked in this order and the first that fits is the one; what hangs
 * under a lost record goes with it. Everything a report is told of them lives until suppress_end().
 */
#ifndef COMMON_SUPPRESS_SUPPRESS_H
#define COMMON_SUPPRESS_SUPPRESS_H

#include "common/model/model.h"
#include "common/suppress/scope_filter.h"
#include "common/store/store.h"

struct suppressions;

struct suppressions *suppress_begin(void);
void suppress_end(struct suppressions *suppressions); /* NULL is fine */

/* For every process. NULL, or the line that says what is wrong with the text. */
const char *suppress_add(struct suppressions *suppressions, const char *where, const char *text,
                         size_t length);
const char *suppress_add_file(struct suppressions *suppressions, const char *path);

/* Leaks of runtimes that everybody has; that one of them fits nothing is not worth a word. */
void suppress_add_known(struct suppressions *suppressions);

/* Suppressed is what does not fit, too; only_filter.h has the words. NULL, or what is wrong with
 * it. */
const char *suppress_all_but(struct suppressions *suppressions, const char *text);

/* And what is outside of a scope: see scope_filter.h. Until one is given, that of the store's
 * options holds. NULL, or what is wrong with it. */
const char *suppress_outside(struct suppressions *suppressions, enum scope_key key,
                             const char *text);
void suppress_match_any(struct suppressions *suppressions, bool any); /* modules by any frame */

/* From here on it is about records of that store, whose ages end then. */
void suppress_turn_to(struct suppressions *suppressions, const struct store *store,
                      uint64_t until_ns);
/* What is wrong with the store's own; the i-th, NULL = no more. */
const char *suppress_trouble(const struct suppressions *suppressions, size_t i);
/* Is it suppressed? Then it says by what, and is counted. owner: what it hangs under, or NULL. */
bool suppress_record(struct suppressions *suppressions, struct record *record,
                     const struct record *owner);
/* The sums, into the process. */
void suppress_tell(struct suppressions *suppressions, struct process *process);

/* Once all records were asked about: the rules that fitted none, and those that have expired, into
 * the report. */
void suppress_tell_unused(struct suppressions *suppressions, struct report *report);

#endif
