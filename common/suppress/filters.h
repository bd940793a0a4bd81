/* filters.h - the options that restrict which records a report has: --only=KEY:VALUE, and
 * --modules, --functions, --threads.
 *
 * --only lists conditions:
 *
 *     function, file, module      any frame of user code has it; * and ? are wildcards
 *     thread                      a thread that allocated some of the record: T1, or its name
 *     kind                        malloc, new ...
 *     size, bytes                 bytes of the average block, of all blocks: A, A-B, A- or -B
 *     blocks                      number of blocks: A, A-B, A- or -B
 *     age                         since the first allocation: 10s-, 5m-1h
 *
 * A record must match one condition of each key that is given. ! before a value negates it. A
 * name that no process has is most likely misspelt, and a report without leaks would then mean
 * nothing. So the caller passes modules, frames and threads of the processes to the filter until
 * each key has found a name.
 *
 * A scope is a comma list of names with * and ?. Names with + or no sign: the report has only
 * these; with -: the report excludes these. Scopes are options of leakreport, and of the
 * runtime, which stores them in the recording file:
 *
 *     modules      of the frame that called the allocator: the first frame that is neither
 *                  allocator nor runtime; with modules_match=any, any frame of user code
 *     functions    of any frame of user code
 *     threads      that allocated the record: T1, or a name; a record of several threads is
 *                  excluded only when all of them are
 */
#ifndef COMMON_SUPPRESS_FILTERS_H
#define COMMON_SUPPRESS_FILTERS_H

#include "common/base/arena.h"
#include "common/model/model.h"

/* ---- --only ---------------------------------------------------------------------------------- */

struct only_filter;

/* Parses a condition and puts it in front of the list `rest`. The result lives in mem. NULL:
 * *wrong says why. */
struct only_filter *only_filter_parse(struct arena *mem, const char *text, struct only_filter *rest,
                                      const char **wrong);

/* Says whether --only selects the record. until_ns: the time from which ages count back; 0 =
 * unknown, then no age matches. */
bool only_filter_matches(const struct only_filter *only, const struct record *record,
                         uint64_t until_ns);

/* Says whether a key of --only has names none of which was found so far. */
bool only_filter_seeks(const struct only_filter *only);
/* Tell the filter about a module that a process loaded, a frame of a recorded call stack, or a
 * thread. */
void only_filter_show_module(struct only_filter *only, const char *path);
void only_filter_show_frame(struct only_filter *only, const struct frame *frame);
void only_filter_show_thread(struct only_filter *only, const struct thread_ref *thread);
/* The error message for the first key or list that found none of its names, such as
 * "--only=module:libshp.so: no process loaded such a module". Lives in mem; NULL: all keys found
 * one. */
const char *only_filter_unfound(struct arena *mem, const struct only_filter *only);

/* ---- Scopes: --modules, --functions, --threads ----------------------------------------------- */

enum scope_key { SCOPE_MODULES, SCOPE_FUNCTIONS, SCOPE_THREADS, SCOPE_KEYS };
extern const char *const scope_option_name[SCOPE_KEYS];

struct scope_list {
    struct scope_item *items; /* the items of the list; NULL = no restriction */
    size_t count;
};

/* Parses a scope; the list lives in mem. False: a sign has no name after it; that item is
 * skipped. */
bool scope_list_parse(struct arena *mem, const char *text, struct scope_list *list);

/* Prepends to `rest` those names of a scope list that have no minus sign, so that
 * only_filter_unfound() can report names that no process has. These names are only for that message
 * and select no records. Returns the longer list. */
struct only_filter *scope_list_sought(struct arena *mem, const struct scope_list *list,
                                      enum scope_key key, struct only_filter *rest);

/* Says whether a scope includes a record. any_frame: for SCOPE_MODULES, look at every frame of
 * user code. */
bool scope_list_includes(const struct scope_list *list, enum scope_key key, bool any_frame,
                         const struct record *record);

/* The sign of the last item that matches a function: 1 = + or none, -1 = -, 0 = no item matches. */
int scope_list_match_function(const struct scope_list *list, const char *function);

#endif
