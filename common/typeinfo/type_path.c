/* type_path.c - names the pointers on a path through objects, by the types of the objects. */
#include "common/typeinfo/type_path.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MOST 12 /* most nested members that are searched */

/* ---- The name of what is at an offset -------------------------------------------------------- */

struct place {
    char *text; /* the name as far as it was found; TYPE_WORD_SIZE bytes */
    bool arrow; /* put "->" in front of the next member's name, not "." */
    int left;
    Dwarf_Die leaf;          /* the scalar or pointer that was found */
    const Dwarf_Die *wanted; /* type to search; NULL = any scalar or pointer */
};

static bool append_text(struct place *place, const char *before, const char *text)
{
    size_t used = strlen(place->text);

    return snprintf(place->text + used, TYPE_WORD_SIZE - used, "%s%s", before, text) <
           (int)(TYPE_WORD_SIZE - used);
}

static bool append_index(struct place *place, uint64_t index)
{
    char text[32];

    snprintf(text, sizeof(text), "[%llu]", (unsigned long long)index);
    place->arrow = false;
    return append_text(place, "", text);
}

static bool find_place(Dwarf_Die *type, uint64_t offset, struct place *place);

/* Finds what is at an offset of an array, and appends an index for each dimension to the name. */
static bool find_in_array(Dwarf_Die *array, uint64_t offset, struct place *place)
{
    Dwarf_Die element;
    uint64_t size, index, inner = 1;

    if (!type_of_die(array, &element) || !(size = type_size(&element)))
        return false;
    index = offset / size;
    for (unsigned n = 1; type_dimension(array, n); n++)
        inner *= type_dimension(array, n);
    for (unsigned n = 1; inner > 1; n++) {
        if (!append_index(place, index / inner))
            return false;
        index %= inner;
        inner /= type_dimension(array, n);
    }
    return append_index(place, index) && find_place(&element, offset % size, place);
}

struct member_choice {
    uint64_t offset, at, size;
    Dwarf_Die member, type;
    bool any;
};

static bool is_open_array(Dwarf_Die *type)
{
    Dwarf_Die plain;

    return type_make_plain(type, &plain) && dwarf_tag(&plain) == DW_TAG_array_type &&
           type_dimension(&plain, 0) <= 1;
}

/* Chooses the last member that contains the offset: an empty base class may have the same offset
 * as another member. */
static bool choose_member(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *context)
{
    struct member_choice *choice = context;
    uint64_t size = type_size(type);

    if (offset > choice->offset || (choice->offset - offset >= size && !is_open_array(type)) ||
        (choice->any && (offset < choice->at || (offset == choice->at && size < choice->size))))
        return false;
    *choice = (struct member_choice){choice->offset, offset, size, *member, *type, true};
    return false;
}

static bool append_member(struct place *place, Dwarf_Die *member, Dwarf_Die *type)
{
    const char *name = dwarf_tag(member) == DW_TAG_member ? dwarf_diename(member) : NULL;
    Dwarf_Die plain;

    if (!name) /* a base class, or a member without a name */
        return true;
    if (type_make_plain(type, &plain) && type_is_hidden_member(member, &plain))
        return true;
    if (!append_text(place, place->arrow ? "->" : ".", name))
        return false;
    place->arrow = false;
    return true;
}

static bool find_in_structure(Dwarf_Die *plain, uint64_t offset, struct place *place)
{
    struct member_choice choice = {.offset = offset};

    type_visit_members(plain, choose_member, &choice);
    return choice.any && append_member(place, &choice.member, &choice.type) &&
           find_place(&choice.type, offset - choice.at, place);
}

struct alternatives {
    uint64_t offset;
    struct place *place, first;
    char text[TYPE_WORD_SIZE];
    bool any, differ;
};

static bool try_alternative(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *context)
{
    struct alternatives *all = context;
    struct place place = *all->place;
    char text[TYPE_WORD_SIZE];

    place.text = memcpy(text, all->place->text, sizeof(text));
    if (offset > all->offset || !append_member(&place, member, type) ||
        !find_place(type, all->offset - offset, &place))
        return false;
    all->differ |= all->any && !type_is_same(&place.leaf, &all->first.leaf);
    if (!all->any) {
        all->first = place;
        memcpy(all->text, text, sizeof(text));
    }
    all->any = true;
    return false;
}

/* Finds what is at an offset of a union. All members that have something there must have the
 * same. */
static bool find_in_union(Dwarf_Die *plain, uint64_t offset, struct place *place)
{
    struct alternatives all = {.offset = offset, .place = place};

    type_visit_members(plain, try_alternative, &all);
    if (!all.any || all.differ)
        return false;
    memcpy(place->text, all.text, sizeof(all.text));
    place->arrow = all.first.arrow;
    place->leaf = all.first.leaf;
    return true;
}

static bool find_place(Dwarf_Die *type, uint64_t offset, struct place *place)
{
    Dwarf_Die plain, wanted;
    bool found;

    if (place->left == 0 || !type_make_plain(type, &plain))
        return false;
    if (place->wanted) {
        wanted = *place->wanted;
        if (!offset && type_is_same(type, &wanted))
            return true;
    }
    place->left--;
    switch (dwarf_tag(&plain)) {
    case DW_TAG_array_type:
        found = find_in_array(&plain, offset, place);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        found = find_in_structure(&plain, offset, place);
        break;
    case DW_TAG_union_type:
        found = !place->wanted && find_in_union(&plain, offset, place);
        break;
    default:
        place->leaf = *type;
        found = !place->wanted && offset == 0;
    }
    place->left++;
    return found;
}

