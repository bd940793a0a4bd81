/* elf_images.c - reads the program headers of every mapped ELF file. */
#include "preload/roots/elf_images.h"
#include "preload/interpose/modules.h"
#include "preload/base/sys.h"

#include <elf.h>
#include <link.h>

static bool is_elf_header(const struct mapping *mapping)
{
    return mapping->inode && mapping->offset == 0 && mapping->read && !mapping->shared &&
           memcmp((const void *)mapping->start, ELFMAG, SELFMAG) == 0 &&
           ((const ElfW(Ehdr) *)mapping->start)->e_phentsize == sizeof(ElfW(Phdr));
}

static void add_segment(struct elf_image *image, const ElfW(Phdr) * segment)
{
    uintptr_t start = image->bias + segment->p_vaddr, end = start + segment->p_memsz;
    size_t offset;
    switch (segment->p_type) {
    case PT_LOAD:
        if (end > image->end)
            image->end = end;
        if (segment->p_flags & PF_W && image->data_count < ELF_IMAGE_SEGMENTS) {
            image->data[image->data_count].start = start;
            image->data[image->data_count++].end = end;
        }
        break;
    case PT_NOTE:
        if (!image->build_id_length)
            image->build_id_length = modules_parse_build_id((const char *)start, segment->p_memsz,
                                                            image->build_id, &offset);
    }
}

static bool has_code(const struct procmaps *maps, const struct mapping *first,
                     const struct elf_image *image)
{
    for (const struct mapping *at = first;
         at < maps->mapping + maps->count && at->start < image->end; at++)
        if (at->execute && at->inode == first->inode)
            return true;
    return false;
}

/* Says whether an image is a loaded object, not just a file that is mapped for reading. The
 * segments of an object are where its headers say, in mappings of the same file. */
static bool is_loaded(const struct procmaps *maps, const struct mapping *first,
                      const struct elf_image *image)
{
    for (unsigned i = 0; i < image->data_count; i++) {
        const struct mapping *there = procmaps_find(maps, image->data[i].start);
        if (!there || there->inode != first->inode || there == first)
            return false;
    }
    return image->end > first->start && has_code(maps, first, image);
}

static bool read_image(const struct procmaps *maps, const struct mapping *mapping,
                       struct elf_image *image)
{
    const ElfW(Ehdr) *header = (const void *)mapping->start;
    const ElfW(Phdr) *segments = (const void *)(mapping->start + header->e_phoff);
    size_t room = (mapping->end - mapping->start) / sizeof *segments;
    *image = (struct elf_image){.start = mapping->start, .path = mapping->path};
    if (header->e_phoff >= mapping->end - mapping->start || header->e_phnum > room)
        return false;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD) {
            image->bias = mapping->start - (segments[i].p_vaddr & ~(LEAK_PAGE - 1));
            break;
        }
    for (unsigned i = 0; i < header->e_phnum; i++)
        add_segment(image, &segments[i]);
    return is_loaded(maps, mapping, image);
}

bool elf_images_find(const struct procmaps *maps, struct elf_images *out)
{
    *out = (struct elf_images){.image = sys_map((maps->count + 1) * sizeof *out->image)};
    if (!out->image)
        return false;
    for (uint32_t i = 0; i < maps->count; i++)
        if (is_elf_header(&maps->mapping[i]) &&
            read_image(maps, &maps->mapping[i], &out->image[out->count]))
            out->count++;
    return true;
}

const struct elf_image *elf_images_at(const struct elf_images *images, uintptr_t address)
{
    for (uint32_t i = 0; i < images->count; i++)
        if (address - images->image[i].start < images->image[i].end - images->image[i].start)
            return &images->image[i];
    return NULL;
}

bool elf_images_is_libc(const struct elf_image *image)
{
    const char *slash = strrchr(image->path, '/'), *name = slash ? slash + 1 : image->path;
    return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-2", 6) == 0;
}
