/* rows_of.c - what rows the .eh_frame of real objects has: rows_of FILE... (a test tool).
 *
 * Maps each ELF file as the loader would, without relocating anything, and asks cfi.c for the row
 * of each range that an FDE of .eh_frame_hdr's table tells apart. Prints "FILE ADDRESS LENGTH RULE"
 * for each row that is no plain rule of sp or fp (complex, none), and at the end one line of sums.
 */
#include "preload/unwind/cfi.h"
#include "preload/unwind/eh_reader.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {"none", "complex", "end",      "signal",
                                    "sp",   "fp",      "fp_deref", "other"};

static struct {
    unsigned long files, fdes, rows[ARRAY_LENGTH(names)], bytes[ARRAY_LENGTH(names)];
} sums;

#define GAP 64

static const char *file;
static uintptr_t base;

static void one_row(const uint8_t *fde, uintptr_t from, uintptr_t to)
{
    struct cfi_row row = cfi_row_of_fde(fde, from);
    sums.rows[row.rule]++;
    sums.bytes[row.rule] += to - from;
    if (row.rule == CFI_NONE || row.rule == CFI_COMPLEX)
        printf("%s %#lx %lu %s\n", file, from - base, to - from, names[row.rule]);
}

/* The operands of an opcode that moves no location. False: not known, nothing behind it can be
 * read. */
static bool skip_operands(uint8_t opcode, struct eh_reader *cursor)
{
    /* Two digits for each opcode from 0: ULEBs (or SLEBs: same length) to skip, and 1 for a block.
     */
    static const char shapes[] = "00"
                                 "??"
                                 "??"
                                 "??"
                                 "??"
                                 "20"
                                 "10"
                                 "10"
                                 "10"
                                 "20"
                                 "00"
                                 "00"
                                 "20"
                                 "10"
                                 "10"
                                 "01"
                                 "11"
                                 "20"
                                 "20"
                                 "10"
                                 "20"
                                 "20"
                                 "11";
    unsigned ulebs = 0;
    bool block = false;
    if (opcode >> 6 == 2)
        ulebs = 1;
    else if (opcode == 0x2e)
        ulebs = 1;
    else if (opcode < 0x17 && shapes[2 * opcode] != '?') {
        ulebs = shapes[2 * opcode] - '0';
        block = shapes[2 * opcode + 1] == '1';
    } else if (opcode >> 6 != 3)
        return false;
    while (ulebs--)
        eh_read_uleb(cursor);
    if (block)
        cursor->at += eh_read_uleb(cursor);
    return !cursor->bad && cursor->at <= cursor->end;
}

/* The CIE's code alignment; its augmentation string is skipped, as its start is all we need. */
static uint64_t code_align_of(const uint8_t *cie)
{
    const char *augmentation = (const char *)cie + 9;
    struct eh_reader cursor = {cie + 9 + strlen(augmentation) + 1, cie + 64, false};
    return eh_read_uleb(&cursor);
}

/* Returns where its function ends. */
static uintptr_t one_fde(const uint8_t *fde, uintptr_t start)
{
    struct eh_reader cursor = {fde, fde + 4, false};
    uint32_t length = eh_read_uint(&cursor, 4);
    const uint8_t *end = fde + 4 + length;
    cursor = (struct eh_reader){fde + 4, end, false};
    const uint8_t *cie = fde + 4 - eh_read_uint(&cursor, 4);
    uint64_t align = code_align_of(cie);
    eh_read_uint(&cursor, 4); /* start and size: pcrel sdata4, as every toolchain here writes them */
    uintptr_t stop = start + eh_read_uint(&cursor, 4), from = start;
    cursor.at += eh_read_uleb(&cursor);
    sums.fdes++;
    while (!cursor.bad && cursor.at < end) {
        uint8_t opcode = eh_read_uint(&cursor, 1);
        uint64_t by = 0;
        if (opcode >> 6 == 1)
            by = opcode & 0x3f;
        else if (opcode >= 2 && opcode <= 4)
            by = eh_read_uint(&cursor, 1u << (opcode - 2));
        else if (opcode == 1 || !skip_operands(opcode, &cursor))
            break; /* set_loc is in use nowhere */
        if (by && from < stop) {
            one_row(fde, from, from + by * align);
            from += by * align;
        }
    }
    if (from < stop)
        one_row(fde, from, stop);
    return stop;
}

/* Code that no function of the table holds; what is shorter is padding. */
static void gap(uintptr_t from, uintptr_t to)
{
    if (to < from + GAP)
        return;
    sums.rows[CFI_NONE]++;
    sums.bytes[CFI_NONE] += to - from;
    printf("%s %#lx %lu none\n", file, from - base, to - from);
}

/* The FDEs of the search table, which is sorted, and what lies between them in each code section.
 */
