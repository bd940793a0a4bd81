/* loaded_objects.h - what a process has mapped, and the symbols of its ELF objects, read from its memory:
 * so another mount namespace, a file that was replaced and an unlinked file make no difference. */
#ifndef ATTACH_LOADED_OBJECTS_H
#define ATTACH_LOADED_OBJECTS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/tracee.h"

struct object {
    uint64_t start, end; /* of its mappings */
    uint64_t code, code_end;
    uint64_t bias;
    char *path;
    char *soname; /* in names; NULL: none */
    Elf64_Sym *symbols;
    size_t count;
    char *names;
    size_t names_size;
};

struct mapping {
    uint64_t start, end;
    bool readable, executable;
};

struct objects {
    struct object *at; /* by address */
    size_t count;
    struct mapping *mappings; /* by address */
    size_t mapping_count;
    const struct object *program, *loader, *libc, *library; /* NULL: there is none */
};

/* Reads the list of what is loaded. False: /proc/PID/maps or /proc/PID/auxv is not readable. */
bool loaded_objects_read(struct objects *objects, const struct tracee *tracee);
void loaded_objects_end(struct objects *objects);

const struct object *loaded_objects_find(const struct objects *objects, uint64_t address);
const struct mapping *loaded_objects_find_mapping(const struct objects *objects, uint64_t address);

/* The address of an exported function or variable; 0: there is none of that name. */
uint64_t object_symbol(const struct object *object, const char *name);
uint64_t loaded_objects_symbol(const struct objects *objects, const char *name);

/* The exported function around an address: the nearest export below. NULL: none. */
const Elf64_Sym *object_nearest(const struct object *object, uint64_t address);

/* The first place of these bytes in the code of an object; 0: there is none. */
uint64_t object_find_code(const struct object *object, const struct tracee *tracee,
                          const void *bytes, size_t size);

#endif
