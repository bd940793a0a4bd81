/* site_names.h - names the allocation sites of one process: sites whose stacks have the same
 * functions share a name.
 *
 * A site keeps its id and its stack as long as the process runs. So it is symbolized only once, in
 * the first snapshot that has it, and its name is used for all later snapshots.
 */
#ifndef TOP_SITE_NAMES_H
#define TOP_SITE_NAMES_H

#include "common/base/hashmap.h"
#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

struct site_name {
    uint64_t signature;
    uint32_t kind;             /* value of enum leak_kind */
    struct stack stack;        /* stack of the first site with this name */
    size_t user;               /* index of the innermost user frame; stack.count = there is none */
    const struct frame *title; /* the frame that the name shows; NULL = unknown */
};

struct site_names {
    struct arena *mem;
    struct resolver *resolver;
    bool owns_resolver;
    struct hashmap of_site; /* id of a site -> index of its name + 1 */
    struct hashmap of_key;  /* hash of signature and kind -> index of the name + 1 */
    /* the names, which stay at their addresses until site_names_end() */
    const struct site_name **at;
    size_t count, capacity;
};

/* Makes a resolver that looks up names only in the files that the process has mapped. */
struct resolver *site_names_resolver(struct arena *mem);

/* Begins to name sites. resolver: may be shared with other processes that use the same files, and
 * must live longer than the names; NULL = make one. */
struct site_names site_names_begin(struct resolver *resolver);
void site_names_end(struct site_names *names);

/* Symbolizes the sites that are new in the recording. It must always be a recording of the same
 * process. */
void site_names_update(struct site_names *names, const struct store *store);

/* Returns the index of a site's name; site_names_update() must have seen the site. */
size_t site_names_index(const struct site_names *names, const struct store_site *site);

#endif
