/* type_info.h - reads from DWARF the name, size and fields of a type, and whether a block of some
 * size can have it.
 *
 * A type is given by its DWARF entry (DIE). A "plain" type has no typedefs and qualifiers. Depth
 * and numbers are bounded, because debug information may be damaged or hostile.
 */
#ifndef COMMON_TYPEINFO_TYPE_INFO_H
#define COMMON_TYPEINFO_TYPE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <elfutils/libdw.h>

#define TYPE_NAME_SIZE 512

/* Finds the type that the attribute DW_AT_type of a DWARF entry (DIE), or of its abstract origin,
 * names. False: none, which means void. */
bool type_of_die(Dwarf_Die *die, Dwarf_Die *type);
/* Removes typedefs and qualifiers from a type. False: nothing is left, as from "const void". */
bool type_make_plain(Dwarf_Die *type, Dwarf_Die *plain);
/* Finds the type that a pointer or reference points to, without qualifiers. False: the type is
 * no pointer, or is a void pointer. */
bool type_pointee(Dwarf_Die *type, Dwarf_Die *pointee);
/* Returns the size of a type in bytes; 0 = unknown. */
uint64_t type_size(Dwarf_Die *type);
/* Writes the name of a type: with its scopes in C++ and Rust, with "struct" in C. */
void type_write_name(Dwarf_Die *type, char name[TYPE_NAME_SIZE]);

/* Says whether a type is a structure, class or union. */
bool type_is_aggregate(Dwarf_Die *plain);
bool type_is_pointer(Dwarf_Die *plain);
/* Says whether a type is char, unsigned char or the like, which also stand for "some bytes". */
bool type_is_bytes(Dwarf_Die *plain);
/* Says whether objects of a class begin with a pointer to a virtual table. */
bool type_is_polymorphic(Dwarf_Die *plain);
/* Says whether objects of a class have a destructor or members with one, so that they are passed
 * and returned by their address. */
bool type_has_destructor(Dwarf_Die *plain);
/* Compares two types by name and size, since each unit has a DWARF entry (DIE) of its own for a
 * type. */
bool type_is_same(Dwarf_Die *a, Dwarf_Die *b);
/* Says whether objects of `type` begin with one of type `other`: the same type, a base class, or
 * a first member. */
bool type_begins_with(Dwarf_Die *type, Dwarf_Die *other);

/* Says whether the last member of a structure is an array without a size of its own. *element:
 * size of its elements; *head: offset of the array. */
bool type_is_flexible(Dwarf_Die *plain, uint64_t *head, uint64_t *element);

/* Finds the scalar or pointer at an offset of an object; if the offset is beyond the object, in an
 * array of such objects. False: there is none, or members of a union differ there. *name: the
 * innermost member there, unchanged if there is none; belongs to libdw. */
bool type_at(Dwarf_Die *type, int64_t offset, Dwarf_Die *found, const char **name);

/* Calls `visit` for each member and base class that has a fixed place in a structure, until
 * visit returns true. Returns whether it did. */
typedef bool type_visit_member(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, void *context);
bool type_visit_members(Dwarf_Die *plain, type_visit_member *visit, void *context);

/* Returns the number of elements in dimension n, from 0, of an array; 0 = not given, or there is no
 * such dimension. */
uint64_t type_dimension(Dwarf_Die *array, unsigned n);

/* Finds template argument number n, from 0, of a class or function; only arguments that are types
 * count. */
bool type_template_argument(Dwarf_Die *die, unsigned n, Dwarf_Die *type);

/* Says whether the unit that contains a DWARF entry (DIE) is written in C, or in assembly. */
bool type_is_c(Dwarf_Die *die);
bool type_is_rust(Dwarf_Die *die);

/* ---- Fields of structures -------------------------------------------------------------------- */

enum field_form {
    FIELD_BYTES, /* any other form, which cannot be shown as a value */
    FIELD_SIGNED,
    FIELD_UNSIGNED,
    FIELD_FLOAT,
    FIELD_BOOL,
    FIELD_CHAR,
    FIELD_POINTER,
    FIELD_ENUM,
    FIELD_FORM_MAX
};

/* The role of a pointer in the structures of a library. */
enum pointer_role {
    POINTER_PLAIN,
    POINTER_BACK, /* from a node of a container to the previous node, or to the container */
    POINTER_LINK, /* to the next node of a container, or from the last node into the container */
    POINTER_WEAK, /* in a weak_ptr or in Rust's Weak: it keeps no object alive */
    POINTER_ROLE_MAX
};

#define TYPE_FIELDS_MOST 64
#define TYPE_FIELD_NAME_SIZE 96

struct type_field {
    char name[TYPE_FIELD_NAME_SIZE]; /* "next", or "head.prev" for a member of a member */
    uint64_t offset, size;           /* size: in bytes; of an array the size of one element */
    uint64_t count;                  /* number of elements of an array, else 1 */
    enum field_form form;
    enum pointer_role role;
    uint8_t bit_offset, bit_size; /* place of a bit-field, counted from the lowest bit at
                                   * `offset` */
    Dwarf_Die type;               /* type of the field; of an array the type of one element */
};

/* Says whether a member is a structure that only libstdc++ itself names, like _M_impl in a
 * std::vector. Names of fields leave such members out. */
bool type_is_hidden_member(Dwarf_Die *member, Dwarf_Die *plain);

/* Lists the fields of a structure, ascending by offset, with the fields of nested structures.
 * Members of a union have equal offsets. Returns their number, at most TYPE_FIELDS_MOST. */
size_t type_fields(Dwarf_Die *type, struct type_field fields[TYPE_FIELDS_MOST]);

/* Returns the name of an enumeration's value; NULL = none. The text belongs to libdw. */
const char *type_enumerator(Dwarf_Die *type, int64_t value);

#endif
