/* typed_objects.c - follows the pointers by which objects of Python and of GObject name their type
 * (typed_objects.h). */
#include "preload/roots/typed_objects.h"

/* Reads a word of the program's memory; 0: it cannot be read. */
static uintptr_t word_at(const struct procmaps *maps, uintptr_t address)
{
    const struct mapping *mapping = address % WORD ? NULL : procmaps_find(maps, address);
    return mapping && mapping->read ? *(const uintptr_t *)address : 0;
}

/* ---- Python ---------------------------------------------------------------------------------- */

/* Offsets of an object's type, and of a type's name. */
#define PYTHON_TYPE WORD
#define PYTHON_NAME (3 * WORD)
/* Largest number of steps from a type to `type` that are followed; each step leads to the type of a
 * type. */
#define PYTHON_METATYPES 3

static bool is_python_type(const struct procmaps *maps, uintptr_t word)
{
    static const char name[] = "type";
    for (unsigned i = 0; i < PYTHON_METATYPES && word; i++) {
        uintptr_t type = word_at(maps, word + PYTHON_TYPE);
        if (type == word) {
            uintptr_t text = word_at(maps, word + PYTHON_NAME);
            return word_at(maps, text & -WORD) && !memcmp((const void *)text, name, sizeof name);
        }
        word = type;
    }
    return false;
}

/* The count of references in front of the type is not tested: it is 0 for objects in the
 * interpreter's lists of free objects. */
static bool is_python(const struct procmaps *maps, uintptr_t block, uint64_t offset, uint64_t size)
{
    return (offset == 2 * WORD || offset == 4 * WORD) && size >= offset + 2 * WORD &&
           is_python_type(maps, *(const uintptr_t *)(block + offset + PYTHON_TYPE));
}

/* ---- GObject --------------------------------------------------------------------------------- */

/* An object begins at a multiple of this number of bytes in its block, behind its private data. */
#define GOBJECT_ALIGN (2 * WORD)
/* Offset of the data of a type in its node, and of the class in these data, in GLib 2.x. */
#define GOBJECT_DATA (4 * WORD)
#define GOBJECT_CLASS (7 * WORD)

static bool is_gobject(const struct procmaps *maps, uintptr_t block, uint64_t offset, uint64_t size)
{
    if (offset % GOBJECT_ALIGN || size < offset + 2 * WORD)
        return false;
    uintptr_t class = *(const uintptr_t *)(block + offset);
    uintptr_t type = class ? word_at(maps, class) : 0;
    uintptr_t data = type ? word_at(maps, type + GOBJECT_DATA) : 0;
    return data && word_at(maps, data + GOBJECT_CLASS) == class;
}

bool typed_objects_begin_at(const struct procmaps *maps, uintptr_t block, uint64_t offset,
                            uint64_t size)
{
    return is_python(maps, block, offset, size) || is_gobject(maps, block, offset, size);
}
