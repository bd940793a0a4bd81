/* preflight_elf.c - checks whether a library can be preloaded into an ELF file.
 *
 * Class and byte order are checked first; after that the structures have the layout of this
 * machine and are copied out of the file as they are. */
#include "common/preflight/preflight.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/elf_widen.h"
#include "leak_cpu.h"

#define TABLE_BYTES (256u << 20) /* a larger table in the file is not read */

static void set_result(struct preflight *result, int status, const char *format, va_list args)
{
    result->status = status;
    vsnprintf(result->line, sizeof result->line, format, args);
    /* Replaces control characters, which the name of a loader may contain, so that the message
     * stays one line. */
    for (char *at = result->line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == '\177')
            *at = '?';
}

bool preflight_refuse(struct preflight *result, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_result(result, PREFLIGHT_CANNOT_RUN, format, args);
    va_end(args);
    return false;
}

bool preflight_not_found(struct preflight *result, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_result(result, PREFLIGHT_NOT_FOUND, format, args);
    va_end(args);
    return false;
}

/* ---- Reading parts of an ELF file ------------------------------------------------------------ */

struct elf_file {
    int fd;
    uint64_t size;
    const char *name; /* name for messages */
    bool is_32_bit;   /* the file is of class 32; structures are converted to 64 bits when they
                       * are read */
    Elf64_Ehdr header;
    Elf64_Phdr *segments; /* the program headers, header.e_phnum of them */
};