static void one_header(const uint8_t *header, size_t size, const Elf64_Shdr *sections, int count)
{
    struct eh_reader cursor = {header + 4, header + 64, false};
    if (header[0] != 1 || header[3] != 0x3b) {
        printf("%s: .eh_frame_hdr of another form: %#x %#x\n", file, header[0], header[3]);
        return;
    }
    eh_read_encoded(&cursor, header[1], (uintptr_t)header);
    uint64_t entries = eh_read_encoded(&cursor, header[2], (uintptr_t)header);
    const int32_t(*table)[2] = (const void *)cursor.at;
    if (entries > (size - 4) / sizeof *table)
        return;
    sums.files++;
    uint64_t at = 0;
    for (const Elf64_Shdr *section = sections; section < sections + count; section++) {
        uintptr_t from = base + section->sh_addr, end = from + section->sh_size;
        if (!(section->sh_flags & SHF_EXECINSTR))
            continue;
        for (; at < entries && (uintptr_t)header + table[at][0] < end; at++) {
            uintptr_t start = (uintptr_t)header + table[at][0];
            gap(from, start);
            from = one_fde(header + table[at][1], start);
        }
        gap(from, end);
    }
}

struct object {
    int fd;
    Elf64_Ehdr ehdr;
    Elf64_Phdr phdr[64];
    Elf64_Shdr shdr[1024];
    uintptr_t low, high; /* addresses in the object */
};

/* False: no object, or one that is cut off. */
static bool read_headers(struct object *object)
{
    struct stat now;
    Elf64_Ehdr *ehdr = &object->ehdr;
    if (fstat(object->fd, &now) < 0 || read(object->fd, ehdr, sizeof *ehdr) != sizeof *ehdr ||
        memcmp(ehdr->e_ident, ELFMAG, SELFMAG) || ehdr->e_ident[EI_CLASS] != ELFCLASS64 ||
        (ehdr->e_type != ET_DYN && ehdr->e_type != ET_EXEC) ||
        ehdr->e_phnum > ARRAY_LENGTH(object->phdr) || ehdr->e_shnum > ARRAY_LENGTH(object->shdr) ||
        pread(object->fd, object->phdr, ehdr->e_phnum * sizeof object->phdr[0], ehdr->e_phoff) <=
            0 ||
        pread(object->fd, object->shdr, ehdr->e_shnum * sizeof object->shdr[0], ehdr->e_shoff) <= 0)
        return false;
    object->low = UINTPTR_MAX;
    object->high = 0;
    for (int i = 0; i < ehdr->e_phnum; i++) {
        const Elf64_Phdr *at = &object->phdr[i];
        if (at->p_type != PT_LOAD)
            continue;
        if (at->p_offset + at->p_filesz > (uint64_t)now.st_size)
            return false;
        object->low = at->p_vaddr < object->low ? at->p_vaddr & ~4095ul : object->low;
        object->high =
            at->p_vaddr + at->p_memsz > object->high ? at->p_vaddr + at->p_memsz : object->high;
    }
    return object->low < object->high;
}

/* Its segments, where they belong to each other; base: where address 0 would be. */
static bool map(const struct object *object)
{
    char *place = mmap(NULL, object->high - object->low, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED)
        return false;
    base = (uintptr_t)place - object->low;
    for (int i = 0; i < object->ehdr.e_phnum; i++) {
        const Elf64_Phdr *at = &object->phdr[i];
        uintptr_t in_page = at->p_vaddr & 4095;
        if (at->p_type == PT_LOAD && at->p_filesz)
            mmap((void *)(base + at->p_vaddr - in_page), at->p_filesz + in_page, PROT_READ,
                 MAP_PRIVATE | MAP_FIXED, object->fd, at->p_offset - in_page);
    }
    return true;
}

/* In a separate debug file nothing is behind the program header. */
static bool is_in_file(const struct object *object, const Elf64_Phdr *part)
{
    for (int i = 0; i < object->ehdr.e_phnum; i++) {
        const Elf64_Phdr *at = &object->phdr[i];
        if (at->p_type == PT_LOAD && part->p_filesz && part->p_vaddr >= at->p_vaddr &&
            part->p_vaddr + part->p_filesz <= at->p_vaddr + at->p_filesz)
            return true;
    }
    return false;
}

static void one_file(const char *path)
{
    static struct object object;
    object.fd = open(path, O_RDONLY);
    file = path;
    if (read_headers(&object) && map(&object)) {
        for (const Elf64_Phdr *at = object.phdr; at < object.phdr + object.ehdr.e_phnum; at++)
            if (at->p_type == PT_GNU_EH_FRAME && is_in_file(&object, at))
                one_header((const uint8_t *)(base + at->p_vaddr), at->p_filesz, object.shdr,
                           object.ehdr.e_shnum);
        munmap((void *)(base + object.low), object.high - object.low);
    }
    close(object.fd);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        one_file(argv[i]);
    printf("%lu files, %lu functions", sums.files, sums.fdes);
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        printf("; %s %lu (%lu bytes)", names[i], sums.rows[i], sums.bytes[i]);
    putchar('\n');
    return 0;
}
