/* binary.h - an ELF file that was mapped into a process, as the report uses it. Another process,
 * the name process, reads the file (name_server.h). If it crashes on the file, only the names of
 * this file are lost.
 *
 * Strings that these functions return are valid until the next call of any of these functions.
 */
#ifndef COMMON_NAMES_BINARY_H
#define COMMON_NAMES_BINARY_H

#include "common/names/name_process.h"
#include "common/names/type_requests.h"

struct binary;

struct binary *binary_open(struct arena *mem, struct name_process *process,
                           const struct binary_name *name);
/* Lets the name process forget the file. */
void binary_close(struct binary *binary);

enum binary_state binary_state(const struct binary *binary);

/* These functions return what the functions with the same names in elf_binary.h find. */
size_t binary_find_frames(struct binary *binary, uint64_t offset,
                          struct dwarf_frame frames[DWARF_INLINE_MAX]);
bool binary_find_data(struct binary *binary, uint64_t address, struct binary_variable *found);
bool binary_find_tls(struct binary *binary, unsigned machine, int64_t offset,
                     struct binary_variable *found);
bool binary_find_local(struct binary *binary, uint64_t pc, uint64_t cfa, uint64_t address,
                       struct binary_variable *found);

/* Finds the function that by its name undoes what `maker` does, a demangled name, among those of
 * the unit around an offset in the file. False: there is none. */
bool binary_find_counterpart(struct binary *binary, uint64_t offset, const char *maker,
                             struct dwarf_frame *found);

/* ---- Types -----------------------------------------------------------------------------------
 *
 * When the name process dies of a question about types, no more types of that file are asked
 * for, but names still are. */

/* Find the type of a block like block_type_find() and block_type_find_class() of
 * common/typeinfo/block_type.h. False: no type was found. */
bool binary_find_type(struct binary *binary, const struct block_question *question,
                      struct block_type_found *found);
bool binary_find_class(struct binary *binary, const char *name,
                       const struct block_question *question, struct block_type_found *found);

/* Finds the calls that get a block as an argument, in the function that contains question->address, behind
 * the call there, which returns the block. False: unknown. */
bool binary_find_calls(struct binary *binary, const struct block_question *question,
                       struct passing_calls *found);

/* Says whether the type `id` fits a block, like block_type_fit() of block_type.h. False: it does
 * not fit, or that cannot be found out. */
bool binary_fit_type(struct binary *binary, struct type_id id,
                     const struct block_question *question, struct block_type_found *found);
/* Names the pointers of a path that begins in a variable, like type_path_find() of
 * common/typeinfo/type_path.h. steps[0].offset is not used: the name process finds where `root`
 * lies in the variable. Returns how many steps found[] has; 0 = no step has a name. */
size_t binary_find_path(struct binary *binary, const struct variable_location *root,
                        const struct type_step *steps, size_t count, struct type_step_found *found);

/* Finds the fields of a structure, ascending by offset. Returns their number; 0 = unknown. */
size_t binary_find_fields(struct binary *binary, struct type_id id,
                          struct named_field fields[TYPE_FIELDS_MOST]);
/* The name of a value of an enumeration; NULL = none. */
const char *binary_find_enumerator(struct binary *binary, struct type_id id, int64_t value);

#endif
