/* block_type.h - which type do the blocks have that a call allocated? Answers for one frame of the
 * allocating stack, from the code and debug information of one file.
 *
 * A type counts only when blocks of the given sizes can be made of it. The evidence is, in this
 * order: a template argument of a standard allocator; the typed things that the result of the call
 * reaches (result_flow.h). Types that contradict each other are a conflict and no type.
 */
#ifndef COMMON_TYPEINFO_BLOCK_TYPE_H
#define COMMON_TYPEINFO_BLOCK_TYPE_H

#include "common/debuginfo/elf_binary.h"
#include "common/model/model.h"
#include "common/typeinfo/type_index.h"
#include "common/typeinfo/type_info.h"

#define BLOCK_SIZES_MOST 8

struct block_question {
    uint64_t address; /* in the call, as of the file */
    uint64_t sizes[BLOCK_SIZES_MOST];
    size_t size_count;
    uint64_t into;   /* block_type_fit(): the object begins so far into the block */
    bool single;     /* new T: an object, no array */
    bool cookie;     /* new T[n]: a number may stand before the elements */
    bool by_pointer; /* as of result_flow_find() */
    bool
        by_template; /* only template arguments count: the function called did not return the block */
};

enum block_answer { BLOCK_UNKNOWN, BLOCK_FOUND, BLOCK_CONFLICT, BLOCK_MISFIT, BLOCK_ANSWER_MAX };

struct block_type_found {
    enum block_answer answer;
    bool passed; /* the function returns the block: the caller may know more */
    /* Filled in when the outcome is FOUND: */
    bool weak;  /* bytes, or an array: a caller that knows one whole structure knows better */
    bool bytes; /* char, or something like it */
    char name[TYPE_NAME_SIZE], via[TYPE_FIELD_NAME_SIZE];
    enum type_source source;
    uint64_t size; /* of one object */
    enum type_layout layout;
    uint64_t at;      /* of TYPE_PART: where the object begins */
    bool polymorphic; /* the type may be a base class of the object's */
    struct type_id id;
};

void block_type_find(const struct elf_binary_parts *parts, struct type_index *index,
                     const struct block_question *question, struct block_type_found *found);

/* That type, if blocks of these sizes can be made of it: FOUND, MISFIT, or UNKNOWN where it is only
 * declared. */
void block_type_fit(const struct elf_binary_parts *parts, struct type_index *index,
                    const struct block_question *question, Dwarf_Die *type,
                    struct block_type_found *found);

/* The class of that name, if blocks of these sizes can be made of it. */
void block_type_find_class(const struct elf_binary_parts *parts, struct type_index *index,
                           const struct block_question *question, const char *name,
                           struct block_type_found *found);

#endif
