/* block_type.h - finds the type of the blocks that a call allocated, for one frame of the
 * allocating stack, from the code and debug information of one file.
 *
 * A type counts only when blocks of the given sizes can be made of it. The evidence is, in this
 * order: a template argument of a standard allocator; the types of variables, members and
 * parameters that the result of the call reaches (result_flow.h). Types that contradict each
 * other are a conflict, and no type is found.
 */
#ifndef COMMON_TYPEINFO_BLOCK_TYPE_H
#define COMMON_TYPEINFO_BLOCK_TYPE_H

#include "common/debuginfo/elf_binary.h"
#include "common/model/model.h"
#include "common/typeinfo/type_index.h"
#include "common/typeinfo/type_info.h"

#define BLOCK_SIZES_MOST 8

struct block_question {
    uint64_t address; /* address in the call instruction, as in the file */
    uint64_t sizes[BLOCK_SIZES_MOST];
    size_t size_count;
    uint64_t into;    /* for block_type_fit(): offset of the object in the block */
    bool single;      /* allocated by new T: one object, no array */
    bool cookie;      /* allocated by new T[n]: the number of elements may stand before them */
    bool by_pointer;  /* the call stores the block's address where its first argument points */
    bool by_template; /* use only template arguments, since the function called in this frame
                       * does not return the block */
};

enum block_answer { BLOCK_UNKNOWN, BLOCK_FOUND, BLOCK_CONFLICT, BLOCK_MISFIT, BLOCK_ANSWER_MAX };

struct block_type_found {
    enum block_answer answer;
    bool passed; /* the function in this frame returns the block, so the frame of its caller may
                  * show the type better */
    /* These fields are set if the answer is BLOCK_FOUND: */
    bool weak;  /* the type is bytes or an array, so a whole structure found in a later frame is
                 * better evidence */
    bool bytes; /* the type is char or the like */
    char name[TYPE_NAME_SIZE], via[TYPE_FIELD_NAME_SIZE];
    enum type_source source;
    uint64_t size; /* size of one object */
    enum type_layout layout;
    uint64_t at;      /* layout TYPE_PART: offset of the object in the block */
    bool polymorphic; /* the type has virtual functions, so the object may be of a derived class */
    struct type_id id;
};

void block_type_find(const struct elf_binary_parts *parts, struct type_index *index,
                     const struct block_question *question, struct block_type_found *found);

/* Says whether blocks of these sizes can have a given type: BLOCK_FOUND, BLOCK_MISFIT, or
 * BLOCK_UNKNOWN if the type is only declared. */
void block_type_fit(const struct elf_binary_parts *parts, struct type_index *index,
                    const struct block_question *question, Dwarf_Die *type,
                    struct block_type_found *found);

/* Finds the class of that name, and whether blocks of these sizes can have it as type. */
void block_type_find_class(const struct elf_binary_parts *parts, struct type_index *index,
                           const struct block_question *question, const char *name,
                           struct block_type_found *found);

#endif
