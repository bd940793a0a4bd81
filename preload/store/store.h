/* store.h - the process's account on disk: created once, mapped once, grown chunk by chunk.
 *
 * The file is sparse and large from the start, and its descriptor is closed at once: the program
 * may close or reuse any number. Growing means populating pages with MADV_POPULATE_WRITE, which
 * answers a full disk with an error where a plain store would raise SIGBUS. Without a usable file
 * the same layout lives in private memory, and a line says so: the program never notices.
 *
 * Layout: include/leak_store.h. This file knows pages and chunks, not what stands in them.
 */
#ifndef PRELOAD_STORE_STORE_H
#define PRELOAD_STORE_STORE_H

#include "preload/base/base.h"
#include "leak_store.h"

/* The header page; valid from store_create on, replaced only in a fork child. */
extern struct leak_header *store_header HIDDEN;

/* dir: the option, or "". name: the program's file name. Always leaves a working store_header
 * (private memory at worst); false only when not even that could be had. */
bool store_create(const char *dir, const char *name, char **envp);
/* In a fork child: a store of its own in the same directory. The parent's stays mapped, read-only
 * by agreement, until store_forget; *parent_size gets its extent. */
bool store_create_child(struct leak_header **parent, uint64_t *parent_size);
void store_forget(struct leak_header *parent, uint64_t parent_size);
/* In a fork child that cannot wait for that: what it writes from here on stays its own. */
void store_detach(void);

/* A new chunk with room for payload bytes; the payload, zeroed. Private memory when the store has
 * no room; NULL when there is none at all. Any thread; takes no lock. */
void *store_chunk(enum leak_chunk_type type, uint64_t payload, uint64_t first);
/* The same, but in the store or nowhere, and without a lock. */
void *store_chunk_in_file(enum leak_chunk_type type, uint64_t payload, uint64_t first);
/* A packed chunk that was published before is written anew: its payload, unpublished, if it is of
 * that type and so much fits; else NULL. Its place is where store_place said. */
void *store_chunk_again(enum leak_chunk_type type, uint64_t place, uint64_t payload);
uint64_t store_place(const void *payload);
/* Is that payload in the store, and not in private memory? */
bool store_holds(const void *payload);
/* A packed chunk (PROCESS, OPTIONS) in one go. */
void store_put(enum leak_chunk_type type, const void *bytes, uint64_t length);
/* Publishes the first length bytes of a payload from store_chunk. */
void store_publish(void *payload, uint64_t length);

void store_untracked(enum leak_untracked why, uint64_t count);
void store_flag(enum leak_header_flag flag);
void store_unflag(enum leak_header_flag flag);

/* "" when the account is in private memory. */
const char *store_path(void);
/* Why a file cannot be had, in words. */
const char *store_reason(int error);

#endif
