/* elf_binary.c - finds and opens one ELF file through libdwfl; see elf_binary.h. */
#include "common/debuginfo/elf_binary.h"

#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/model/model.h"
#include "common/debuginfo/dwarf.h"
#include "common/debuginfo/symbols.h"
#include "leak_cpu.h"

struct elf_binary {
    enum binary_state state;
    Dwfl *dwfl;
    Dwfl_Module *module;
    Dwfl_Callbacks callbacks;
    char *debug_path;
    GElf_Addr symbol_bias; /* address in libdwfl = address in the file + symbol_bias */
    Dwarf_Addr dwarf_bias;
    struct source_paths paths;
    struct dwarf_index *dwarf;
    struct dwarf_data data;
    struct symbols symbols;
};

/* Makes the search path for debug files in libdwfl's colon syntax: the user's directories,
 * /usr/lib/debug below the sysroot, and libdwfl's defaults. */
static char *debug_path(struct arena *mem, const struct binary_search_path *search)
{
    char *path = arena_copy(mem, "", 0);

    for (size_t i = 0; i < search->debug_dir_count; i++)
        path = arena_format(mem, "%s%s:", path, search->debug_dirs[i]);
    if (search->sysroot)
        path = arena_format(mem, "%s%s/usr/lib/debug:", path, search->sysroot);
    return arena_format(mem, "%s:.debug:/usr/lib/debug", path);
}

/* Says whether the user has configured a debuginfod server. */
static bool has_server(void)
{
    const char *urls = getenv("DEBUGINFOD_URLS");

    return urls && *urls;
}

/* Says whether a file of that name exists in one of `dirs`, separated by colons. A relative one is
 * relative to the directory of the ELF file; below an absolute one the file has the path of that
 * directory: /usr/lib/debug/usr/bin/NAME for /usr/bin/app. */
static bool has_named_debug_file(const char *dirs, const char *file, const char *name)
{
    int folder = (int)(base_name(file) - file); /* length of the directory's name, with the slash */
    char path[PATH_MAX];

    for (const char *dir = dirs;; dir = strchr(dir, ':') + 1) {
        int length = (int)strcspn(dir, ":");

        if (*dir == '/')
            snprintf(path, sizeof(path), "%.*s%.*s%s", length, dir, folder, file, name);
        else
            snprintf(path, sizeof(path), "%.*s%.*s/%s", folder, file, length, dir, name);
        if (access(path, F_OK) == 0)
            return true;
        if (!dir[length])
            return false;
    }
}

/* Says whether libdwfl may find debug information by a file name, beside the ELF file or below
 * `dirs`. link: the name in .gnu_debuglink, NULL = none. */
static bool may_find_by_name(const char *dirs, const char *file, const char *link)
{
    char name[NAME_MAX + 1], real[PATH_MAX];

    if (!dirs || !file || (link && strchr(link, '/')))
        return true; /* without directories, or with a link that is a path, the name of the file is
                      * not known here: libdwfl has to search */
    snprintf(name, sizeof(name), "%s%s", link ? link : base_name(file), link ? "" : ".debug");
    return has_named_debug_file(dirs, file, name) ||
           (realpath(file, real) && has_named_debug_file(dirs, real, name));
}

