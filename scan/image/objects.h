/* objects.h - the ELF objects of an image: program, libraries, loader. Their ELF headers are read
 * from the image, their symbols from their files (by another process: common/names/binary.h).
 */
#ifndef SCAN_OBJECTS_H
#define SCAN_OBJECTS_H

#include "common/names/binary.h"
#include "scan/image/image.h"

struct object {
    const char *path;
    uint64_t start, end;           /* of its mappings */
    uint64_t bias;                 /* address in memory minus address in the file */
    uint64_t data_start, data_end; /* the writable segment, variables without a value included */
    uint8_t build_id[64];
    size_t build_id_length; /* 0: none */
    struct binary *binary;  /* opened on demand */
};

struct objects {
    struct image *image;
    struct object *object; /* sorted by start */
    size_t count, capacity;
    struct binary_search_path search;
    struct name_process names;
    uint64_t seen_ns; /* files must not be newer, unless a build-id proves them */
};

void objects_read(struct objects *objects, struct image *image, uint64_t seen_ns);
void objects_end(struct objects *objects);

/* Finds the object that contains an address; NULL: none. */
struct object *objects_find(const struct objects *objects, uint64_t address);
/* The object of glibc, libc.so.6; NULL: there is none, as in a static program. */
const struct object *objects_libc(const struct objects *objects);
/* Whether the last part of the path begins so. */
bool object_is_named(const struct object *object, const char *name);

/* The class of a C++ object whose first word that is: demangled; NULL: the word points to no virtual
 * table, or to one whose symbol is not to be had. */
const char *objects_class(struct objects *objects, uint64_t word);
/* Whether a virtual table may begin there: read-only data of an object, and a function first. */
bool objects_is_vtable(const struct objects *objects, uint64_t word);

#endif
