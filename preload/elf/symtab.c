#include "preload/elf/symtab.h"
#include "preload/memory/arena.h"
#include "preload/base/strbuf.h"
#include "preload/base/sys.h"
#include "preload/elf/elf_words.h"

#include <fcntl.h>

#define SYMBOLS_AT_ONCE 256

/* The header of the section with the symbols, and of the section with their names. */
struct tables {
    ElfW(Shdr) symbols, names;
};

static bool read_exactly(int fd, void *out, size_t size, uint64_t offset)
{
    return sys_read_at(fd, out, size, offset) == (ssize_t)size;
}

static enum symtab_found find_tables(int fd, struct tables *out)
{
    ElfW(Ehdr) header;
    ElfW(Shdr) section;
    enum symtab_found found = SYMTAB_NONE;
    if (!read_exactly(fd, &header, sizeof header, 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELF_CLASS ||
        header.e_shentsize != sizeof section)
        return SYMTAB_NONE;
    for (unsigned i = 0; i < header.e_shnum && found != SYMTAB_ALL; i++) {
        if (!read_exactly(fd, &section, sizeof section, header.e_shoff + i * sizeof section))
            break;
        if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) ||
            section.sh_entsize != sizeof(ElfW(Sym)) || section.sh_link >= header.e_shnum)
            continue;
        if (!read_exactly(fd, &out->names, sizeof section,
                          header.e_shoff + section.sh_link * sizeof section))
            break;
        out->symbols = section;
        found = section.sh_type == SHT_SYMTAB ? SYMTAB_ALL : SYMTAB_EXPORTED;
    }
    return found;
}

/* A visit of all symbols of one type (STT_FUNC ...). names: their names; NULL: the symbols are
 * visited without names. */
struct symbol_visit {
    unsigned type;
    const char *names;
    uint64_t names_size;
    void (*visit)(const struct symtab_symbol *, void *);
    void *context;
};

/* Says whether a symbol is static. in_file: the symbol table has the name of a source file before
 * it. A local symbol behind a file symbol without a name, or with hidden visibility, was not static
 * in the source: the linker has made it local. */
static bool is_static(const ElfW(Sym) * symbol, bool in_file)
{
    return in_file && ELFW(ST_BIND)(symbol->st_info) == STB_LOCAL &&
           ELFW(ST_VISIBILITY)(symbol->st_other) == STV_DEFAULT;
}

static void visit_symbol(const ElfW(Sym) * symbol, bool in_file, const struct symbol_visit *visit)
{
    struct symtab_symbol out = {.value = symbol->st_value,
                                .size = symbol->st_size,
                                .is_static = is_static(symbol, in_file)};
    if (ELFW(ST_TYPE)(symbol->st_info) != visit->type || symbol->st_shndx == SHN_UNDEF ||
        !symbol->st_value || (visit->names && symbol->st_name >= visit->names_size))
        return;
    if (visit->names)
        out.name = visit->names + symbol->st_name;
    visit->visit(&out, visit->context);
}

static void visit_section(int fd, const ElfW(Shdr) * section, const struct symbol_visit *visit)
{
    ElfW(Sym) symbol[SYMBOLS_AT_ONCE];
    bool in_file = false;
    for (uint64_t at = 0; at < section->sh_size;) {
        uint64_t left = section->sh_size - at;
        ssize_t got = sys_read_at(fd, symbol, left < sizeof symbol ? left : sizeof symbol,
                                  section->sh_offset + at);
        size_t count = got > 0 ? got / sizeof *symbol : 0;
        if (!count)
            break;
        for (size_t i = 0; i < count; i++) {
            if (ELFW(ST_TYPE)(symbol[i].st_info) == STT_FILE)
                in_file = symbol[i].st_name;
            visit_symbol(&symbol[i], in_file, visit);
        }
        at += count * sizeof *symbol;
    }
}

static enum symtab_found
visit_functions(int fd, void (*visit)(const struct symtab_symbol *, void *), void *context)
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
        visit_section(fd, &tables.symbols,
                      &(struct symbol_visit){STT_FUNC, names, size, visit, context});
    arena_unmap(names, size);
    return found;
}

