/* type_path.h - what a chain of pointers leads to, in words of the source: from a variable, or a block of
 * known type, along the members that hold the pointers.
 *
 * A pointer tells the type of the block that it points to the start of, if the block can be made of
 * it: one object, or an array. Nothing is told by a void pointer, a number, a union whose members
 * differ, or a pointer into a block, unless that block's type is known already.
 */
#ifndef COMMON_TYPEINFO_TYPE_PATH_H
#define COMMON_TYPEINFO_TYPE_PATH_H

#include "common/typeinfo/block_type.h"

#define TYPE_STEPS_MOST 128
#define TYPE_WORD_SIZE 160

/* The pointer at +offset of the step before, or of the variable, points to +into of a block. */
struct type_step {
    uint64_t offset, into, size;
    struct type_id known; /* the type of the block, as far as something else tells it */
    enum type_layout layout;
};

/* How the pointer becomes one to the block's own type. */
enum type_cast { CAST_NONE, CAST_TYPE, CAST_CONTAINER, CAST_MAX };

struct type_step_found {
    /* "->next", "[12].key": the pointer's place in what the step before leads to. Unknown: not all
     * steps up to here have names. */
    bool named;
    char word[TYPE_WORD_SIZE];
    enum type_cast cast;
    char link[TYPE_WORD_SIZE];     /* of CAST_CONTAINER: the member that is pointed to */
    bool pointed;                  /* the pointer itself tells the type … */
    struct block_type_found block; /* … which is this; CONFLICT: and contradicts what is known */
};

/* Names the words of a path. variable: the variable in which the first word lies, at offset
 * steps[0].offset. Fills in found[count]. */
void type_path_find(const struct elf_binary_parts *parts, struct type_index *index,
                    Dwarf_Die *variable, const struct type_step *steps, size_t count,
                    struct type_step_found *found);

#endif