/* Lets libdwfl search debug information. dwfl_standard_find_debuginfo() would load libdebuginfod
 * with 25 libraries when it finds no file, even if no debuginfod server is configured. So it is not
 * called when no server is configured and no file can have the information. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **found)
{
    const struct elf_binary *binary = *data;
    const unsigned char *bits;
    GElf_Addr where;

    if (binary && !has_server() && dwfl_module_build_id(module, &bits, &where) > 0 &&
        !may_find_by_name(binary->debug_path, file, link))
        return dwfl_build_id_find_debuginfo(module, data, name, base, file, link, crc, found);
    return dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc, found);
}

static bool begin_dwfl(struct elf_binary *binary)
{
    binary->callbacks = (Dwfl_Callbacks){.find_elf = dwfl_build_id_find_elf,
                                         .find_debuginfo = find_debuginfo,
                                         .section_address = dwfl_offline_section_address,
                                         .debuginfo_path = &binary->debug_path};
    binary->dwfl = dwfl_begin(&binary->callbacks);
    binary->module = NULL;
    if (!binary->dwfl)
        return false;
    dwfl_report_begin(binary->dwfl);
    return true;
}

static void end_dwfl(struct elf_binary *binary)
{
    if (binary->dwfl)
        dwfl_end(binary->dwfl);
    binary->dwfl = NULL;
    binary->module = NULL;
}

static bool same_build_id(Dwfl_Module *module, const struct binary_name *name)
{
    const unsigned char *bits;
    GElf_Addr where;
    int length = dwfl_module_build_id(module, &bits, &where);

    return length > 0 && (size_t)length == name->build_id_length &&
           memcmp(bits, name->build_id, (size_t)length) == 0;
}

/* Opens a file if it is the module that was mapped. False: it is not, and binary->state says
 * why. */
static bool open_file(struct elf_binary *binary, const char *path, const struct binary_name *name)
{
    struct stat status;
    GElf_Addr bias;

    binary->state = BINARY_MISSING;
    if (stat(path, &status) != 0)
        return false;
    binary->state = BINARY_NOT_ELF;
    if (!S_ISREG(status.st_mode) || !begin_dwfl(binary))
        return false;
    binary->module = dwfl_report_elf(binary->dwfl, path, path, -1, 0, false);
    dwfl_report_end(binary->dwfl, NULL, NULL);
    if (!binary->module || !dwfl_module_getelf(binary->module, &bias)) {
        end_dwfl(binary);
        return false;
    }
    binary->state = BINARY_REPLACED;
    if (name->build_id_length
            ? !same_build_id(binary->module, name)
            : name->seen_ns && (uint64_t)status.st_mtime > name->seen_ns / 1000000000u) {
        end_dwfl(binary);
        return false;
    }
    binary->symbol_bias = bias;
    return true;
}

static const char *build_id_path(struct arena *mem, const char *dir, const struct binary_name *name)
{
    char *path = arena_format(mem, "%s/.build-id/%02x/", dir, name->build_id[0]);

    for (size_t i = 1; i < name->build_id_length; i++)
        path = arena_format(mem, "%s%02x", path, name->build_id[i]);
    return arena_format(mem, "%s.debug", path);
}

/* Opens a debug file by build-id, for an ELF file that is missing or was replaced. False: there is
 * none. */
static bool open_debug_file(struct elf_binary *binary, struct arena *mem,
                            const struct binary_search_path *search, const struct binary_name *name)
{
    for (size_t i = 0; i < search->debug_dir_count; i++)
        if (open_file(binary, build_id_path(mem, search->debug_dirs[i], name), name))
            return true;
    if (search->sysroot &&
        open_file(binary,
                  build_id_path(mem, arena_format(mem, "%s/usr/lib/debug", search->sysroot), name),
                  name))
        return true;
    return open_file(binary, build_id_path(mem, "/usr/lib/debug", name), name);
}

/* Gets the file from debuginfod by build-id, if the user configured a server. False: no server is
 * configured, or none has the file. */
static bool open_from_server(struct elf_binary *binary, const struct binary_name *name)
{
    GElf_Addr bias;

    if (!has_server() || !begin_dwfl(binary))
        return false;
    binary->module = dwfl_report_module(binary->dwfl, name->path, 0, UINT64_MAX / 2);
    if (binary->module)
        dwfl_module_report_build_id(binary->module, name->build_id, name->build_id_length, 0);
    dwfl_report_end(binary->dwfl, NULL, NULL);
    if (binary->module && dwfl_module_getelf(binary->module, &bias) &&
        same_build_id(binary->module, name)) {
        binary->symbol_bias = bias;
        return true;
    }
    end_dwfl(binary);
    return false;
}

