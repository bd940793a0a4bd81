/* scope_filter.h - which modules, functions and threads a report is about: modules=+liba*,-libb*.
 *
 *     modules      of the frame that called for the block: the first that is neither allocator nor
 *                  runtime; with modules_match=any, any frame of the user's code
 *     functions    of any frame of the user's code
 *     threads      those that allocated it: T1, or a name
 *
 * A comma list of names with * and ?. + in front, or nothing: it is about these alone; -: not about
 * these. What several threads allocated together is left out only when all of them are. The words
 * are those of the runtime's options, which stand in the store, and of leakreport's.
 */
#ifndef COMMON_SUPPRESS_SCOPE_FILTER_H
#define COMMON_SUPPRESS_SCOPE_FILTER_H

#include "common/base/arena.h"
#include "common/model/model.h"

enum scope_key { SCOPE_MODULES, SCOPE_FUNCTIONS, SCOPE_THREADS, SCOPE_KEYS };
extern const char *const scope_word[SCOPE_KEYS]; /* the names of the options */

struct scope_list {
    struct scope_item *items; /* NULL = it is about everything */
    size_t count;
};

/* Lives in mem. False: there is a sign without a name; it is left out. */
bool scope_read(struct mem *mem, const char *text, struct scope_list *list);

/* any_frame: of the modules. */
bool scope_fits(const struct scope_list *list, enum scope_key key, bool any_frame,
                const struct record *record);

/* A list of functions: the last item that names it, 1 = is with + or nothing in front, -1 = with -;
 * 0 = none does. */
int scope_names(const struct scope_list *list, const char *function);

#endif
