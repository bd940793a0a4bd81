#include "preload/elf/symtab.h"
#include "preload/base/arena.h"
#include "preload/base/sys.h"

#include <elf.h>
#include <fcntl.h>

#define SYMBOLS_AT_ONCE 256

/* Of the section with symbols. */
struct tables {
    Elf64_Shdr symbols, names;
};

static bool read_exactly(int fd, void *out, size_t size, uint64_t offset)
{
    return sys_read_at(fd, out, size, offset) == (ssize_t)size;
}

static enum symtab_found find_tables(int fd, struct tables *out)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    enum symtab_found found = SYMTAB_NONE;
    if (!read_exactly(fd, &header, sizeof header, 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof section)
        return SYMTAB_NONE;
    for (unsigned i = 0; i < header.e_shnum && found != SYMTAB_ALL; i++) {
        if (!read_exactly(fd, &section, sizeof section, header.e_shoff + i * sizeof section))
            break;
        if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) ||
            section.sh_entsize != sizeof(Elf64_Sym) || section.sh_link >= header.e_shnum)
            continue;
        if (!read_exactly(fd, &out->names, sizeof section,
                          header.e_shoff + section.sh_link * sizeof section))
            break;
        out->symbols = section;
        found = section.sh_type == SHT_SYMTAB ? SYMTAB_ALL : SYMTAB_EXPORTED;
    }
    return found;
}

/* What is visited, and with which names; NULL: without. */
struct wish {
    unsigned type;
    const char *names;
    uint64_t names_size;
    void (*visit)(const struct symtab_symbol *, void *);
    void *context;
};

/* Behind a symbol that names its source file; those behind one without a name were made local by
 * the linker, and so were those that are hidden. */
static bool is_static(const Elf64_Sym *symbol, bool in_file)
{
    return in_file && ELF64_ST_BIND(symbol->st_info) == STB_LOCAL &&
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT;
}

static void visit_one(const Elf64_Sym *symbol, bool in_file, const struct wish *wish)
{
    struct symtab_symbol out = {.value = symbol->st_value,
                                .size = symbol->st_size,
                                .is_static = is_static(symbol, in_file)};
    if (ELF64_ST_TYPE(symbol->st_info) != wish->type || symbol->st_shndx == SHN_UNDEF ||
        !symbol->st_value || (wish->names && symbol->st_name >= wish->names_size))
        return;
    if (wish->names)
        out.name = wish->names + symbol->st_name;
    wish->visit(&out, wish->context);
}

static void visit_all(int fd, const Elf64_Shdr *section, const struct wish *wish)
{
    Elf64_Sym symbol[SYMBOLS_AT_ONCE];
    bool in_file = false;
    for (uint64_t at = 0; at < section->sh_size;) {
        uint64_t left = section->sh_size - at;
        ssize_t got = sys_read_at(fd, symbol, left < sizeof symbol ? left : sizeof symbol,
                                  section->sh_offset + at);
        size_t count = got > 0 ? got / sizeof *symbol : 0;
        if (!count)
            break;
        for (size_t i = 0; i < count; i++) {
            if (ELF64_ST_TYPE(symbol[i].st_info) == STT_FILE)
                in_file = symbol[i].st_name;
            visit_one(&symbol[i], in_file, wish);
        }
        at += count * sizeof *symbol;
    }
}

static enum symtab_found read_file(int fd, void (*visit)(const struct symtab_symbol *, void *),
                                   void *context)
{
    struct tables tables;
    enum symtab_found found = find_tables(fd, &tables);
    uint64_t size = tables.names.sh_size;
    char *names = found && size && size < UINT32_MAX ? arena_map(size) : NULL;
    if (!names)
        return SYMTAB_NONE;
    if (!read_exactly(fd, names, size, tables.names.sh_offset) || names[size - 1])
        found = SYMTAB_NONE;
    else
        visit_all(fd, &tables.symbols, &(struct wish){STT_FUNC, names, size, visit, context});
    arena_unmap(names, size);
    return found;
}

static int open_file(const char *path)
{
    return sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

enum symtab_found symtab_each(const char *path,
                              void (*visit)(const struct symtab_symbol *function, void *context),
                              void *context)
{
    int fd = open_file(path);
    if (fd < 0)
        return SYMTAB_NONE;
    enum symtab_found found = read_file(fd, visit, context);
    sys_close(fd);
    return found;
}

void symtab_each_variable(const char *path,
                          void (*visit)(const struct symtab_symbol *variable, void *context),
                          void *context)
{
    struct tables tables;
    int fd = open_file(path);
    if (fd < 0)
        return;
    if (find_tables(fd, &tables))
        visit_all(fd, &tables.symbols,
                  &(struct wish){.type = STT_OBJECT, .visit = visit, .context = context});
    sys_close(fd);
}
