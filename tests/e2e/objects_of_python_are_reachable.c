// Promise 2.3: an object of Python that its garbage collector does not track is held behind the collector's header, which
// no pointer leads to: it is reachable, even if it is the only one of its call stack, and so is what it holds. What
// only looks so is possibly lost, because its type is no type of Python.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=header_idiom=off; %leak %t; %report --top=0 store/*.leak
// JSON: verdict("object_new") == {"reachable": (1, 80)} and one("object_new").header is True
// JSON: verdict("instance_new") == {"reachable": (1, 96)} and verdict("held_new") == {"reachable": (1, 24)}
// JSON: verdict("enum_new") == {"reachable": (1, 80)}
// JSON: verdict("other_new") == {"possible": (1, 80)} and verdict("cursor_new") == {"possible": (1, 80)}
// JSON: verdict("lost_new") == {"lost": (1, 80)}
// JSON: verdict("object_new", procs[1]) == {"possible": (1, 80)} and verdict("held_new", procs[1]) == {"possible": (1, 24)}

#include "lib/verdicts.h"

/* The first fields of an object and of a type, the same in each version of CPython. */
struct object {
    long references;
    const struct type *type;
    void *field;
};
struct type {
    long references;
    const struct type *type;
    long size;
    const char *name;
};
static const struct type metatype, kind;
static const struct type metatype = {1, &metatype, 0, "type"};
static const struct type integer = {1, &metatype, 0, "int"};
static const struct type enumeration = {1, &metatype, 0, "EnumType"};
static const struct type member = {1, &enumeration, 0, "Color"};
static const struct type kind = {1, &kind, 0, "types"};
static const struct type thing = {1, &kind, 0, "thing"};

static struct object *volatile object, *volatile instance, *volatile enumerated, *volatile other, *volatile cursor;
TAKE(object_new, 80)
TAKE(instance_new, 96)
TAKE(held_new, 24)
TAKE(enum_new, 80)
TAKE(other_new, 80)
TAKE(cursor_new, 80)
TAKE(lost_new, 80)

FAR static struct object *begin(char *block, long header, const struct type *type)
{
    struct object *begun = (struct object *)(block + header);
    begun->references = 1;
    begun->type = type;
    return begun;
}

FAR static void fill(void)
{
    object = begin(object_new(), 16, &integer);
    object->field = held_new();
    instance = begin(instance_new(), 32, &integer); /* attributes in front of the header */
    enumerated = begin(enum_new(), 16, &member);
    other = begin(other_new(), 16, &thing);
    cursor = begin(cursor_new(), 24, &integer);
    begin(lost_new(), 16, &integer);
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
