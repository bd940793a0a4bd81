/* only_filter.h - conditions that a record fits or not: --only=function:parse*, --only=size:4k-.
 *
 *     function, file, module      any frame of the user's code has it; * and ?
 *     thread                      one that allocated some of it: T1, or by its name
 *     kind                        malloc, new ...
 *     size, bytes, blocks         of a block on average, of all; a range A-B, A- or -B, or A
 *     age                         since the first: 10s-, 5m-1h
 *
 * Of the same key one must fit, of each key some. ! in front of a value turns it round.
 */
#ifndef COMMON_SUPPRESS_ONLY_FILTER_H
#define COMMON_SUPPRESS_ONLY_FILTER_H

#include "common/base/arena.h"
#include "common/model/model.h"

struct only;

/* NULL: *wrong says why. Lives in mem; `rest` is what was asked for before. */
struct only *only_read(struct mem *mem, const char *text, struct only *rest, const char **wrong);

/* until_ns: when ages end, 0 = unknown: then no age fits. */
bool only_fits(const struct only *only, const struct record *record, uint64_t until_ns);

/* Does a pattern with * and ? name it? A path by its last component, too; a function without its
 * arguments, too: "parse" names "parse(int)"; a thread is T1, or its name. */
bool only_names(const char *pattern, const char *text);
bool only_names_function(const char *pattern, const char *function);
bool only_names_thread(const char *pattern, const struct thread_ref *thread);

#endif
