/* elf_images.h - the ELF objects of a process, found by their headers in memory.
 *
 * The loader's list may be inconsistent when the snapshot is taken, and its lock may be held
 * forever; the mappings and the headers in them give the same answer without it. For the process of
 * a leak check only: plain reads, and the memory is never freed.
 */
#ifndef PRELOAD_ROOTS_ELF_IMAGES_H
#define PRELOAD_ROOTS_ELF_IMAGES_H

#include "preload/elf/procmaps.h"
#include "leak_store.h"

#define ELF_IMAGE_SEGMENTS 4 /* writable segments of one object; linkers make one or two */

struct elf_image {
    uintptr_t start, end, bias;
    const char *path; /* NUL-terminated, never NULL */
    struct {
        uintptr_t start, end;
    } data[ELF_IMAGE_SEGMENTS];
    unsigned data_count;
    uint8_t build_id[LEAK_BUILD_ID_MAX];
    uint32_t build_id_length;
};

struct elf_images {
    struct elf_image *image; /* ascending */
    uint32_t count;
};

bool elf_images_find(const struct procmaps *maps, struct elf_images *out);
/* The object that contains an address, or NULL. */
const struct elf_image *elf_images_at(const struct elf_images *images, uintptr_t address);
/* True for the C library, which is known by its file name. */
bool elf_images_is_libc(const struct elf_image *image);

#endif
