/* site_names.h - the allocation sites of one process by name: sites whose stacks have the same
 * functions share a name.
 *
 * A site keeps its id and its stack while the process lives, so each is symbolized once, when it is
 * first seen, and its name holds for every later snapshot. Only new sites cost time.
 */
#ifndef TOP_SITE_NAMES_H
#define TOP_SITE_NAMES_H

#include "common/base/hashmap.h"
#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

struct site_name {
    uint64_t signature;
    uint32_t kind;             /* enum leak_kind */
    struct stack stack;        /* of the first site with that name */
    size_t user;               /* index of its first user frame; stack.count = none */
    const struct frame *title; /* the frame that names it; NULL = unknown */
};

struct site_names {
    struct arena *mem;
    struct resolver *resolver;
    bool owns_resolver;
    struct hashmap of_site;      /* id -> index + 1 */
    struct hashmap of_key;       /* hash of signature and kind -> index + 1 */
    const struct site_name **at; /* the names do not move before site_names_end() */
    size_t count, capacity;
};

/* A resolver that looks up names in the files that the process has mapped, and nowhere else. */
struct resolver *site_names_resolver(struct arena *mem);

/* Begins to name sites. resolver: shared with other processes of the same files, and outlives the
 * names; NULL = make one. */
struct site_names site_names_begin(struct resolver *resolver);
void site_names_end(struct site_names *names);

/* Symbolizes the new sites of the recording, which is always of the same process. */
void site_names_update(struct site_names *names, const struct store *store);

/* The index of the name of a site that site_names_update has seen. */
size_t site_names_index(const struct site_names *names, const struct store_site *site);

#endif
