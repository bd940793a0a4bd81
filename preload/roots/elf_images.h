/* elf_images.h - the ELF objects of a picture of the process, by their headers in memory.
 *
 * The loader's own list may be half-way through a change when the picture is taken, and its lock
 * may be held for ever; the mappings and the headers of what is mapped tell the same without it.
 * For the child of a look alone: plain reads, its memory is not given back.
 */
#ifndef PRELOAD_ROOTS_ELF_IMAGES_H
#define PRELOAD_ROOTS_ELF_IMAGES_H

#include "preload/elf/procmaps.h"
#include "leak_store.h"

#define IMAGES_DATA 4 /* writable segments of one object; linkers make one or two */

struct image {
    uintptr_t start, end, bias;
    const char *path; /* NUL-terminated, never NULL */
    struct {
        uintptr_t start, end;
    } data[IMAGES_DATA];
    unsigned data_count;
    uint8_t build_id[LEAK_BUILD_ID_MAX];
    uint32_t build_id_length;
};

struct images {
    struct image *image; /* ascending */
    uint32_t count;
};

bool images_find(const struct maps *maps, struct images *out);
/* The object around an address, or NULL. */
const struct image *images_at(const struct images *images, uintptr_t address);
/* The C library, by its file name. */
bool images_is_libc(const struct image *image);

#endif
