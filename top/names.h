/* names.h - the sites of one process by name: sites whose stacks have the same functions are one.
 *
 * A site keeps its id and its stack for as long as the process lives, so each is looked up once,
 * when it is first seen; what it is called then holds for every later look. Only sites that are new
 * cost anything.
 */
#ifndef TOP_NAMES_H
#define TOP_NAMES_H

#include "common/base/hashmap.h"
#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

struct name {
    uint64_t signature;
    uint32_t kind;             /* enum leak_kind */
    struct stack stack;        /* of the first site of that name */
    size_t user;               /* index of its user frame; stack.count = none */
    const struct frame *title; /* what it is about, NULL = nothing is known */
};

struct names {
    struct arena *mem;
    struct resolver *resolver;
    bool own;               /* the resolver is ours */
    struct hashmap of_site; /* id -> number + 1 */
    struct hashmap of_key;  /* hash of signature and kind -> number + 1 */
    const struct name **at; /* each stays where it is until names_end() */
    size_t count, capacity;
};

/* One that looks up names in the files where they were. */
struct resolver *names_resolver(struct arena *mem);

/* resolver: of other processes of the same files, too; it must live longer. NULL = one for this. */
struct names names_begin(struct resolver *resolver);
void names_end(struct names *names);

/* Looks up the sites of the store that are new. The store is always one of the same process. */
void names_learn(struct names *names, const struct store *store);

/* The number of a site that was learnt. */
size_t names_of(const struct names *names, const struct store_site *site);

#endif
