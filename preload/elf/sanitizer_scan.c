#include "preload/elf/sanitizer_scan.h"
#include "preload/base/sys.h"

#include <elf.h>

#define TAGS_MOST 128
#define PIECE 4096
#define NAME_MOST 32 /* of a name that is looked for, and the NUL on both sides */

struct file {
    int fd;
    const Elf64_Phdr *segment;
    unsigned segments;
};

/* Where in the file stands what will be there in memory? 0: nowhere. */
static uint64_t offset_of(const struct file *file, uint64_t address)
{
    for (unsigned i = 0; i < file->segments; i++) {
        const Elf64_Phdr *segment = &file->segment[i];
        if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
            return segment->p_offset + (address - segment->p_vaddr);
    }
    return 0;
}

/* The names of all that it gives and takes. */
static bool find_names(const struct file *file, uint64_t *offset, uint64_t *size)
{
    Elf64_Dyn tag[TAGS_MOST];
    ssize_t length = 0;
    *offset = *size = 0;
    for (unsigned i = 0; i < file->segments; i++)
        if (file->segment[i].p_type == PT_DYNAMIC)
            length = sys_read_at(file->fd, tag, sizeof tag, file->segment[i].p_offset);
    for (ssize_t i = 0; i < length / (ssize_t)sizeof *tag && tag[i].d_tag != DT_NULL; i++) {
        if (tag[i].d_tag == DT_STRTAB)
            *offset = offset_of(file, tag[i].d_un.d_ptr);
        if (tag[i].d_tag == DT_STRSZ)
            *size = tag[i].d_un.d_val;
    }
    return *offset && *size;
}

enum {
    SYMBOLIZES = 1,
    IN_PLACE_OF_LIBC = 2,
    BEGINS = SYMBOLIZES | IN_PLACE_OF_LIBC, /* it is sign enough */
};

static unsigned sign_of(const char *name)
{
#define SIGN(its_name, what)                                                                       \
    if (strcmp(name, #its_name) == 0)                                                              \
        return what;
#include "preload/elf/sanitizers.def"
#undef SIGN
    return 0;
}

/* Pieces overlap: a name may lie across two. */
static bool has_signs(int fd, uint64_t offset, uint64_t size)
{
    char piece[PIECE + 1];
    unsigned signs = 0;
    for (uint64_t at = 0; at < size && signs != BEGINS; at += PIECE - NAME_MOST) {
        uint64_t left = size - at;
        ssize_t length = sys_read_at(fd, piece, left < PIECE ? left : PIECE, offset + at);
        if (length <= 0)
            return false;
        piece[length] = '\0';
        const char *last = piece + length;
        for (const char *end = piece; (end = memchr(end, '\0', last - end)); end++)
            signs |= sign_of(end + 1 < last ? end + 1 : last);
    }
    return signs == BEGINS;
}

bool built_with_sanitizer(int fd, const void *head, size_t size)
{
    const Elf64_Ehdr *header = head;
    struct file file = {fd, (const void *)((const char *)head + header->e_phoff), header->e_phnum};
    uint64_t offset, length;
    if (header->e_phoff > size || header->e_phoff % 8 ||
        header->e_phnum > (size - header->e_phoff) / sizeof(Elf64_Phdr))
        return false;
    return find_names(&file, &offset, &length) && has_signs(fd, offset, length);
}
