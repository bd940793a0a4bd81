/* types.h - the types of blocks: of a site by its allocating stack and by the virtual tables in its
 * samples, of a record by its sites; and the fields of a type, also as values of a sample.
 *
 * A type has its source and confidence and is never a guess: blocks of the sizes that were seen must be
 * makeable of it, and contradicting evidence is a conflict and no type. What the allocating stacks do
 * not tell the paths from typed roots may. docs/TYPES.md says more.
 */
#ifndef SYMBOLIZE_TYPES_TYPES_H
#define SYMBOLIZE_TYPES_TYPES_H

#include "common/sites/signature.h"
#include "common/sites/sites.h"
#include "common/store/store.h"
#include "symbolize/heap/heap.h"

struct types {
    struct arena *mem;
    struct signatures *signatures;
    const struct store *store;
    struct roots *roots;
    struct hashmap stacks;      /* hash of a stack and its sizes -> struct site_type * */
    struct hashmap sites;       /* likewise, with what pointers tell */
    struct hashmap paths;       /* result of the leak check, + 1 -> struct path_types * */
    struct hashmap first_place; /* site + 1 -> its first place on a path, index + 1 */
    struct path_place *places;  /* NULL = not collected yet */
    struct hashmap contents;    /* address of a sample -> its index + 1 */
    size_t asked, paths_asked;  /* stacks, paths */
};

/* ---- site_types.c ---------------------------------------------------------------------------- */

/* The type of a site's blocks. binary, id: for types_fields(). */
struct site_type {
    const struct block_type *type; /* NULL = unknown */
    struct binary *binary;
    struct type_id id;
    bool conflict;
    uint64_t block_size; /* of each block, 0 = they differ, or it is unknown */
};

/* The signatures must be resolved. */
struct types types_begin(struct arena *mem, struct signatures *signatures, struct roots *roots);
void types_end(struct types *types);

/* The type of the blocks of a share: of one site, in one result of the leak check. Never NULL. */
const struct site_type *types_of_share(struct types *types, const struct share *share);
/* The type as far as the stack and virtual tables tell it. */
const struct site_type *types_of_stack(struct types *types, const struct share *share);

/* The fields of a type, by their place; 0 = unknown, or no structure. binary, id: of a site's type, or
 * binary and named_field.to of a field. */
size_t types_fields(struct binary *binary, struct type_id id,
                    struct named_field fields[TYPE_FIELDS_MOST]);

/* ---- path_types.c: what pointers tell ---------------------------------------------------------- */

/* The result has another path now. */
void types_forget_path(struct types *types, uint32_t found);

/* Fills in what a path of the model says in words of the source. */
void types_name_path(struct types *types, struct path *path);

struct pointed_type {
    struct block_type_found found;
    struct binary *binary;
    double confidence;
    const char *via; /* NULL = not all of the path has names */
    bool conflict;   /* pointers of different types lead to blocks of the site */
};

/* The type that pointers to blocks of a site have, if blocks of the sizes that were seen can be made
 * of it. False: none. */
bool types_by_pointers(struct types *types, uint32_t site, const struct block_question *question,
                       struct pointed_type *type);

/* ---- record_types.c -------------------------------------------------------------------------- */

/* Fills in the types of a record from its shares. */
void types_fill_record(struct types *types, const struct share *shares, size_t count,
                       struct record *record);

/* ---- field_values.c -------------------------------------------------------------------------- */

/* Fills in the fields of the record's samples. Addresses in the values are only followed to other
 * samples, whose contents are known. */
void types_fill_fields(struct types *types, const struct share *shares, size_t count,
                       struct record *record);

#endif