static int open_file(const char *path)
{
    return sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

enum symtab_found symtab_each_function(const char *path,
                                       void (*visit)(const struct symtab_symbol *function,
                                                     void *context),
                                       void *context)
{
    int fd = open_file(path);
    if (fd < 0)
        return SYMTAB_NONE;
    enum symtab_found found = visit_functions(fd, visit, context);
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
        visit_section(
            fd, &tables.symbols,
            &(struct symbol_visit){.type = STT_OBJECT, .visit = visit, .context = context});
    sys_close(fd);
}

/* ---- Comparing a symbol with the name that the user wants ------------------------------------ */

/* The part of the wanted name that is not compared yet, while a mangled symbol is parsed. */
struct match {
    const char *at, *end;
    bool started;
    const char *part; /* the scope or name that was parsed last */
    size_t part_length;
};

static bool match_bytes(struct match *match, const char *text, size_t length)
{
    if ((size_t)(match->end - match->at) < length || memcmp(match->at, text, length) != 0)
        return false;
    match->at += length;
    return true;
}

/* Compares one scope of a mangled name, or the name itself, with the next part of the wanted name.
 * False: they differ. mark: "~" before the name of a destructor, else "". */
static bool match_part(struct match *match, const char *mark, const char *part, size_t length)
{
    if (match->started && !match_bytes(match, "::", 2))
        return false;
    match->started = true;
    match->part = part;
    match->part_length = length;
    return match_bytes(match, mark, strlen(mark)) && match_bytes(match, part, length);
}

/* Reads the length before a name, as in "4Pool". Returns where the name begins; NULL: there is no
 * length. */
static const char *read_length(const char *at, size_t *length)
{
    for (*length = 0; *at >= '0' && *at <= '9' && *length < 65536; at++)
        *length = *length * 10 + (*at - '0');
    return *length && !memchr(at, '\0', *length) ? at : NULL;
}

static bool is_anonymous(const char *part, size_t length)
{
    return length >= 10 && memcmp(part, "_GLOBAL__N", 10) == 0;
}

/* Says whether the last scope is the hash with which Rust ends each mangled name. */
static bool is_hash(const char *part, size_t length)
{
    return length == 17 && part[0] == 'h' && part[length] == 'E';
}

static const char *match_named(struct match *match, const char *at)
{
    static const char anonymous[] = "(anonymous namespace)";
    size_t length;
    const char *part = read_length(at, &length);
    if (!part)
        return NULL;
    bool matches =
        is_hash(part, length) ||
        (is_anonymous(part, length) ? match_part(match, "", anonymous, sizeof anonymous - 1)
                                    : match_part(match, "", part, length));
    return matches ? part + length : NULL;
}

/* Parses one part of a mangled name, or a qualifier that is skipped. NULL: the part is not
 * supported, or differs from the wanted name. */
static const char *match_next(struct match *match, const char *at)
{
    size_t length;
    switch (*at) {
    case 'L': /* mark of a static function */
        return at + 1;
    case 'B': /* tag of an ABI, such as [abi:cxx11] */
        at = read_length(at + 1, &length);
        return at ? at + length : NULL;
    case 'S':
        return at[1] == 't' && match_part(match, "", "std", 3) ? at + 2 : NULL;
    case 'C':
    case 'D': /* a constructor or destructor, named like its class */
        return match->part && at[1] >= '0' && at[1] <= '5' &&
                       match_part(match, *at == 'D' ? "~" : "", match->part, match->part_length)
                   ? at + 2
                   : NULL;
    default:
        return match_named(match, at);
    }
}

static bool matches_mangled(const char *symbol, struct match match)
{
    if (!starts_with(symbol, "_Z"))
        return false;
    const char *at = symbol + 2;
    if (*at == 'N') {
        at += 1 + strspn(at + 1, "rVKRO");
        while (at && *at && *at != 'E')
            at = match_next(&match, at);
    } else {
        bool scope;
        do {
            scope = *at == 'L' || *at == 'S';
            at = match_next(&match, at);
        } while (at && scope);
    }
    return at && match.started && match.at == match.end;
}

/* Says whether a symbol is a part that the compiler has split off from a function. Such a part does
 * not contain the function's entry. */
static bool is_split_part(const char *suffix)
{
    return strstr(suffix, ".cold") || strstr(suffix, ".part");
}

/* Says whether a suffix may follow the name: a version, or the mark of a clone that the compiler
 * made. */
static bool may_follow(const char *suffix)
{
    return !*suffix || *suffix == '@' || starts_with(suffix, ".isra") ||
           starts_with(suffix, ".constprop") || starts_with(suffix, ".lto_priv") ||
           starts_with(suffix, ".llvm.");
}

bool symtab_name_matches(const char *symbol, const char *wanted)
{
    size_t length = strcspn(wanted, "(");
    if (!length) /* the name begins with "(anonymous namespace)::" */
        length = strlen(wanted);
    struct match match = {.at = wanted, .end = wanted + length};
    if (!length || is_split_part(symbol))
        return false;
    if (strncmp(symbol, wanted, length) == 0 && may_follow(symbol + length))
        return true;
    return matches_mangled(symbol, match);
}
