/* elf_binary.h - finds and opens an ELF file that was mapped into a process.
 *
 * It tries in order: the file at its path (below --sysroot), if that has the recorded build-id;
 * a debug file of that build-id in the debug directories; the file from debuginfod. Names come
 * only from a file that is proven to be the one that was mapped.
 */
#ifndef COMMON_DEBUGINFO_ELF_BINARY_H
#define COMMON_DEBUGINFO_ELF_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <elfutils/libdwfl.h>

#include "common/debuginfo/dwarf.h"
#include "common/debuginfo/symbols.h"
#include "common/base/arena.h"

struct binary_search_path {
    const char *sysroot;           /* directory that paths of modules are relative to; NULL = "/" */
    const char *const *debug_dirs; /* directories with debug files, searched before the standard
                                    * ones */
    size_t debug_dir_count;
    bool never_open; /* resolve no names, for tests */
};

enum binary_state {
    BINARY_COMPLETE, /* has functions and lines */
    BINARY_NO_LINES, /* opened, but it has no debug information */
    BINARY_MISSING,
    BINARY_REPLACED, /* another file is at its path */
    BINARY_NOT_ELF,  /* not a regular file, not readable for the program's user, or not ELF */
    BINARY_BROKEN,   /* the process that read the file crashed or exceeded a limit (binary.h) */
};

struct elf_binary;

/* What a recording knows of a mapped file. seen_ns: when the file was mapped. If the recording has
 * no build-id, a file that was changed after seen_ns is not the one that was mapped. */
struct binary_name {
    const char *path;
    const uint8_t *build_id;
    size_t build_id_length;
    uint64_t seen_ns;
};

struct elf_binary *elf_binary_open(struct arena *mem, const struct binary_search_path *search,
                                   const struct binary_name *name);
/* Closes the file and frees what libdw allocated; the struct itself lives in its arena. */
void elf_binary_close(struct elf_binary *binary);

enum binary_state elf_binary_state(const struct elf_binary *binary);

/* Finds the frames at an offset in the file, innermost first. Returns their number, 0 = unknown.
 * Strings belong to the binary. */
size_t elf_binary_find_frames(struct elf_binary *binary, uint64_t offset,
                              struct dwarf_frame frames[DWARF_INLINE_MAX]);

/* Finds a function by its name, like dwarf_index_named(), in the unit around an offset in the
 * file. False: there is none. Strings belong to the binary. */
bool elf_binary_find_named(struct elf_binary *binary, uint64_t offset, dwarf_name_fits *fits,
                           void *context, struct dwarf_frame *found);

/* A variable, as found at an address. Strings belong to the binary. */
struct binary_variable {
    const char *symbol;   /* mangled name in the symbol table, NULL = none */
    const char *name;     /* name in the source. Without debug information it is NULL, as are
                           * function and file, and the line is 0 */
    const char *function; /* function that declares the variable, mangled; NULL = none */
    const char *file;
    unsigned line;
    uint64_t offset; /* distance of the given address from the start of the variable, in bytes */
    bool has_die;    /* `die` is set; only in the process that reads the file */
    Dwarf_Die die;
};

/* Says where to look for a variable: in data, in the TLS segment, or in a stack frame. */
struct variable_location {
    enum {
        VARIABLE_IN_DATA,  /* given[0]: address in the file */
        VARIABLE_IN_TLS,   /* given[0], given[1]: ELF e_machine, offset from the thread pointer;
                            * only for the executable, whose TLS has a fixed place on each CPU */
        VARIABLE_IN_FRAME, /* given[]: pc, canonical frame address of the function around it,
                            * address of the variable */
    } kind;
    uint64_t given[3];
};

/* Finds the variable at a location. False: there is none. */
bool elf_binary_find_variable(struct elf_binary *binary, const struct variable_location *place,
                              struct binary_variable *found);

/* The opened debug information, for readers of types (common/typeinfo/). */
struct elf_binary_parts {
    Dwarf *dwarf; /* borrowed from the binary, like all pointers here */
    struct dwarf_index *index;
    struct dwarf_data *data;
    struct symbols *symbols;
    Dwfl_Module *module;
    uint64_t to_symbols; /* address in the file + to_symbols = address in libdwfl and `symbols` */
    uint64_t to_dwarf;   /* address in the file + to_dwarf = address in the debug information */
};

/* Gives access to the debug information of the file. False: the file has none. */
bool elf_binary_parts(struct elf_binary *binary, struct elf_binary_parts *parts);

#endif
