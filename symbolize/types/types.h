/* types.h - finds the C or C++ types of blocks: of a site by its allocating stack and by the
 * virtual tables that its sample blocks point to, of a record by its sites. It also finds the
 * fields of a type, and their values in a sample block.
 *
 * A type has a source and a confidence and is never a guess: blocks of the sizes that were seen
 * must consist of whole objects of that type, and contradicting evidence is a conflict and no type.
 * When the allocating stack does not show the type, a path of pointers from a variable with a known
 * type may. docs/TYPES.md says more.
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
    /* hash of the stack, the result of the leak check and the block sizes -> struct site_type *,
     * made from the evidence of stacks and virtual tables */
    struct hashmap stacks;
    /* hash of the stack, the result of the leak check and the block sizes -> struct site_type *,
     * made from the evidence of pointers, too */
    struct hashmap sites;
    struct hashmap paths; /* index of a result of the leak check, + 1 -> struct path_types * */
    /* site + 1 -> the first place on a path of pointers with a block of that site, as index in
     * `places` + 1 */
    struct hashmap first_place;
    struct path_place *places; /* blocks of sites on paths of pointers; NULL = not collected yet */
    /* address of a sample block -> its index in the leak check's samples + 1 */
    struct hashmap contents;
    /* number of stacks and of paths that were analysed so far; both are limited */
    size_t asked, paths_asked;
};

/* ---- site_types.c: the type of a site's blocks ----------------------------------------------- */

/* The type of a site's blocks. binary and id name the type for types_fields(). */
struct site_type {
    const struct block_type *type; /* NULL = the type is unknown */
    struct binary *binary;
    struct type_id id;
    bool conflict;
    uint64_t block_size; /* size of each block of the site; 0 = the sizes differ, or are unknown */
};

/* Makes an empty struct types. The signatures must be resolved before. */
struct types types_begin(struct arena *mem, struct signatures *signatures, struct roots *roots);
void types_end(struct types *types);

/* Returns the type of the blocks of a share, which are the blocks of one site in one result of the
 * leak check. Never NULL. */
const struct site_type *types_of_share(struct types *types, const struct share *share);
/* Returns the type of the blocks of a share as shown by the stack and the virtual tables alone. */
const struct site_type *types_of_stack(struct types *types, const struct share *share);

/* Lists the fields of a type by ascending offset, and returns their number; 0 = unknown, or the
 * type is no structure. binary, id: those of a struct site_type, or the binary and named_field.to
 * of a field. */
size_t types_fields(struct binary *binary, struct type_id id,
                    struct named_field fields[TYPE_FIELDS_MOST]);

/* ---- path_types.c: the types that pointers to a block show ----------------------------------- */

/* Forgets the types of the path to a result of the leak check, because that result has another path
 * now. */
void types_forget_path(struct types *types, uint32_t found);

/* Adds names of the source to a path of the model: variables, members and types. */
void types_name_path(struct types *types, struct path *path);

struct pointed_type {
    struct block_type_found found;
    struct binary *binary;
    double confidence;
    /* the expression through which the pointer was found; NULL = a part of the path has no name */
    const char *via;
    bool conflict; /* pointers to blocks of the site have different types */
};

/* Finds the type that pointers to blocks of a site have. Blocks of the sizes that were seen must
 * consist of whole objects of that type. False: no type was found. */
bool types_by_pointers(struct types *types, uint32_t site, const struct block_question *question,
                       struct pointed_type *type);

/* ---- record_types.c: the types of a record's blocks ------------------------------------------ */

/* Fills in the types of a record. Its blocks are given as shares of sites. */
void types_fill_record(struct types *types, const struct share *shares, size_t count,
                       struct record *record);

/* ---- field_values.c: the values of fields in sample blocks ----------------------------------- */

/* Fills in the fields of the record's sample blocks with their values. A pointer is only followed
 * when it points to another sample block, because only the contents of samples are known. */
void types_fill_fields(struct types *types, const struct share *shares, size_t count,
                       struct record *record);

#endif
