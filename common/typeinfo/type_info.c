/* type_info.c - reads name, size and fields of types from DWARF. */
#include "common/typeinfo/type_info.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 12     /* most typedefs, pointers or nested members that are followed */
#define MEMBERS_MOST 4096 /* most members of a structure that are visited */

bool type_of_die(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;

    return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
           dwarf_formref_die(&attribute, type) != NULL;
}

static bool is_qualifier(int tag)
{
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
           tag == DW_TAG_atomic_type;
}

static bool is_reference(int tag)
{
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
           tag == DW_TAG_rvalue_reference_type;
}

bool type_make_plain(Dwarf_Die *type, Dwarf_Die *plain)
{
    Dwarf_Die at = *type;

    for (int depth = 0; depth < DEPTH_MOST; depth++) {
        int tag = dwarf_tag(&at);

        if (tag != DW_TAG_typedef && !is_qualifier(tag)) {
            *plain = at;
            return tag != DW_TAG_unspecified_type && tag != DW_TAG_invalid;
        }
        if (!type_of_die(&at, &at))
            return false;
    }
    return false;
}

static bool remove_qualifiers(Dwarf_Die *type)
{
    for (int depth = 0; is_qualifier(dwarf_tag(type)); depth++)
        if (depth == DEPTH_MOST || !type_of_die(type, type))
            return false;
    return true;
}

bool type_pointee(Dwarf_Die *type, Dwarf_Die *pointee)
{
    Dwarf_Die plain, nothing;

    return type_make_plain(type, &plain) && is_reference(dwarf_tag(&plain)) &&
           type_of_die(&plain, pointee) && remove_qualifiers(pointee) &&
           type_make_plain(pointee, &nothing);
}

uint64_t type_size(Dwarf_Die *type)
{
    Dwarf_Word size;
    Dwarf_Die plain;

    if (!type_make_plain(type, &plain) || dwarf_hasattr(&plain, DW_AT_declaration) ||
        dwarf_aggregate_size(&plain, &size) != 0)
        return 0;
    return size;
}

bool type_is_aggregate(Dwarf_Die *plain)
{
    int tag = dwarf_tag(plain);

    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool type_is_pointer(Dwarf_Die *plain)
{
    return is_reference(dwarf_tag(plain));
}

static Dwarf_Word encoding_of(Dwarf_Die *plain)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding;

    return dwarf_formudata(dwarf_attr_integrate(plain, DW_AT_encoding, &attribute), &encoding) == 0
               ? encoding
               : 0;
}

bool type_is_bytes(Dwarf_Die *plain)
{
    Dwarf_Word encoding = encoding_of(plain);
    const char *name = dwarf_diename(plain);

    if (dwarf_tag(plain) == DW_TAG_enumeration_type)
        return name && strcmp(name, "byte") == 0;
    return dwarf_tag(plain) == DW_TAG_base_type && type_size(plain) == 1 &&
           (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char ||
            encoding == DW_ATE_UTF || encoding == DW_ATE_unsigned);
}

static int language_of(Dwarf_Die *die)
{
    Dwarf_Die unit;

    return dwarf_cu_die(die->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ? dwarf_srclang(&unit)
                                                                            : -1;
}

bool type_is_c(Dwarf_Die *die)
{
    int language = language_of(die);

    return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
           language == DW_LANG_C11 || language == DW_LANG_Mips_Assembler;
}

bool type_is_rust(Dwarf_Die *die)
{
    return language_of(die) == DW_LANG_Rust;
}

/* ---- Members of structures ------------------------------------------------------------------- */

static bool number_attribute(Dwarf_Die *die, unsigned what, uint64_t *number)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;

    if (dwarf_formudata(dwarf_attr_integrate(die, what, &attribute), &word) != 0)
        return false;
    *number = word;
    return true;
}

/* Finds the offset of a member. False for static members and virtual bases, whose places differ
 * from object to object. */
static bool member_offset(Dwarf_Die *member, uint64_t *offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t count;

    if (dwarf_hasattr(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_declaration) ||
        dwarf_hasattr(member, DW_AT_virtuality))
        return false;
    *offset = 0;
    if (!dwarf_attr(member, DW_AT_data_member_location, &attribute)) {
        uint64_t bits;

        if (number_attribute(member, DW_AT_data_bit_offset, &bits))
            *offset = bits / 8;
        return true;
    }
    if (number_attribute(member, DW_AT_data_member_location, offset))
        return true;
    if (dwarf_getlocation(&attribute, &op, &count) != 0 || count != 1 ||
        op->atom != DW_OP_plus_uconst)
        return false;
    *offset = op->number;
    return true;
}

