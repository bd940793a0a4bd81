// Promise 2.3: an instance of GObject is held behind the private data of its classes, which lie in front of it: it is
// reachable, even if it is the only one of its call stack and of its length, and so is what it holds. What only looks so
// is possibly lost: its class has a type that leads back to another class, or to none, or lies inside a block. A class
// is static or a block of its own.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=header_idiom=off; %leak %t; %report --top=0 store/*.leak
// JSON: verdict("instance_new") == {"reachable": (1, 200)} and one("instance_new").header is True
// JSON: verdict("owner_new") == {"reachable": (1, 200)} and verdict("inner_new") == {"possible": (1, 200)}
// JSON: verdict("held_new") == {"reachable": (1, 24)}
// JSON: verdict("derived_new") == {"possible": (1, 200)} and verdict("bare_new") == {"possible": (1, 200)}
// JSON: verdict("unaligned_new") == {"possible": (1, 200)} and verdict("lost_new") == {"lost": (1, 200)}
// JSON: verdict("instance_new", procs[1]) == {"possible": (1, 200)}

#include "lib/verdicts.h"

/* The first fields of GLib 2.x: an instance names its class, a class its type, a type its data. */
struct class
{
    struct type *type;
};
struct type {
    long references;
    void *plugin, *children_count, *children;
    struct data *data;
};
struct data {
    void *value_table;
    long sizes;
    void *functions[5];
    struct class *class;
};
struct instance {
    struct class *class;
    long references;
    void *field;
};

static struct data data, data_of_derived, no_data, data_of_owner, data_of_inner;
static struct type type = {.data = &data}, type_of_derived = {.data = &data},
                   type_without = {.data = &no_data}, type_of_owner = {.data = &data_of_owner},
                   type_of_inner = {.data = &data_of_inner};
static struct class class = {&type}, derived = {&type_of_derived}, bare = {&type_without};
static struct data data = {.class = &class};

static struct instance *volatile kept[6];
TAKE(instance_new, 200)
TAKE(derived_new, 200)
TAKE(bare_new, 200)
TAKE(unaligned_new, 200)
TAKE(lost_new, 200)
TAKE(held_new, 24)
TAKE(owner_new, 200)
TAKE(inner_new, 200)
TAKE(class_new, 136)

FAR static struct instance *begin(char *block, long private_size, struct class *of)
{
    struct instance *begun = (struct instance *)(block + private_size);
    begun->class = of;
    begun->references = 1;
    return begun;
}

FAR static struct class *make_class(char *at, struct type *of)
{
    struct class *made = (struct class *)at;
    made->type = of;
    of->data->class = made;
    return made;
}

FAR static void fill(void)
{
    kept[0] = begin(instance_new(), 96, &class);
    kept[0]->field = held_new();
    kept[1] = begin(derived_new(), 112, &derived);
    kept[2] = begin(bare_new(), 80, &bare);
    kept[3] = begin(unaligned_new(), 9 * sizeof(long), &class);
    kept[4] = begin(owner_new(), 128, make_class(class_new(), &type_of_owner));
    kept[5] = begin(inner_new(), 144, make_class((char *)class_new() + 64, &type_of_inner));
    begin(lost_new(), 48, &class);
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
