/* elf_images.h - the ELF objects of a process, found by their headers in memory.
 *
 * The list of the dynamic loader may be inconsistent when the process is copied, and its lock may
 * stay taken in the copy; the mappings and the ELF headers in them tell the same. Only for the
 * process copy in which a leak check runs: memory is never freed. */
#ifndef PRELOAD_ROOTS_ELF_IMAGES_H
#define PRELOAD_ROOTS_ELF_IMAGES_H

#include "preload/elf/procmaps.h"
#include "leak_store.h"

/* The largest number of writable segments of an object; linkers make one or two, and further ones
 * are ignored. */
#define ELF_IMAGE_SEGMENTS 4

struct elf_image {
    uintptr_t start, end, bias;
    const char *path; /* path of the object's file; NUL-terminated, never NULL */
    struct {
        uintptr_t start, end;
    } data[ELF_IMAGE_SEGMENTS];
    unsigned data_count;
    uint8_t build_id[LEAK_BUILD_ID_MAX];
    uint32_t build_id_length;
};

struct elf_images {
    struct elf_image *image; /* array in ascending order of addresses */
    uint32_t count;
};

bool elf_images_find(const struct procmaps *maps, struct elf_images *out);
/* Finds the object that contains an address; NULL: there is none. */
const struct elf_image *elf_images_at(const struct elf_images *images, uintptr_t address);
/* Says whether an object is the C library, which is recognised by its file name. */
bool elf_images_is_libc(const struct elf_image *image);

#endif