static void open_dwarf(struct elf_binary *binary)
{
    void **data; /* libdwfl's user data of the module, which find_debuginfo() gets */
    Dwarf *dwarf;

    dwfl_module_info(binary->module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
    *data = binary;
    dwarf = dwfl_module_getdwarf(binary->module, &binary->dwarf_bias);

    binary->state = BINARY_NO_LINES;
    if (!dwarf)
        return;
    binary->dwarf = dwarf_index_begin(dwarf, &binary->paths);
    binary->data = (struct dwarf_data){.dwarf = dwarf, .paths = &binary->paths};
    binary->state = BINARY_COMPLETE;
}

struct elf_binary *elf_binary_open(struct arena *mem, const struct binary_search_path *search,
                                   const struct binary_name *name)
{
    struct elf_binary *binary = arena_alloc(mem, sizeof(*binary));
    enum binary_state first;
    const char *path = name->path;

    binary->state = BINARY_NOT_ELF;
    binary->paths.mem = mem;
    if (path[0] != '/' || search->never_open)
        return binary;
    binary->debug_path = debug_path(mem, search);
    if (search->sysroot)
        path = arena_format(mem, "%s%s", search->sysroot, path);
    if (!open_file(binary, path, name)) {
        first = binary->state;
        if (!name->build_id_length ||
            (!open_debug_file(binary, mem, search, name) && !open_from_server(binary, name))) {
            binary->state = first;
            return binary;
        }
    }
    open_dwarf(binary);
    return binary;
}

void elf_binary_close(struct elf_binary *binary)
{
    dwarf_index_end(binary->dwarf);
    binary->dwarf = NULL;
    dwarf_data_end(&binary->data);
    source_paths_end(&binary->paths);
    symbols_end(&binary->symbols);
    end_dwfl(binary);
}

enum binary_state elf_binary_state(const struct elf_binary *binary)
{
    return binary->state;
}

size_t elf_binary_find_frames(struct elf_binary *binary, uint64_t offset,
                              struct dwarf_frame frames[DWARF_INLINE_MAX])
{
    size_t count = 0;
    struct dwarf_frame *last;
    const char *symbol;

    if (!binary->module)
        return 0;
    if (binary->dwarf) /* dwarf_index_find() takes addresses as they are in the debug information */
        count = dwarf_index_find(binary->dwarf, offset + binary->symbol_bias - binary->dwarf_bias,
                                 frames);
    if (count && frames[count - 1].name && !frames[count - 1].in_lambda && !frames[count - 1].local)
        return count;
    if (!count)
        frames[0] = (struct dwarf_frame){0};
    count += count == 0;
    last = &frames[count - 1];
    binary->symbols.module = binary->module;
    symbol = symbols_find(&binary->symbols, offset + binary->symbol_bias);
    if (symbol) {
        last->name = symbol;
        last->scope = NULL;
    }
    return last->name || frames[0].file ? count : 0;
}

bool elf_binary_find_named(struct elf_binary *binary, uint64_t offset, dwarf_name_fits *fits,
                           void *context, struct dwarf_frame *found)
{
    return binary->dwarf &&
           dwarf_index_named(binary->dwarf, offset + binary->symbol_bias - binary->dwarf_bias, fits,
                             context, found);
}

/* ---- Variables ------------------------------------------------------------------------------- */

static struct binary_variable variable_from_dwarf(const struct dwarf_variable *known)
{
    return (struct binary_variable){.name = known->name,
                                    .function = known->function,
                                    .file = known->file,
                                    .line = known->line,
                                    .has_die = true,
                                    .die = known->die};
}

/* Finds the variable at an address of libdwfl (address in the file + symbol_bias), or with `tls` at
 * an offset in the TLS segment. bias: what libdwfl adds to addresses of the debug information.
 * False: there is no variable. */
static bool find_variable(struct elf_binary *binary, uint64_t address, bool tls, uint64_t bias,
                          struct binary_variable *found)
{
    struct dwarf_variable known;
    struct symbol symbol;
    uint64_t start;

    binary->symbols.module = binary->module;
    if (!symbols_find_data(&binary->symbols, address, tls, &symbol))
        return false;
    *found = (struct binary_variable){0};
    start = tls ? symbol.start | DWARF_DATA_TLS : symbol.start - bias;
    if (dwarf_data_find(&binary->data, start, symbol.local, &known))
        *found = variable_from_dwarf(&known);
    found->symbol = symbol.name;
    found->offset = address - symbol.start;
    return true;
}

static bool find_data(struct elf_binary *binary, uint64_t address, struct binary_variable *found)
{
    return binary->module &&
           find_variable(binary, address + binary->symbol_bias, false, binary->dwarf_bias, found);
}

/* Stores the number of bytes from the thread pointer up to the program's TLS on a CPU (ELF
 * e_machine), or LEAK_TLS_BELOW if the TLS ends at the thread pointer. False: the CPU is
 * unknown. */
static bool tls_variant(unsigned machine, int *above)
{
    switch (machine) {
#define X(name, number, tls, ...)                                                                  \
    case number:                                                                                   \
        *above = tls;                                                                              \
        return true;
        LEAK_CPU_TABLE(X)
#undef X
    }
    return false;
}

/* Computes the offset of the program's TLS segment from the thread pointer. False: the CPU is
 * unknown, or the file has no TLS segment. */
static bool tls_start(struct elf_binary *binary, unsigned machine, int64_t *start)
{
    int above;
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(binary->module, &bias);
    size_t count;

    if (!elf || !tls_variant(machine, &above) || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        uint64_t align;

        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_TLS)
            continue;
        align = header.p_align > 1 ? header.p_align : 1;
        *start = above == LEAK_TLS_BELOW
                     ? (int64_t)(0 - (header.p_memsz + align - 1) / align * align)
                     : (int64_t)(((uint64_t)above + align - 1) / align * align);
        return true;
    }
    return false;
}