static bool is_member(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);

    return tag == DW_TAG_member || tag == DW_TAG_inheritance;
}

/* Says whether a structure is untyped memory in which libstdc++ stores the object of a node or
 * of make_shared. The object's type is the structure's template argument. */
static bool is_room(Dwarf_Die *plain)
{
    static const char *const rooms[] = {"__aligned_buffer<", "__aligned_membuf<"};
    const char *name = dwarf_diename(plain);

    for (size_t i = 0; name && i < sizeof(rooms) / sizeof(*rooms); i++)
        if (strncmp(name, rooms[i], strlen(rooms[i])) == 0)
            return true;
    return false;
}

static bool type_of_member(Dwarf_Die *member, bool room, Dwarf_Die *around, Dwarf_Die *type)
{
    return room && dwarf_tag(member) == DW_TAG_member ? type_template_argument(around, 0, type)
                                                      : type_of_die(member, type);
}

static bool has_size(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *context)
{
    (void)member;
    (void)offset;
    (void)context;
    return type_size(type) > 0;
}

/* Finds the member of a variant of a Rust enum. False: the variant has no fields. */
static bool find_payload(Dwarf_Die *variant, Dwarf_Die *member, Dwarf_Die *type)
{
    Dwarf_Die plain;

    return dwarf_tag(variant) == DW_TAG_variant && dwarf_child(variant, member) == 0 &&
           is_member(member) && type_of_die(member, type) && type_make_plain(type, &plain) &&
           type_visit_members(&plain, has_size, NULL);
}

/* Visits the fields of a Rust enum only one variant of which has fields, such as Option<Box<T>>:
 * they count as members of the enum. */
static bool visit_variants(Dwarf_Die *part, type_visit_member *visit, void *context)
{
    Dwarf_Die variant, member, type, found_member, found_type;
    unsigned payloads = 0, seen = 0;
    uint64_t offset;

    if (dwarf_child(part, &variant) != 0)
        return false;
    do {
        if (!find_payload(&variant, &member, &type))
            continue;
        found_member = member;
        found_type = type;
        payloads++;
    } while (payloads < 2 && ++seen < MEMBERS_MOST && dwarf_siblingof(&variant, &variant) == 0);
    return payloads == 1 && member_offset(&found_member, &offset) &&
           visit(&found_member, &found_type, offset, context);
}

bool type_visit_members(Dwarf_Die *plain, type_visit_member *visit, void *context)
{
    Dwarf_Die child, type;
    uint64_t offset;
    unsigned seen = 0;
    bool room;

    if (!type_is_aggregate(plain) || dwarf_child(plain, &child) != 0)
        return false;
    room = is_room(plain);
    do {
        if (dwarf_tag(&child) == DW_TAG_variant_part && visit_variants(&child, visit, context))
            return true;
        if (is_member(&child) && member_offset(&child, &offset) &&
            type_of_member(&child, room, plain, &type) && visit(&child, &type, offset, context))
            return true;
    } while (++seen < MEMBERS_MOST && dwarf_siblingof(&child, &child) == 0);
    return false;
}

static bool is_table_pointer(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *depth)
{
    const char *name = dwarf_diename(member);
    int left = *(int *)depth - 1;
    Dwarf_Die plain;

    if (offset)
        return false;
    if (name && strncmp(name, "_vptr", 5) == 0)
        return true;
    return left > 0 && dwarf_tag(member) == DW_TAG_inheritance && type_make_plain(type, &plain) &&
           type_visit_members(&plain, is_table_pointer, &left);
}

bool type_is_polymorphic(Dwarf_Die *plain)
{
    int depth = DEPTH_MOST;

    return dwarf_hasattr(plain, DW_AT_containing_type) ||
           type_visit_members(plain, is_table_pointer, &depth);
}