static bool elf_read(const struct elf_file *file, void *to, uint64_t offset, uint64_t size)
{
    if (offset > file->size || size > file->size - offset)
        return false;
    for (char *at = to; size;) {
        ssize_t n = pread(file->fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        offset += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return true;
}

/* Reads bytes of the file into malloc'd memory with a NUL behind them, or returns NULL. */
static char *elf_copy(const struct elf_file *file, uint64_t offset, uint64_t size)
{
    if (size > TABLE_BYTES || offset > file->size || size > file->size - offset)
        return NULL;
    char *bytes = malloc(size + 1);
    if (!bytes || !elf_read(file, bytes, offset, size)) {
        free(bytes);
        return NULL;
    }
    bytes[size] = '\0';
    return bytes;
}

/* ---- ELF structures of 32 and 64 bits -------------------------------------------------------- */

static Elf64_Dyn widen_tag(const Elf32_Dyn *from)
{
    return (Elf64_Dyn){.d_tag = from->d_tag, .d_un = {.d_val = from->d_un.d_val}};
}

/* Defines NAME(file, offset, count), which reads a table of structures into malloc'd memory, or
 * returns NULL. */
#define ELF_TABLE(name, type, widen)                                                               \
    static Elf64_##type *name(const struct elf_file *file, uint64_t offset, uint64_t count)        \
    {                                                                                              \
        if (!file->is_32_bit)                                                                      \
            return (Elf64_##type *)(void *)elf_copy(file, offset, count * sizeof(Elf64_##type));   \
        Elf32_##type *from =                                                                       \
            (Elf32_##type *)(void *)elf_copy(file, offset, count * sizeof(Elf32_##type));          \
        Elf64_##type *table = from ? calloc(count + 1, sizeof *table) : NULL;                      \
        for (uint64_t i = 0; table && i < count; i++)                                              \
            table[i] = widen(&from[i]);                                                            \
        free(from);                                                                                \
        return table;                                                                              \
    }

ELF_TABLE(elf_segments, Phdr, elf_widen_segment)
ELF_TABLE(elf_tags, Dyn, widen_tag)

static bool elf_read_header(struct elf_file *file)
{
    Elf64_Ehdr *header = &file->header;
    Elf32_Ehdr from;
    if (!file->is_32_bit)
        return elf_read(file, header, 0, sizeof *header);
    if (!elf_read(file, &from, 0, sizeof from))
        return false;
    *header = elf_widen_header(&from);
    return true;
}

static bool elf_read_section(const struct elf_file *file, uint64_t i, Elf64_Shdr *section)
{
    uint64_t at = file->header.e_shoff;
    Elf32_Shdr from;
    if (!file->is_32_bit)
        return elf_read(file, section, at + i * sizeof *section, sizeof *section);
    if (!elf_read(file, &from, at + i * sizeof from, sizeof from))
        return false;
    *section = (Elf64_Shdr){.sh_type = from.sh_type,
                            .sh_offset = from.sh_offset,
                            .sh_size = from.sh_size,
                            .sh_link = from.sh_link};
    return true;
}

static uint64_t elf_symbol_size(const struct elf_file *file)
{
    return file->is_32_bit ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
}

/* The offset of a symbol's name in the string table: the first word of a symbol, both in 32-bit
 * and in 64-bit files. */
static uint32_t elf_symbol_name(const struct elf_file *file, const char *symbols, uint64_t i)
{
    uint32_t name;
    memcpy(&name, symbols + i * elf_symbol_size(file), sizeof name);
    return name;
}

static const Elf64_Phdr *elf_segment(const struct elf_file *file, uint32_t type)
{
    for (size_t i = 0; i < file->header.e_phnum; i++)
        if (file->segments[i].p_type == type)
            return &file->segments[i];
    return NULL;
}

/* Says whether Go's own linker made the file, as it does for programs without C code: the file
 * then has a note with the name "Go". */
static bool elf_is_go(const struct elf_file *file)
{
    struct {
        Elf64_Nhdr head;
        char name[4];
    } note;
    for (size_t i = 0; i < file->header.e_phnum; i++)
        if (file->segments[i].p_type == PT_NOTE &&
            elf_read(file, &note, file->segments[i].p_offset, sizeof note) &&
            note.head.n_namesz == sizeof note.name && memcmp(note.name, "Go\0", 4) == 0)
            return true;
    return false;
}

/* The file offset of a virtual address; UINT64_MAX: the address is not in the file. */
static uint64_t elf_offset(const struct elf_file *file, uint64_t address)
{
    for (size_t i = 0; i < file->header.e_phnum; i++) {
        const Elf64_Phdr *s = &file->segments[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz &&
            s->p_offset <= file->size)
            return s->p_offset + (address - s->p_vaddr);
    }
    return UINT64_MAX;
}

/* A sanitizer that replaces most of libc, so that libleak cannot be loaded before it. */
struct sanitizer {
    const char *name, *option, *library, *symbol;
};

static const struct sanitizer sanitizers[] = {
    {"AddressSanitizer", "address", "libasan.so", "__asan_init"},
    {"AddressSanitizer", "address", "libclang_rt.asan", "__asan_init"},
    {"ThreadSanitizer", "thread", "libtsan.so", "__tsan_init"},
    {"ThreadSanitizer", "thread", "libclang_rt.tsan", "__tsan_init"},
    {"MemorySanitizer", "memory", "libclang_rt.msan", "__msan_init"},
};

static const struct sanitizer *sanitizer_of_library(const char *name)
{
    for (size_t i = 0; i < sizeof sanitizers / sizeof *sanitizers; i++)
        if (strncmp(name, sanitizers[i].library, strlen(sanitizers[i].library)) == 0)
            return &sanitizers[i];
    return NULL;
}

static const struct sanitizer *sanitizer_of_symbol(const char *name)
{
    for (size_t i = 0; i < sizeof sanitizers / sizeof *sanitizers; i++)
        if (strcmp(name, sanitizers[i].symbol) == 0)
            return &sanitizers[i];
    return NULL;
}

static bool refuse_sanitizer(struct preflight *result, const char *program,
                             const struct sanitizer *sanitizer)
{
    return preflight_refuse(
        result,
        "%s is built with %s, which brings its own allocator%s: run it as it is, or build it "
        "without -fsanitize=%s",
        program, sanitizer->name,
        strcmp(sanitizer->option, "address") == 0 ? " and leak check" : "", sanitizer->option);
}

/* What the dynamic section of a file shows. */
struct dynamic {
    const struct sanitizer *sanitizer;
    bool pie, loader, library;
};

static void read_dynamic(const struct elf_file *file, struct dynamic *dynamic)
{
    *dynamic = (struct dynamic){0};
    const Elf64_Phdr *segment = elf_segment(file, PT_DYNAMIC);
    if (!segment || segment->p_filesz > TABLE_BYTES)
        return;
    size_t count = segment->p_filesz / (file->is_32_bit ? sizeof(Elf32_Dyn) : sizeof(Elf64_Dyn));
    Elf64_Dyn *tags = elf_tags(file, segment->p_offset, count);
    if (!tags)
        return;
    uint64_t strings = UINT64_MAX, strings_size = 0;
    for (size_t i = 0; i < count && tags[i].d_tag != DT_NULL; i++) {
        if (tags[i].d_tag == DT_STRTAB)
            strings = elf_offset(file, tags[i].d_un.d_ptr);
        if (tags[i].d_tag == DT_STRSZ)
            strings_size = tags[i].d_un.d_val;
        if (tags[i].d_tag == DT_FLAGS_1)
            dynamic->pie = tags[i].d_un.d_val & DF_1_PIE;
    }
    char *names = strings == UINT64_MAX ? NULL : elf_copy(file, strings, strings_size);
    for (size_t i = 0; names && i < count && tags[i].d_tag != DT_NULL; i++) {
        if (tags[i].d_un.d_val >= strings_size)
            continue;
        const char *name = names + tags[i].d_un.d_val;
        if (tags[i].d_tag == DT_NEEDED && !dynamic->sanitizer)
            dynamic->sanitizer = sanitizer_of_library(name);
        if (tags[i].d_tag == DT_SONAME) {
            dynamic->library = true;
            dynamic->loader = strncmp(name, "ld-linux", 8) == 0;
        }
    }
    free(names);
    free(tags);
}

static void search_symbols(const struct elf_file *file, const Elf64_Shdr *table, const char *names,
                           uint64_t names_size, const struct sanitizer **found)
{
    char symbols[512 * sizeof(Elf64_Sym)];
    const uint64_t each = elf_symbol_size(file), count = table->sh_size / each;
    for (uint64_t first = 0; first < count; first += 512) {
        uint64_t n = count - first < 512 ? count - first : 512;
        if (!elf_read(file, symbols, table->sh_offset + first * each, n * each))
            return;
        for (uint64_t i = 0; i < n; i++) {
            uint32_t name = elf_symbol_name(file, symbols, i);
            if (name != 0 && name < names_size && !*found)
                *found = sanitizer_of_symbol(names + name);
        }
    }
}

static void read_symbols(const struct elf_file *file, const struct sanitizer **found)
{
    const Elf64_Ehdr *header = &file->header;
    *found = NULL;
    Elf64_Shdr section, names;
    if (header->e_shentsize != (file->is_32_bit ? sizeof(Elf32_Shdr) : sizeof section) ||
        header->e_shoff == 0)
        return;
    for (uint64_t i = 0; i < header->e_shnum; i++) {
        if (!elf_read_section(file, i, &section))
            return;
        if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) ||
            section.sh_link >= header->e_shnum || !elf_read_section(file, section.sh_link, &names))
            continue;
        char *text = elf_copy(file, names.sh_offset, names.sh_size);
        if (text)
            search_symbols(file, &section, text, names.sh_size, found);
        free(text);
    }
}

/* ---- Can a library be preloaded into the program? -------------------------------------------- */

static bool check_loader(const struct elf_file *file, struct preflight *result)
{
    const char *name = file->name;
    struct dynamic dynamic;
    read_dynamic(file, &dynamic);
    const Elf64_Phdr *segment = elf_segment(file, PT_INTERP);
    if (!segment) {
        if (dynamic.loader)
            return true; /* the file is ld.so, and "ld.so PROGRAM" honours LD_PRELOAD */
        if (dynamic.library && !dynamic.pie)
            return preflight_refuse(
                result, "%s is a shared library, not a program: run the program that uses it",
                name);
        if (elf_is_go(file))
            return preflight_refuse(
                result,
                "%s is statically linked, as Go programs without C code are, so no library can be "
                "loaded into it: go tool pprof knows what Go allocates",
                name);
        return preflight_refuse(
            result,
            "%s is statically linked, so no library can be loaded into it: link it "
            "without -static",
            name);
    }
    char *loader =
        segment->p_filesz > PATH_MAX ? NULL : elf_copy(file, segment->p_offset, segment->p_filesz);
    if (!loader)
        return preflight_refuse(
            result, "%s is damaged: the name of its loader is outside the file; build it again",
            name);
    bool good = true;
    if (strstr(loader, "ld-musl"))
        good = preflight_refuse(
            result, "%s uses musl libc, and libleak needs glibc: build it against glibc", name);
    else if (access(loader, F_OK) != 0)
        good = preflight_not_found(
            result,
            "%s needs the loader %s, which is not here: install the libc it was built "
            "for",
            name, loader);
    else if (dynamic.sanitizer)
        good = refuse_sanitizer(result, name, dynamic.sanitizer);
    free(loader);
    return good;
}

/* Whether 32-bit programs can be tracked (preflight_take_32_bit). */
static bool takes_32_bit;

void preflight_take_32_bit(bool takes)
{
    takes_32_bit = takes;
}

static bool is_expected_machine(const struct elf_file *file)
{
    return file->header.e_machine == (file->is_32_bit ? LEAK_CPU_MACHINE_32 : LEAK_CPU_MACHINE) &&
           file->header.e_ident[EI_DATA] == ELFDATA2LSB &&
           file->header.e_ident[EI_CLASS] == (file->is_32_bit ? ELFCLASS32 : ELFCLASS64);
}

/* Reads the ELF header and the program headers. Refuses a 32-bit file if there is no 32-bit
 * library, and a file of another machine. False: refused, and *result says why. */
static bool elf_open(struct elf_file *file, struct preflight *result)
{
    const char *name = file->name;
    Elf64_Ehdr *header = &file->header;
    file->is_32_bit =
        elf_read(file, header, 0, EI_NIDENT) && header->e_ident[EI_CLASS] == ELFCLASS32;
    if (file->is_32_bit && !takes_32_bit)
        return preflight_refuse(
            result,
            "%s is a 32-bit program and this libleak is 64-bit: build it for 64 bits "
            "(without -m32), or add the 32-bit library (make lib32)",
            name);
    if (!elf_read_header(file))
        return preflight_refuse(result, "%s is cut short (%llu bytes): build or copy it again",
                                name, (unsigned long long)file->size);
    if (!is_expected_machine(file))
        return preflight_refuse(
            result,
            "%s is built for another machine (ELF machine %u): build it for this one, or "
            "run libleak there",
            name, header->e_machine);
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return preflight_refuse(result,
                                "%s is no program but %s: link it first, or name the program", name,
                                header->e_type == ET_CORE ? "a core file" : "an object file");
    const size_t each = file->is_32_bit ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
    file->segments =
        header->e_phentsize == each ? elf_segments(file, header->e_phoff, header->e_phnum) : NULL;
    if (!file->segments || header->e_phnum == 0)
        return preflight_refuse(
            result,
            "%s is damaged: its program headers are outside the file; build or copy it "
            "again",
            name);
    return true;
}

bool preflight_elf(int fd, uint64_t size, const char *name, struct preflight *result)
{
    struct elf_file file = {.fd = fd, .size = size, .name = name};
    const struct sanitizer *sanitizer;
    bool good = elf_open(&file, result) && check_loader(&file, result);
    if (good) {
        read_symbols(&file, &sanitizer);
        if (sanitizer)
            good = refuse_sanitizer(result, name, sanitizer);
    }
    free(file.segments);
    return good;
}