static bool find_tls(struct elf_binary *binary, unsigned machine, int64_t offset,
                     struct binary_variable *found)
{
    int64_t start;

    return binary->module && tls_start(binary, machine, &start) && offset >= start &&
           find_variable(binary, (uint64_t)offset - (uint64_t)start, true, 0, found);
}

static bool find_local(struct elf_binary *binary, uint64_t pc, uint64_t cfa, uint64_t address,
                       struct binary_variable *found)
{
    uint64_t at = pc + binary->symbol_bias - binary->dwarf_bias, start;
    struct dwarf_variable known;
    struct dwarf_function function;

    if (!binary->dwarf || !dwarf_index_function(binary->dwarf, at, &function) ||
        !dwarf_data_local(&function, &binary->paths, at, cfa, address, &known, &start))
        return false;
    *found = variable_from_dwarf(&known);
    found->offset = address - start;
    return true;
}

bool elf_binary_find_variable(struct elf_binary *binary, const struct variable_location *place,
                              struct binary_variable *found)
{
    const uint64_t *given = place->given;

    switch (place->kind) {
    case VARIABLE_IN_DATA:
        return find_data(binary, given[0], found);
    case VARIABLE_IN_TLS:
        return find_tls(binary, (unsigned)given[0], (int64_t)given[1], found);
    default:
        return find_local(binary, given[0], given[1], given[2], found);
    }
}

bool elf_binary_parts(struct elf_binary *binary, struct elf_binary_parts *parts)
{
    if (!binary->dwarf)
        return false;
    binary->symbols.module = binary->module;
    *parts = (struct elf_binary_parts){.dwarf = binary->data.dwarf,
                                       .index = binary->dwarf,
                                       .data = &binary->data,
                                       .symbols = &binary->symbols,
                                       .module = binary->module,
                                       .to_symbols = binary->symbol_bias,
                                       .to_dwarf = binary->symbol_bias - binary->dwarf_bias};
    return true;
}