static bool has_own_destructor(Dwarf_Die *plain)
{
    Dwarf_Die child;

    if (dwarf_child(plain, &child) != 0)
        return false;
    do {
        const char *name = dwarf_diename(&child);

        if (dwarf_tag(&child) == DW_TAG_subprogram && name && *name == '~' &&
            !dwarf_hasattr(&child, DW_AT_artificial) && !dwarf_hasattr(&child, DW_AT_defaulted))
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

static bool is_destroyed(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *depth)
{
    int left = *(int *)depth - 1;
    Dwarf_Die plain;

    (void)member;
    (void)offset;
    return type_make_plain(type, &plain) && type_is_aggregate(&plain) &&
           (has_own_destructor(&plain) ||
            (left > 0 && type_visit_members(&plain, is_destroyed, &left)));
}

bool type_has_destructor(Dwarf_Die *plain)
{
    int depth = 4;

    return has_own_destructor(plain) || type_visit_members(plain, is_destroyed, &depth);
}

bool type_is_same(Dwarf_Die *a, Dwarf_Die *b)
{
    Dwarf_Die left, right;
    char left_name[TYPE_NAME_SIZE], right_name[TYPE_NAME_SIZE];

    if (!type_make_plain(a, &left) || !type_make_plain(b, &right))
        return false;
    if (left.addr == right.addr)
        return true;
    if (dwarf_tag(&left) != dwarf_tag(&right) || type_size(&left) != type_size(&right))
        return false;
    type_write_name(a, left_name);
    type_write_name(b, right_name);
    return strcmp(left_name, right_name) == 0;
}

struct beginning {
    Dwarf_Die *other;
    int left;
};

static bool begins_here(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *context)
{
    struct beginning deeper = *(struct beginning *)context;
    Dwarf_Die plain;

    (void)member;
    if (offset || --deeper.left == 0 || !type_make_plain(type, &plain))
        return false;
    return type_is_same(type, deeper.other) || type_visit_members(&plain, begins_here, &deeper);
}

bool type_begins_with(Dwarf_Die *type, Dwarf_Die *other)
{
    struct beginning deeper = {.other = other, .left = DEPTH_MOST};
    Dwarf_Die plain;

    return type_is_same(type, other) ||
           (type_make_plain(type, &plain) && type_visit_members(&plain, begins_here, &deeper));
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

uint64_t type_dimension(Dwarf_Die *array, unsigned n)
{
    Dwarf_Die child;
    uint64_t number;

    if (dwarf_child(array, &child) != 0)
        return 0;
    do {
        if (dwarf_tag(&child) != DW_TAG_subrange_type || n--)
            continue;
        if (number_attribute(&child, DW_AT_count, &number))
            return number;
        return number_attribute(&child, DW_AT_upper_bound, &number) ? number + 1 : 0;
    } while (dwarf_siblingof(&child, &child) == 0);
    return 0;
}

static bool has_dimension(Dwarf_Die *array, unsigned n)
{
    Dwarf_Die child;

    if (dwarf_child(array, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) == DW_TAG_subrange_type && n-- == 0)
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* Returns the number of elements of all dimensions; 0 = not given. */
static uint64_t element_count(Dwarf_Die *array)
{
    uint64_t count = 1;

    for (unsigned n = 0; has_dimension(array, n); n++)
        count *= type_dimension(array, n);
    return count;
}

struct last_member {
    Dwarf_Die type;
    uint64_t offset;
    bool any;
};

static bool take_last(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *context)
{
    struct last_member *last = context;

    (void)member;
    if (!last->any || offset >= last->offset)
        *last = (struct last_member){*type, offset, true};
    return false;
}

bool type_is_flexible(Dwarf_Die *plain, uint64_t *head, uint64_t *element)
{
    struct last_member last = {.any = false};
    Dwarf_Die array, of;

    if (dwarf_tag(plain) == DW_TAG_union_type)
        return false;
    type_visit_members(plain, take_last, &last);
    if (!last.any || !type_make_plain(&last.type, &array) ||
        dwarf_tag(&array) != DW_TAG_array_type || element_count(&array) > 1 ||
        !type_of_die(&array, &of))
        return false;
    *head = last.offset;
    *element = type_size(&of);
    return *element != 0;
}

/* ---- The scalar or pointer at an offset ------------------------------------------------------ */

struct place_in_type {
    int64_t offset;
    Dwarf_Die *found;
    const char **name;
    int left;
    bool any, ambiguous; /* for a union: some member has a scalar there; two members have
                          * different ones */
};

static bool find_in_type(Dwarf_Die *type, struct place_in_type *place);

static bool find_in_member(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *context)
{
    struct place_in_type *place = context, deeper = *place;
    const char *name = dwarf_diename(member);
    uint64_t size = type_size(type);

    deeper.offset = place->offset - (int64_t)offset;
    if (deeper.offset < 0 || (size && (uint64_t)deeper.offset >= size))
        return false;
    if (name && dwarf_tag(member) == DW_TAG_member)
        *place->name = name;
    return find_in_type(type, &deeper);
}

/* Finds the scalar at an offset of a union. The members must agree: pointers must have one type,
 * and a pointer in one member and a number in another give none. */
static bool find_in_alternative(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *context)
{
    struct place_in_type *place = context;
    Dwarf_Die found;
    struct place_in_type deeper = {.found = &found, .name = place->name, .left = place->left};

    deeper.offset = place->offset - (int64_t)offset;
    (void)member;
    if (deeper.offset < 0 || !find_in_type(type, &deeper))
        return false;
    if (place->any && !type_is_same(&found, place->found))
        place->ambiguous = true;
    *place->found = found;
    place->any = true;
    return false;
}

static bool find_in_type(Dwarf_Die *type, struct place_in_type *place)
{
    Dwarf_Die plain, element;
    uint64_t size;

    if (--place->left < 0 || !type_make_plain(type, &plain))
        return false;
    switch (dwarf_tag(&plain)) {
    case DW_TAG_array_type:
        if (!type_of_die(&plain, &element) || !(size = type_size(&element)) || place->offset < 0)
            return false;
        place->offset %= (int64_t)size;
        return find_in_type(&element, place);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        return type_visit_members(&plain, find_in_member, place);
    case DW_TAG_union_type:
        place->any = place->ambiguous = false;
        type_visit_members(&plain, find_in_alternative, place);
        return place->any && !place->ambiguous;
    default:
        *place->found = *type;
        return place->offset == 0;
    }
}

bool type_at(Dwarf_Die *type, int64_t offset, Dwarf_Die *found, const char **name)
{
    const char *unused = NULL;
    struct place_in_type place = {
        .offset = offset, .found = found, .name = name ? name : &unused, .left = DEPTH_MOST};
    int64_t size = (int64_t)type_size(type);

    if (size > 0)
        place.offset = (offset % size + size) % size;
    return find_in_type(type, &place);
}

bool type_template_argument(Dwarf_Die *die, unsigned n, Dwarf_Die *type)
{
    Dwarf_Die child;

    if (dwarf_child(die, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) == DW_TAG_template_type_parameter && n-- == 0)
            return type_of_die(&child, type);
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* ---- Names of types -------------------------------------------------------------------------- */

static void append_name(char name[TYPE_NAME_SIZE], const char *text)
{
    size_t length = strlen(name);

    snprintf(name + length, TYPE_NAME_SIZE - length, "%s", text ? text : "(anonymous)");
}

/* Appends the namespaces and classes around a type, outermost first. */
static void append_scopes(Dwarf_Die *plain, char name[TYPE_NAME_SIZE])
{
    Dwarf_Die *scopes = NULL;
    int count = dwarf_getscopes_die(plain, &scopes);

    for (int i = count - 1; i > 0; i--) {
        int tag = dwarf_tag(&scopes[i]);

        if (tag == DW_TAG_namespace || type_is_aggregate(&scopes[i])) {
            append_name(name, dwarf_diename(&scopes[i]));
            append_name(name, "::");
        }
    }
    free(scopes);
}

static void append_type(Dwarf_Die *type, char name[TYPE_NAME_SIZE], int left);

static void append_aggregate(Dwarf_Die *plain, char name[TYPE_NAME_SIZE])
{
    int tag = dwarf_tag(plain);

    if (type_is_c(plain))
        append_name(name, tag == DW_TAG_union_type         ? "union "
                          : tag == DW_TAG_enumeration_type ? "enum "
                                                           : "struct ");
    else
        append_scopes(plain, name);
    append_name(name, dwarf_diename(plain));
}

static void append_array(Dwarf_Die *plain, char name[TYPE_NAME_SIZE], int left)
{
    char count[32];
    Dwarf_Die of;

    if (type_of_die(plain, &of))
        append_type(&of, name, left);
    snprintf(count, sizeof(count), "[%llu]", (unsigned long long)element_count(plain));
    append_name(name, count);
}

static void append_pointer(Dwarf_Die *plain, char name[TYPE_NAME_SIZE], int left)
{
    Dwarf_Die of, target;
    size_t length;

    if (!type_of_die(plain, &of) || !type_make_plain(&of, &target)) {
        append_name(name, "void *");
        return;
    }
    if (dwarf_tag(&target) == DW_TAG_subroutine_type) {
        append_name(name, "function *");
        return;
    }
    append_type(&of, name, left);
    length = strlen(name);
    append_name(name, length && name[length - 1] == '*' ? "*" : " *");
}

static void append_type(Dwarf_Die *type, char name[TYPE_NAME_SIZE], int left)
{
    Dwarf_Die plain;

    if (left == 0 || !type_make_plain(type, &plain)) {
        append_name(name, "void");
        return;
    }
    switch (dwarf_tag(&plain)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
        if (dwarf_diename(&plain) || !remove_qualifiers(type))
            append_aggregate(&plain, name);
        else /* as in "typedef struct { … } pair;" */
            append_name(name, dwarf_tag(type) == DW_TAG_typedef ? dwarf_diename(type) : NULL);
        break;
    case DW_TAG_array_type:
        append_array(&plain, name, left - 1);
        break;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        append_pointer(&plain, name, left - 1);
        break;
    default:
        append_name(name, remove_qualifiers(type) ? dwarf_diename(type) : NULL);
    }
}

void type_write_name(Dwarf_Die *type, char name[TYPE_NAME_SIZE])
{
    Dwarf_Die copy = *type;

    *name = 0;
    append_type(&copy, name, DEPTH_MOST);
}

/* ---- Roles of pointers ----------------------------------------------------------------------- */

struct role_of_member {
    const char *structure, *member; /* structure: beginning of the structure's name */
    enum pointer_role role;
};

static const struct role_of_member roles[] = {
    {"std::_Rb_tree_node_base", "_M_parent", POINTER_BACK},
    {"std::__detail::_List_node_base", "_M_prev", POINTER_BACK},
    {"std::__detail::_List_node_base", "_M_next", POINTER_LINK},
    {"alloc::collections::btree::node::LeafNode<", "parent", POINTER_BACK},
    {"alloc::collections::linked_list::Node<", "prev", POINTER_BACK},
};

static bool begins_with(const char *text, const char *beginning)
{
    return text && strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Says whether a structure is the head of a container: its pointers lead to the nodes, so they
 * are plain ones. */
static bool is_container_head(const char *name)
{
    return begins_with(name, "_Rb_tree_header") || begins_with(name, "_List_node_header");
}

static bool is_weak_pointer(Dwarf_Die *plain, const char *name)
{
    return begins_with(name, "weak_ptr<") || begins_with(name, "__weak_ptr<") ||
           (begins_with(name, "Weak<") && type_is_rust(plain));
}

/* Returns the role of a pointer that is a member of a structure. */
static enum pointer_role role_of_member(Dwarf_Die *structure, Dwarf_Die *member)
{
    const char *word = dwarf_diename(member);
    char name[TYPE_NAME_SIZE];

    for (size_t i = 0; word && i < sizeof(roles) / sizeof(*roles); i++) {
        if (strcmp(word, roles[i].member) != 0)
            continue;
        type_write_name(structure, name);
        if (begins_with(name, roles[i].structure))
            return roles[i].role;
    }
    return POINTER_PLAIN;
}

/* ---- Fields of structures -------------------------------------------------------------------- */

struct field_list {
    struct type_field *fields;
    size_t count;
    Dwarf_Die structure; /* structure whose members are added */
    uint64_t offset;     /* offset of the structure in the outermost one */
    enum pointer_role role;
    bool plain; /* pointers have no role, since the structure is the head of a container */
    char prefix[TYPE_FIELD_NAME_SIZE];
    int left;
};

static enum field_form field_form(Dwarf_Die *plain)
{
    int tag = dwarf_tag(plain);

    if (is_reference(tag))
        return FIELD_POINTER;
    if (tag == DW_TAG_enumeration_type)
        return FIELD_ENUM;
    if (tag != DW_TAG_base_type || type_size(plain) > sizeof(uint64_t))
        return FIELD_BYTES;
    switch (encoding_of(plain)) {
    case DW_ATE_boolean:
        return FIELD_BOOL;
    case DW_ATE_float:
        return FIELD_FLOAT;
    case DW_ATE_signed:
        return FIELD_SIGNED;
    case DW_ATE_unsigned:
        return FIELD_UNSIGNED;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
        return FIELD_CHAR;
    default:
        return FIELD_BYTES;
    }
}

/* Sets the place of a bit-field. DW_AT_data_bit_offset counts from the lowest bit of the
 * structure, the older DW_AT_bit_offset from the highest bit of the storage unit. */
static void set_bits(Dwarf_Die *member, struct type_field *field)
{
    uint64_t bits, from;

    if (!number_attribute(member, DW_AT_bit_size, &bits) || bits > 64)
        return;
    if (number_attribute(member, DW_AT_data_bit_offset, &from))
        from %= 8;
    else if (number_attribute(member, DW_AT_bit_offset, &from) && from + bits <= 8 * field->size)
        from = 8 * field->size - from - bits;
    else
        return;
    field->bit_size = (uint8_t)bits;
    field->bit_offset = (uint8_t)from;
}

bool type_is_hidden_member(Dwarf_Die *member, Dwarf_Die *plain)
{
    const char *name = dwarf_diename(member);

    return name && strncmp(name, "_M_", 3) == 0 && type_is_aggregate(plain);
}

static bool add_member(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *context);

/* Adds the members of a member, with names like "head.next". Members of a base class or of an
 * unnamed member are named as the structure's own. */
static void add_inner(struct field_list *list, Dwarf_Die *member, Dwarf_Die *plain, uint64_t offset)
{
    struct field_list inner = *list;
    const char *name = dwarf_tag(member) == DW_TAG_member ? dwarf_diename(member) : NULL;
    const char *type_name = dwarf_diename(plain);

    inner.left--;
    inner.offset += offset;
    inner.plain |= is_container_head(type_name);
    if (is_weak_pointer(plain, type_name))
        inner.role = POINTER_WEAK;
    else if (inner.role == POINTER_PLAIN)
        inner.role = role_of_member(&list->structure, member);
    inner.structure = *plain;
    if (name && !type_is_hidden_member(member, plain))
        snprintf(inner.prefix, sizeof(inner.prefix), "%.60s%.30s.", list->prefix, name);
    type_visit_members(plain, add_member, &inner);
    list->count = inner.count;
}

static bool add_member(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *context)
{
    struct field_list *list = context;
    struct type_field *field = &list->fields[list->count];
    const char *name = dwarf_diename(member);
    Dwarf_Die plain, element = *type;
    uint64_t count = 1;

    if (list->count == TYPE_FIELDS_MOST || !type_make_plain(type, &plain))
        return list->count == TYPE_FIELDS_MOST;
    if (type_is_aggregate(&plain) && list->left > 0) {
        add_inner(list, member, &plain, offset);
        return false;
    }
    if (dwarf_tag(&plain) == DW_TAG_array_type && type_of_die(&plain, &element)) {
        count = element_count(&plain);
        if (!type_make_plain(&element, &plain))
            return false;
    }
    *field = (struct type_field){.offset = list->offset + offset,
                                 .size = type_size(&element),
                                 .count = count,
                                 .form = field_form(&plain),
                                 .type = element};
    if (field->form == FIELD_POINTER && !list->plain)
        field->role = list->role ? list->role : role_of_member(&list->structure, member);
    snprintf(field->name, sizeof(field->name), "%.60s%.35s", list->prefix, name ? name : "");
    set_bits(member, field);
    list->count++;
    return false;
}

size_t type_fields(Dwarf_Die *type, struct type_field fields[TYPE_FIELDS_MOST])
{
    struct field_list list = {.fields = fields, .left = DEPTH_MOST};
    Dwarf_Die plain;

    if (type_make_plain(type, &plain)) {
        list.structure = plain;
        type_visit_members(&plain, add_member, &list);
    }
    return list.count;
}

const char *type_enumerator(Dwarf_Die *type, int64_t value)
{
    Dwarf_Die plain, child;

    if (!type_make_plain(type, &plain) || dwarf_child(&plain, &child) != 0)
        return NULL;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Sword number;

        if (dwarf_tag(&child) == DW_TAG_enumerator &&
            dwarf_formsdata(dwarf_attr(&child, DW_AT_const_value, &attribute), &number) == 0 &&
            number == value)
            return dwarf_diename(&child);
    } while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}
