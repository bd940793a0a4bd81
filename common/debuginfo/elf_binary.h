/* elf_binary.h - finds and opens an ELF file that was mapped into a process.
 *
 * Tried in order: the file at its path (below --sysroot), if its build-id is the recorded one; a
 * debug file of that build-id in the debug directories; the file that debuginfod has. Only a file
 * that is proven to be the same supplies names.
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
    const char *sysroot;           /* NULL = none */
    const char *const *debug_dirs; /* searched before the standard directories */
    size_t debug_dir_count;
    bool never_open; /* resolve no names, for tests */
};

enum binary_state {
    BINARY_COMPLETE, /* has functions and lines */
    BINARY_NO_LINES, /* opened, but without debug information */
    BINARY_MISSING,  /* the file is missing */
    BINARY_REPLACED, /* another file is at its path */
    BINARY_NOT_ELF,  /* not a regular file, not readable for the program's user, or not ELF */
    BINARY_BROKEN,   /* the process that read it died of it; see binary.h */
};

struct elf_binary; /* opaque, see elf_binary_open() */

/* What was recorded of a file. seen_ns: without a build-id, the file must not be newer than
 * this. */
struct binary_name {
    const char *path;
    const uint8_t *build_id;
    size_t build_id_length;
    uint64_t seen_ns;
};

struct elf_binary *elf_binary_open(struct arena *mem, const struct binary_search_path *search,
                                   const struct binary_name *name);
void elf_binary_close(
    struct elf_binary *binary); /* frees what libdw allocated; the rest lives in mem */

enum binary_state elf_binary_state(const struct elf_binary *binary);

/* The frames at an offset, innermost first; 0 = unknown. Strings belong to the binary. */
size_t elf_binary_find_frames(struct elf_binary *binary, uint64_t offset,
                              struct dwarf_frame frames[DWARF_INLINE_MAX]);

/* A variable. Strings belong to the binary. */
struct binary_variable {
    const char *symbol;   /* mangled, NULL = none */
    const char *name;     /* as in the source; NULL without debug information, like the rest */
    const char *function; /* that declares it, mangled; NULL = none */
    const char *file;
    unsigned line;
    uint64_t offset; /* of the address in the variable */
    bool has_die;    /* in the process that reads the file: */
    Dwarf_Die die;
};

/* The place of a variable: in data, in the TLS segment, or in a stack frame. */
struct variable_location {
    enum {
        VARIABLE_IN_DATA, /* address in the file */
        VARIABLE_IN_TLS, /* ELF e_machine, offset from the thread pointer: only of the program itself,
                              whose TLS has a fixed place on each machine */
        VARIABLE_IN_FRAME, /* pc, canonical frame address of the function around it, address */
    } kind;
    uint64_t given[3];
};

/* The variable there; false: none. */
bool elf_binary_find_variable(struct elf_binary *binary, const struct variable_location *place,
                              struct binary_variable *found);

/* What readers of types (common/typeinfo/) need. */
struct elf_binary_parts {
    Dwarf *dwarf; /* borrowed, like the others */
    struct dwarf_index *index;
    struct dwarf_data *data;
    struct symbols *symbols;
    Dwfl_Module *module;
    uint64_t to_symbols; /* address of the file + this = address of libdwfl and of symbols */
    uint64_t to_dwarf;   /* … = address of the debug information */
};

/* Gives access to the debug information of the file. False: the file has none. */
bool elf_binary_parts(struct elf_binary *binary, struct elf_binary_parts *parts);

#endif
