/* objects.h - the ELF objects of an image: program, libraries, loader. ELF headers are read from
 * the image, symbols from the objects' files (in another process: common/names/binary.h). */
#ifndef SCAN_OBJECTS_H
#define SCAN_OBJECTS_H

#include "common/names/binary.h"
#include "scan/image/image.h"

struct object {
    const char *path;
    uint64_t start, end;           /* range of the object's mappings */
    uint64_t bias;                 /* address in memory minus address in the file */
    uint64_t data_start, data_end; /* the writable segment, with variables that have no initial
                                    * value */
    uint8_t build_id[64];
    size_t build_id_length; /* 0: none */
    struct binary *binary;  /* opened when its symbols are needed */
};

struct objects {
    struct image *image;
    struct object *object; /* sorted by start */
    size_t count, capacity;
    struct binary_search_path search;
    struct name_process names;
    uint64_t seen_ns; /* files must not be newer than this, unless their build-id is the right
                       * one */
};

void objects_read(struct objects *objects, struct image *image, uint64_t seen_ns);
void objects_end(struct objects *objects);

/* Finds the object that contains an address; NULL: none. */
struct object *objects_find(const struct objects *objects, uint64_t address);
/* Returns the object of glibc's libc.so.6; NULL: none, as in a static program. */
const struct object *objects_libc(const struct objects *objects);
/* Says whether the last component of the object's path begins with this name. */
bool object_is_named(const struct object *object, const char *name);

/* Returns the demangled class of a C++ object whose first word is this; NULL: the word does not
 * point to a virtual table, or the table's symbol is unknown. */
const char *objects_class(struct objects *objects, uint64_t word);
/* Says whether a virtual table may begin at an address: read-only data of an object, with the
 * address of a function first. */
bool objects_is_vtable(const struct objects *objects, uint64_t word);

#endif
