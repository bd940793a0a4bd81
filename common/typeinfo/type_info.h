/* type_info.h - what DWARF says about one type: its name, size and fields, and whether a block of some
 * size can be made of it.
 *
 * A type is a DIE. "Plain" is a type without typedefs and qualifiers. Nothing here allocates but
 * libdw; depth and numbers are bounded, because debug information may be damaged or hostile.
 */
#ifndef COMMON_TYPEINFO_TYPE_INFO_H
#define COMMON_TYPEINFO_TYPE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <elfutils/libdw.h>

#define TYPE_NAME_SIZE 512

/* The type that DW_AT_type of a DIE names, its abstract origin included. False: none, as void. */
bool type_of_die(Dwarf_Die *die, Dwarf_Die *type);
/* Removes typedefs and qualifiers. False: nothing is left, as of "const void". */
bool type_make_plain(Dwarf_Die *type, Dwarf_Die *plain);
/* What a pointer or reference points to, without qualifiers. False: it is none, or void's. */
bool type_pointee(Dwarf_Die *type, Dwarf_Die *pointee);
/* 0 = unknown. */
uint64_t type_size(Dwarf_Die *type);
/* A C++ or Rust type has its scopes, a structure of C the word struct. */
void type_write_name(Dwarf_Die *type, char name[TYPE_NAME_SIZE]);

bool type_is_aggregate(Dwarf_Die *plain); /* structure, class or union */
bool type_is_pointer(Dwarf_Die *plain);
/* char, unsigned char and the like, which also stand for "some bytes". */
bool type_is_bytes(Dwarf_Die *plain);
/* Objects of it begin with a pointer to a virtual table. */
bool type_is_polymorphic(Dwarf_Die *plain);
/* Objects of it have something to destroy, so they are passed and returned by their address. */
bool type_has_destructor(Dwarf_Die *plain);
/* Equal names and sizes: each unit has its own DIEs of a type. */
bool type_is_same(Dwarf_Die *a, Dwarf_Die *b);
/* The other type, or one like it, stands at the beginning of the first: a base class or member. */
bool type_begins_with(Dwarf_Die *type, Dwarf_Die *other);

/* The last member is an array without a size of its own. *element: the size of its elements, *head:
 * where it begins. */
bool type_is_flexible(Dwarf_Die *plain, uint64_t *head, uint64_t *element);

/* The scalar or pointer at an offset of an object; of an array of such objects when the offset is
 * beyond. Nothing in a union, unless its members agree. name: of the innermost member there,
 * unchanged when there is none; belongs to libdw. */
bool type_at(Dwarf_Die *type, int64_t offset, Dwarf_Die *found, const char **name);

/* Calls `visit` for the members and base classes of a structure that have a place in it, until it
 * returns true; then so does this. */
typedef bool type_visit_member(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *context);
bool type_visit_members(Dwarf_Die *plain, type_visit_member *visit, void *context);

/* The number of elements of an array's n-th dimension; 0 = not given, or there is none. */
uint64_t type_dimension(Dwarf_Die *array, unsigned n);

/* The n-th template argument that is a type, of a class or function. */
bool type_template_argument(Dwarf_Die *die, unsigned n, Dwarf_Die *type);

bool type_is_c(Dwarf_Die *die); /* the unit is written in C, or in assembly */
bool type_is_rust(Dwarf_Die *die);

/* ---- Fields ---------------------------------------------------------------------------------- */

enum field_form {
    FIELD_BYTES, /* nothing that can be shown as a value */
    FIELD_SIGNED,
    FIELD_UNSIGNED,
    FIELD_FLOAT,
    FIELD_BOOL,
    FIELD_CHAR,
    FIELD_POINTER,
    FIELD_ENUM,
    FIELD_FORM_MAX
};

/* What a pointer is in the structures of a library. */
enum pointer_role {
    POINTER_PLAIN,
    POINTER_BACK, /* from a container's node to the one before, or to the container */
    POINTER_LINK, /* to the container's next node, or from the last one into the container */
    POINTER_WEAK, /* of a weak_ptr, or of Rust's Weak: it keeps no object alive */
    POINTER_ROLE_MAX
};

#define TYPE_FIELDS_MOST 64
#define TYPE_FIELD_NAME_SIZE 96

struct type_field {
    char name[TYPE_FIELD_NAME_SIZE]; /* "next", "head.prev" of a member in a member */
    uint64_t offset, size;           /* size: of one element */
    uint64_t count;                  /* of an array, else 1 */
    enum field_form form;
    enum pointer_role role;
    uint8_t bit_offset, bit_size; /* of a bit-field, counted from the lowest bit at offset */
    Dwarf_Die type;               /* of one element */
};

/* Structures in structures that only libstdc++ knows, as _M_impl in a std::vector: names of members
 * leave them out. */
bool type_is_hidden_member(Dwarf_Die *member, Dwarf_Die *plain);

/* The fields of a structure, by their place in it; members in members are flat. The members of a
 * union have equal offsets. Returns how many there are, at most TYPE_FIELDS_MOST. */
size_t type_fields(Dwarf_Die *type, struct type_field fields[TYPE_FIELDS_MOST]);

/* The name of an enumeration's value; NULL = none. Belongs to libdw. */
const char *type_enumerator(Dwarf_Die *type, int64_t value);

#endif
