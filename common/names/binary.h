/* binary.h - an ELF file that was mapped into a process, as seen from the report: another process
 * reads it (name_server.h), and its death costs the names of this file only.
 *
 * Strings that these functions return hold until the next call of any of them.
 */
#ifndef COMMON_NAMES_BINARY_H
#define COMMON_NAMES_BINARY_H

#include "common/names/name_process.h"
#include "common/names/type_requests.h"

struct binary; /* lives in the arena of binary_open() */

struct binary *binary_open(struct arena *mem, struct name_process *process,
                           const struct binary_name *name);
void binary_close(struct binary *binary); /* the other process forgets the file */

enum binary_state binary_state(const struct binary *binary);

/* These functions answer like those with the same names in elf_binary.h. */
size_t binary_find_frames(struct binary *binary, uint64_t offset,
                          struct dwarf_frame frames[DWARF_INLINE_MAX]);
bool binary_find_data(struct binary *binary, uint64_t address, struct binary_variable *found);
bool binary_find_tls(struct binary *binary, unsigned machine, int64_t offset,
                     struct binary_variable *found);
bool binary_find_local(struct binary *binary, uint64_t pc, uint64_t cfa, uint64_t address,
                       struct binary_variable *found);

/* ---- Types -----------------------------------------------------------------------------------
 *
 * When the process dies of such a question, the file has no types any more but keeps its names. */

/* These functions answer like block_type_find() and block_type_find_class(). False: nothing is
 * known. */
bool binary_find_type(struct binary *binary, const struct block_question *question,
                      struct block_type_found *found);
bool binary_find_class(struct binary *binary, const char *name,
                       const struct block_question *question, struct block_type_found *found);

/* Answers like block_type_fit(). */
bool binary_fit_type(struct binary *binary, struct type_id id,
                     const struct block_question *question, struct block_type_found *found);
/* Answers like type_path_find(), except that root knows steps[0].offset, which the caller leaves
 * out. Returns how many of the steps follow found[]; 0 = nothing is known. */
size_t binary_find_path(struct binary *binary, const struct variable_location *root,
                        const struct type_step *steps, size_t count, struct type_step_found *found);

/* The fields of a structure, by their place in it; 0 = unknown. */
size_t binary_find_fields(struct binary *binary, struct type_id id,
                          struct named_field fields[TYPE_FIELDS_MOST]);
/* The name of a value of an enumeration; NULL = none. */
const char *binary_find_enumerator(struct binary *binary, struct type_id id, int64_t value);

#endif
