/* binary.h - one ELF file that was mapped into a process, found again and opened.
 *
 * The ladder: the file at its path (below --sysroot), if its build-id is the recorded one; else
 * a debug file of that build-id in the debug directories; else whatever debuginfod has for it.
 * Nothing that is not proven to be the same file is ever asked for a name.
 */
#ifndef COMMON_NAMES_BINARY_H
#define COMMON_NAMES_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/names/dwarf.h"
#include "common/base/arena.h"

struct binary_search_path {
    const char *sysroot;           /* NULL = none */
    const char *const *debug_dirs; /* searched before the standard ones */
    size_t debug_dir_count;
    bool never_open; /* names no function at all: for tests of everything else */
};

enum binary_state {
    BINARY_GOOD,     /* functions and lines */
    BINARY_NO_LINES, /* opened: a symbol table at most */
    BINARY_GONE,     /* no such file any more */
    BINARY_REPLACED, /* another file stands at its path */
    BINARY_FOREIGN,  /* not a file, or not an ELF file */
};

struct binary; /* opaque: owned by the caller, see binary_open() */

/* What the store knows of it. seen_ns: the file must not be younger when there is no build-id. */
struct binary_name {
    const char *path;
    const uint8_t *build_id;
    size_t build_id_length;
    uint64_t seen_ns;
};

struct binary *binary_open(struct mem *mem, const struct binary_search_path *search,
                           const struct binary_name *name);
void binary_close(struct binary *binary); /* libdw's part; the rest goes with mem */

enum binary_state binary_state(const struct binary *binary);

/* Innermost first; 0 = nothing known. Texts belong to the binary. */
size_t binary_find(struct binary *binary, uint64_t offset,
                   struct dwarf_frame frames[DWARF_INLINE_MAX]);

/* A variable. Texts belong to the binary. */
struct binary_variable {
    const char *symbol; /* as linkers write it, NULL = none */
    const char *name; /* as in the source, like the rest NULL when there is no debug information */
    const char *function; /* whose it is, as linkers write it; NULL = nobody's */
    const char *file;
    unsigned line;
    uint64_t offset; /* of what was asked for in it */
};

/* The variable around an address of the file; false: nobody's. */
bool binary_find_data(struct binary *binary, uint64_t address, struct binary_variable *found);

/* The same by the offset from a thread pointer. Only of the program itself, whose TLS lies where
 * its machine (ELF e_machine) says. */
bool binary_find_tls(struct binary *binary, unsigned machine, int64_t offset,
                     struct binary_variable *found);

/* The same of a word on a stack, in the frame of the function around pc whose canonical frame
 * address is cfa. */
bool binary_find_local(struct binary *binary, uint64_t pc, uint64_t cfa, uint64_t address,
                       struct binary_variable *found);

#endif
