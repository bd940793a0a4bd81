/* suppress.h - all suppressions of a report, with the number of bytes, blocks and records that each
 * of them suppressed.
 *
 * Rules come from files of the user, for every process, and from recording files, each for its own
 * process. They are tried in this order, and the first match wins. An indirectly lost record is
 * suppressed together with the record that owns it. Rules that the report points to live until
 * suppress_end().
 */
#ifndef COMMON_SUPPRESS_SUPPRESS_H
#define COMMON_SUPPRESS_SUPPRESS_H

#include <stdio.h>

#include "common/model/model.h"
#include "common/suppress/filters.h"
#include "common/store/store.h"

struct suppressions;

struct suppressions *suppress_begin(void);
/* Frees all rules and filters; does nothing if suppressions is NULL. */
void suppress_end(struct suppressions *suppressions);

/* Add rules for every process, from a text or from a file. Return NULL, or a message about the
 * first error. */
const char *suppress_add(struct suppressions *suppressions, const char *where, const char *text,
                         size_t length);
const char *suppress_add_file(struct suppressions *suppressions, const char *path);

/* Adds the built-in rules for leaks of runtimes. They are never reported as unused. */
void suppress_add_defaults(struct suppressions *suppressions);
/* Prints the built-in rules, as a suppression file. */
void suppress_print_defaults(FILE *stream);

/* Adds a condition of --only (filters.h): records that do not match are suppressed. Returns
 * NULL, or the error. */
const char *suppress_add_only(struct suppressions *suppressions, const char *text);

/* The conditions of --only, if a key of them has found none of its names so far (filters.h). The
 * caller passes names of processes to them until this is NULL. */
struct only_filter *suppress_names_sought(const struct suppressions *suppressions);
/* The message about a name in --only that no process has; NULL = none. */
const char *suppress_names_unfound(const struct suppressions *suppressions);

/* Sets a scope (filters.h): records outside are suppressed. The default is the scope in the
 * recorded options. Returns NULL, or the error. */
const char *suppress_set_scope(struct suppressions *suppressions, enum scope_key key,
                               const char *text);
/* Sets whether the scope --modules matches by any frame of user code, or only by the caller of the
 * allocator. */
void suppress_set_match_any(struct suppressions *suppressions, bool any);

/* Selects the recording to which the records of the next calls belong. Their ages count back from
 * until_ns. */
void suppress_select_store(struct suppressions *suppressions, const struct store *store,
                           uint64_t until_ns);
/* The error number i, from 0, in the rules of the selected recording; NULL = no more. */
const char *suppress_store_error(const struct suppressions *suppressions, size_t i);
/* Says whether a record is suppressed; if it is, sets suppressed_by and counts it. owner: the
 * record that an indirectly lost one belongs to, or NULL. */
bool suppress_record(struct suppressions *suppressions, struct record *record,
                     const struct record *owner);
/* Stores in a process the sums of its suppressed records, and the rules that suppressed them. */
void suppress_fill_totals(struct suppressions *suppressions, struct process *process);

/* Stores in a report its unused and expired rules. Call it after all records. */
void suppress_fill_unused(struct suppressions *suppressions, struct report *report);

#endif
