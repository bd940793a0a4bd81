/* binary.h - an ELF file that was mapped into a process, as seen from the report: another process
 * reads it (name_server.h), and its death costs the names of this file only.
 *
 * Strings that these functions return hold until the next call of any of them.
 */
#ifndef COMMON_NAMES_BINARY_H
#define COMMON_NAMES_BINARY_H

#include "common/names/name_process.h"

struct binary; /* lives in the arena of binary_open() */

struct binary *binary_open(struct arena *mem, struct name_process *process,
                           const struct binary_name *name);
void binary_close(struct binary *binary); /* the other process forgets the file */

enum binary_state binary_state(const struct binary *binary);

/* As the functions of elf_binary.h. */
size_t binary_find_frames(struct binary *binary, uint64_t offset,
                          struct dwarf_frame frames[DWARF_INLINE_MAX]);
bool binary_find_data(struct binary *binary, uint64_t address, struct binary_variable *found);
bool binary_find_tls(struct binary *binary, unsigned machine, int64_t offset,
                     struct binary_variable *found);
bool binary_find_local(struct binary *binary, uint64_t pc, uint64_t cfa, uint64_t address,
                       struct binary_variable *found);

#endif