/* ---- Steps of a path ------------------------------------------------------------------------- */

/* The object that the previous step leads to. */
struct object {
    bool known, block;
    bool nameless; /* no expression leads to the object: the only pointer to it points inside,
                    * and has another type */
    Dwarf_Die type;
    enum type_layout layout;
    uint64_t size; /* size of one element */
    uint64_t base; /* offset of the object in the block */
};

/* Finds the name and type of the word at an offset of an object. */
static bool name_word(struct object *object, uint64_t offset, char word[TYPE_WORD_SIZE],
                      Dwarf_Die *type)
{
    struct place place = {.text = word, .arrow = object->block, .left = DEPTH_MOST};
    Dwarf_Die plain;

    *word = 0;
    if (!object->known || !type_make_plain(&object->type, &plain) || offset < object->base)
        return false;
    offset -= object->base;
    if (object->block && (object->layout == TYPE_ARRAY || !type_is_aggregate(&plain))) {
        if (!object->size || !append_index(&place, offset / object->size))
            return false;
        offset %= object->size;
    }
    if (!find_place(&object->type, offset, &place))
        return false;
    *type = place.leaf;
    return true;
}

/* Names the part of a block at `into` that has the wanted type; false: no part does. */
static bool name_part(Dwarf_Die *type, uint64_t into, const Dwarf_Die *wanted,
                      char link[TYPE_WORD_SIZE])
{
    struct place place = {.text = link, .left = DEPTH_MOST, .wanted = wanted};

    *link = 0;
    if (!find_place(type, into, &place))
        return false;
    if (*link == '.')
        memmove(link, link + 1, strlen(link));
    return true;
}

static void set_object(struct object *object, Dwarf_Die *type, enum type_layout layout)
{
    *object = (struct object){
        .known = true, .block = true, .type = *type, .layout = layout, .size = type_size(type)};
}

/* Makes the current object a block whose type is known from other evidence than the pointer. */
static void enter_known(const struct type_step *step, Dwarf_Die *known, Dwarf_Die *pointee,
                        struct object *object, struct type_step_found *found)
{
    bool part = pointee && name_part(known, step->into, pointee, found->link);

    set_object(object, known, step->layout);
    object->nameless = !part && step->into;
    if (!part)
        found->cast = CAST_TYPE;
    else if (*found->link)
        found->cast = CAST_CONTAINER;
    type_write_name(known, found->block.name);
}

/* Says whether a longer structure of the block's size begins with the pointer's type: the block
 * may then be the longer one. */
static bool may_be_longer(struct type_index *index, const struct elf_binary_parts *parts,
                          const struct block_type_found *block, Dwarf_Die *type, uint64_t size)
{
    Dwarf_Die plain;

    return block->layout == TYPE_ARRAY && type_make_plain(type, &plain) &&
           type_is_aggregate(&plain) && type_index_begins(index, parts->dwarf, type, size);
}

/* Makes the current object a block whose type follows from the pointer's type, for the whole block
 * or for a part of it, if that fits. */
static void enter_pointed(const struct elf_binary_parts *parts, struct type_index *index,
                          const struct type_step *step, Dwarf_Die *pointee, struct object *object,
                          struct type_step_found *found)
{
    struct block_question question = {.sizes = {step->size}, .size_count = 1, .into = step->into};

    block_type_fit(parts, index, &question, pointee, &found->block);
    if (found->block.answer != BLOCK_FOUND)
        return;
    if (!step->into && may_be_longer(index, parts, &found->block, pointee, step->size)) {
        found->block.answer = BLOCK_MISFIT;
        return;
    }
    found->pointed = true;
    set_object(object, pointee, found->block.layout);
    object->base = step->into;
}

/* Takes one step of a path. named: all earlier steps have names. */
static void take_step(const struct elf_binary_parts *parts, struct type_index *index,
                      const struct type_step *step, bool named, struct object *object,
                      struct type_step_found *found)
{
    Dwarf_Die word, pointee, known;
    bool any, points;

    *found = (struct type_step_found){.block.answer = BLOCK_UNKNOWN};
    any = name_word(object, step->offset, found->word, &word);
    points = any && type_pointee(&word, &pointee);
    if (points)
        type_index_define(index, parts->dwarf, &pointee);
    found->named = any && named;
    object->known = false;
    if (step->known.offset && type_id_find(parts->dwarf, step->known, &known))
        enter_known(step, &known, points ? &pointee : NULL, object, found);
    else if (points)
        enter_pointed(parts, index, step, &pointee, object, found);
}

void type_path_find(const struct elf_binary_parts *parts, struct type_index *index,
                    Dwarf_Die *variable, const struct type_step *steps, size_t count,
                    struct type_step_found *found)
{
    struct object object = {.known = type_of_die(variable, &object.type)};
    bool named = object.known;

    for (size_t i = 0; i < count; i++) {
        take_step(parts, index, &steps[i], named, &object, &found[i]);
        named = found[i].named && !object.nameless;
    }
}
