/* loaded_objects.h - reads the mappings of a process and the symbols of its ELF objects from its
 * memory. So it works with another mount namespace, and if files were replaced or removed. */
#ifndef ATTACH_LOADED_OBJECTS_H
#define ATTACH_LOADED_OBJECTS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/tracee.h"

struct object {
    uint64_t start, end; /* range of the object's mappings */
    uint64_t code, code_end;
    uint64_t bias;
    char *path;
    char *soname; /* name of the library, in names[]; NULL: none */
    Elf64_Sym *symbols;
    size_t count;
    char *names;
    size_t names_size;
};

struct mapping {
    uint64_t start, end;
    bool readable, executable;
    bool is_stack; /* the stack of the first thread */
};

struct objects {
    struct object *at; /* the objects, sorted by address */
    size_t count;
    struct mapping *mappings; /* sorted by address */
    size_t mapping_count;
    /* library: libleak.so; NULL: the process has none */
    const struct object *program, *loader, *libc, *library;
};

/* Reads all mappings and objects. False: /proc/PID/maps or /proc/PID/auxv is not readable. */
bool loaded_objects_read(struct objects *objects, const struct tracee *tracee);
void loaded_objects_end(struct objects *objects);

const struct object *loaded_objects_find(const struct objects *objects, uint64_t address);
const struct mapping *loaded_objects_find_mapping(const struct objects *objects, uint64_t address);

/* Returns the address of an exported function or variable; 0: none has that name. */
uint64_t object_symbol(const struct object *object, const char *name);
uint64_t loaded_objects_symbol(const struct objects *objects, const char *name);

/* Returns the exported function around an address: the nearest one at or below it. NULL: none. */
const Elf64_Sym *object_nearest(const struct object *object, uint64_t address);

/* Returns the address of the first occurrence of these bytes in the code of an object; 0: none. */
uint64_t object_find_code(const struct object *object, const struct tracee *tracee,
                          const void *bytes, size_t size);

#endif
