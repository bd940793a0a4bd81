/* type_path.h - names the pointers on a path from a variable, or from a block of known type, as
 * the source does.
 *
 * A pointer to the start of a block shows the block's type, if the block's size fits one object
 * of that type or an array. The type stays unknown after a void pointer, a number, a union whose
 * members differ, or a pointer into a block, unless other evidence shows the block's type.
 */
#ifndef COMMON_TYPEINFO_TYPE_PATH_H
#define COMMON_TYPEINFO_TYPE_PATH_H

#include "common/typeinfo/block_type.h"

#define TYPE_STEPS_MOST 128
#define TYPE_WORD_SIZE 160

/* One step of a path: the pointer at `offset` of the previous block, or of the variable, points
 * to `into` in a block of `size` bytes. */
struct type_step {
    uint64_t offset, into, size;
    struct type_id known; /* type of the block from other evidence; known.offset 0: none */
    enum type_layout layout;
};

/* How the expression must convert the pointer to get one to the block's type: not at all, by a
 * cast, or from a member to the structure that contains it. */
enum type_cast { CAST_NONE, CAST_TYPE, CAST_CONTAINER, CAST_MAX };

struct type_step_found {
    /* named: all steps up to this one have names. word: the name of the pointer in the previous
     * block, "->next" or "[12].key". */
    bool named;
    char word[TYPE_WORD_SIZE];
    enum type_cast cast;
    char link[TYPE_WORD_SIZE];     /* CAST_CONTAINER: member that the pointer points to */
    bool pointed;                  /* the pointer itself shows the type of the block */
    struct block_type_found block; /* the type of the block; BLOCK_CONFLICT: the pointer
                                    * contradicts other evidence */
};

/* Names the pointers of a path into found[count]. variable: contains the first pointer, at
 * steps[0].offset. */
void type_path_find(const struct elf_binary_parts *parts, struct type_index *index,
                    Dwarf_Die *variable, const struct type_step *steps, size_t count,
                    struct type_step_found *found);

#endif
