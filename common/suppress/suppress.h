/* suppress.h - all suppressions of a report, and what each of them suppressed.
 *
 * Rules come from files of the user, for every process, and from recording files, each for its own
 * process. They are tried in this order and the first match wins; indirectly lost records go with
 * the record that owns them. Rules that the report points to live until suppress_end().
 */
#ifndef COMMON_SUPPRESS_SUPPRESS_H
#define COMMON_SUPPRESS_SUPPRESS_H

#include <stdio.h>

#include "common/model/model.h"
#include "common/suppress/filters.h"
#include "common/store/store.h"

struct suppressions;

struct suppressions *suppress_begin(void);
void suppress_end(struct suppressions *suppressions); /* NULL is fine */

/* Adds rules for every process. NULL, or a message about the first error in the text. */
const char *suppress_add(struct suppressions *suppressions, const char *where, const char *text,
                         size_t length);
const char *suppress_add_file(struct suppressions *suppressions, const char *path);

/* Adds the built-in rules for leaks of runtimes. They are never reported as unused. */
void suppress_add_defaults(struct suppressions *suppressions);
/* Prints them, as a suppression file. */
void suppress_print_defaults(FILE *stream);

/* Suppresses records that do not match a condition of --only, see filters.h. NULL, or the error. */
const char *suppress_add_only(struct suppressions *suppressions, const char *text);

/* Names of --only that were not found so far, see filters.h; the processes show what they have until
 * this is NULL, or there are no more. */
struct only_filter *suppress_names_sought(const struct suppressions *suppressions);
/* What was not found in any process; NULL = nothing. */
const char *suppress_names_unfound(const struct suppressions *suppressions);

/* Suppresses records outside a scope, see filters.h. The default is the scope in the recorded
 * options. NULL, or the error. */
const char *suppress_set_scope(struct suppressions *suppressions, enum scope_key key,
                               const char *text);
void suppress_set_match_any(struct suppressions *suppressions,
                            bool any); /* match modules by any frame */

/* Selects the store of the following records, whose ages count back from until_ns. */
void suppress_select_store(struct suppressions *suppressions, const struct store *store,
                           uint64_t until_ns);
/* The i-th error in the store's own rules; NULL = no more. */
const char *suppress_store_error(const struct suppressions *suppressions, size_t i);
/* Is the record suppressed? Then sets suppressed_by and counts it. owner: the record that an
 * indirectly lost one belongs to, or NULL. */
bool suppress_record(struct suppressions *suppressions, struct record *record,
                     const struct record *owner);
/* Fills in the sums of the process. */
void suppress_fill_totals(struct suppressions *suppressions, struct process *process);

/* Fills in the report's unused and expired rules. Call it after all records. */
void suppress_fill_unused(struct suppressions *suppressions, struct report *report);

#endif
