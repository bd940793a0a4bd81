/* store.h - the recording file of the process: created once, mapped once, grown chunk by chunk.
 *
 * The file is sparse and has its full size from the start. Its descriptor is closed at once,
 * because the program may close or reuse any descriptor. Growing means populating pages with
 * MADV_POPULATE_WRITE, which reports a full disk as an error where writing to memory would raise
 * SIGBUS. Without a usable file the same layout is kept in private memory, and one line says so;
 * the program is not affected.
 *
 * Layout: include/leak_store.h. This module knows pages and chunks, not their contents.
 */
#ifndef PRELOAD_STORE_STORE_H
#define PRELOAD_STORE_STORE_H

#include "preload/base/base.h"
#include "leak_store.h"

/* The mapped header page of the recording file; valid from store_create on, replaced only in a fork
 * child. */
extern struct leak_header *store_header HIDDEN;

/* Creates the recording file. dir: the value of the option dir, may be "". name: the program's file
 * name. Without a usable file the recording goes to private memory; returns false only when there
 * is not even memory. */
bool store_create(const char *dir, const char *name, char **envp);
/* Creates the recording file of a fork child, in the parent's directory. When that fails, for
 * example because the child has changed its user, the nearest ancestor with a file counts the
 * child; a line says so only with the option verbosity. The parent's file stays mapped until
 * store_unmap_parent and must only be read; *parent_size: size of its mapping. */
bool store_create_child(struct leak_header **parent, uint64_t *parent_size);
void store_unmap_parent(struct leak_header *parent, uint64_t parent_size);
/* Makes the mapping of the parent's file private to a fork child that cannot create its own file
 * yet. */
void store_make_private(void);

/* Makes a chunk with room for payload bytes and returns the zeroed payload. It is in private memory
 * when the file has no room. NULL: there is no memory either. Any thread may call it; it takes no
 * lock. */
void *store_new_chunk(enum leak_chunk_type type, uint64_t payload, uint64_t first);
/* Makes a chunk in the file. NULL: the file has no room. The arena does not count it. */
void *store_new_chunk_in_file(enum leak_chunk_type type, uint64_t payload, uint64_t first);
/* Empties a chunk, so that it can be written again. offset: result of store_offset_of. Returns its
 * payload; NULL: the chunk has another type, or is too small. */
void *store_reuse_chunk(enum leak_chunk_type type, uint64_t offset, uint64_t payload);
/* Returns the published content of a chunk; NULL: it has another type, or less than "least"
 * bytes. */
const void *store_read_chunk(enum leak_chunk_type type, uint64_t offset, uint64_t least);
/* Returns the size of the file's mapping; most of it is empty. */
uint64_t store_mapped_size(void);
/* Shrinks the mapping after the program has limited its address space to limit bytes: to a small
 * share of the limit, but not below what the file uses. */
void store_limit_space(uint64_t limit);
uint64_t store_offset_of(const void *payload);
/* Says whether a payload is in the file, not in private memory. */
bool store_contains(const void *payload);
/* Makes and publishes a chunk with these bytes. */
void store_write_chunk(enum leak_chunk_type type, const void *bytes, uint64_t length);
/* Publishes the first length bytes of a payload from store_new_chunk. */
void store_publish(void *payload, uint64_t length);

/* Allocates pages of the file before the process enters a sandbox, if the filter would forbid doing
 * it later. filter: NULL, the sandbox is not a filter and may forbid everything. */
struct sandbox_filter;
void store_prepare_restriction(const struct sandbox_filter *filter);

void store_count_untracked(enum leak_untracked why, uint64_t count);
/* Counts a process that leaves no recording file, in the recording file of this process or of its
 * nearest ancestor with one. */
void store_count_process(enum leak_untracked why, int64_t count);
/* Says whether a program that this process executes or starts could write a recording file to the
 * same directory. */
bool store_is_writable(void);
void store_set_flag(enum leak_header_flag flag);
void store_clear_flag(enum leak_header_flag flag);

/* Returns the path of the recording file; "" when the recording is in private memory. */
const char *store_path(void);
/* Returns words for a negative errno that says why a file cannot be created, for a message. */
const char *store_error_text(int error);

/* ---- process_info.c: what the file says of the process itself -------------------------------- */

/* Records program, arguments, directory and options; at the start and again in a fork child. A
 * reader uses the last of several chunks of a type. */
void process_info_write(void);
/* Records the options again after the program has changed one. */
void process_info_write_options(void);

/* Returns the file name of the program, without its folders; it points into buffer. */
const char *process_info_program_name(char *buffer, size_t size);

#endif
