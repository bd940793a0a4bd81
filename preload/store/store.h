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

/* The header page; valid from store_create on, replaced only in a fork child. */
extern struct leak_header *store_header HIDDEN;

/* Creates the recording file. dir: the option, or "". name: the program's file name. Always leaves
 * a usable store_header, in private memory at worst; false only when there is not even memory. */
bool store_create(const char *dir, const char *name, char **envp);
/* Creates the recording file of a fork child, in the directory of the parent's. A child that cannot
 * do that, for it has changed user for example, says nothing: the nearest ancestor with a file
 * counts it. The parent's file stays mapped until store_unmap_parent and must only be read;
 * *parent_size gets its extent. */
bool store_create_child(struct leak_header **parent, uint64_t *parent_size);
void store_unmap_parent(struct leak_header *parent, uint64_t parent_size);
/* Makes the mapping private to this process, in a fork child that cannot create a file yet. */
void store_make_private(void);

/* Makes a chunk with room for payload bytes. Result: the payload, zeroed; it is in private memory
 * when the file has no room; NULL: there is no memory either. Any thread; takes no lock. */
void *store_new_chunk(enum leak_chunk_type type, uint64_t payload, uint64_t first);
/* The same, but NULL when the file has no room; not counted by the arena. */
void *store_new_chunk_in_file(enum leak_chunk_type type, uint64_t payload, uint64_t first);
/* Unpublishes a packed chunk, to write it again. offset: what store_offset_of said. Result: its
 * payload; NULL: the chunk is of another type, or too small. */
void *store_reuse_chunk(enum leak_chunk_type type, uint64_t offset, uint64_t payload);
/* The published content of a packed chunk, at least so many bytes; NULL: it has none. */
const void *store_read_chunk(enum leak_chunk_type type, uint64_t offset, uint64_t least);
/* The mapping of the file; most of it is empty. */
uint64_t store_mapped_size(void);
/* The program has limited its address space to so many bytes: gives back what the file does not
 * need now, but for its share of the limit. */
void store_limit_space(uint64_t limit);
uint64_t store_offset_of(const void *payload);
/* Is that payload in the file, and not in private memory? */
bool store_contains(const void *payload);
/* Makes and publishes a packed chunk (PROCESS, OPTIONS). */
void store_write_chunk(enum leak_chunk_type type, const void *bytes, uint64_t length);
/* Publishes the first length bytes of a payload from store_new_chunk. */
void store_publish(void *payload, uint64_t length);

/* The process is about to restrict itself. Allocates room in the file that the filter would not let
 * it allocate later; filter: NULL, nothing will be allowed. */
struct sandbox_filter;
void store_prepare_restriction(const struct sandbox_filter *filter);

void store_count_untracked(enum leak_untracked why, uint64_t count);
/* Counts a process that leaves no recording of its own, where a report sees it. */
void store_count_process(enum leak_untracked why, int64_t count);
/* Could a program that this process becomes or starts write a recording in the same directory? */
bool store_is_writable(void);
void store_set_flag(enum leak_header_flag flag);
void store_clear_flag(enum leak_header_flag flag);

/* "" when the recording is in private memory. */
const char *store_path(void);
/* The reason why a file cannot be had, for a message. */
const char *store_error_text(int error);

/* ---- process_info.c: what the file says of the process itself -------------------------------- */

/* Program, arguments, directory, options: written at the start and in a fork child. Where the file
 * contains something more than once, the last one counts. */
void process_info_write(void);
/* Records the options again, after one has changed. */
void process_info_write_options(void);

/* The file name of the program, without its folders; points into buffer. */
const char *process_info_program_name(char *buffer, size_t size);

#endif
