/* types.h - the types of blocks: of a site by its allocating stack and by the virtual tables in its
 * samples, of a record by its sites; and the fields of a type, also as values of a sample.
 *
 * A type has its source and confidence and is never a guess: blocks of the sizes that were seen must be
 * makeable of it, and contradicting evidence is a conflict and no type. docs/TYPES.md says more.
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
    struct hashmap sites;    /* hash of a stack and its sizes -> struct site_type * */
    struct hashmap contents; /* address of a sample -> its index + 1 */
    size_t asked;            /* stacks */
};

/* ---- site_types.c ---------------------------------------------------------------------------- */

/* binary, id: for types_fields(). */
struct site_type {
    const struct block_type *type; /* NULL = unknown */
    struct binary *binary;
    struct type_id id;
    bool conflict;
    uint64_t block_size; /* of each block, 0 = they differ, or it is unknown */
};

/* The signatures must be resolved. */
struct types types_begin(struct arena *mem, struct signatures *signatures);
void types_end(struct types *types);

/* The type of the blocks of a share: of one site, in one result of the leak check. Never NULL. */
const struct site_type *types_of_share(struct types *types, const struct share *share);

/* The fields of a type, by their place; 0 = unknown, or no structure. binary, id: of a site's type, or
 * binary and named_field.to of a field. */
size_t types_fields(struct binary *binary, struct type_id id,
                    struct named_field fields[TYPE_FIELDS_MOST]);

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
