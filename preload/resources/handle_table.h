/* handle_table.h - streams, directories, library handles, threads, mapped regions and bad closes:
 * everything that is known by an address, in one pool of records with a hash over (type, address).
 *
 * Places of removed records are used again. When a resource gets an address that is in the table,
 * the old record is replaced: its release was not seen.
 */
#ifndef PRELOAD_RESOURCES_HANDLE_TABLE_H
#define PRELOAD_RESOURCES_HANDLE_TABLE_H

#include "preload/resources/resource_records.h"

#define HANDLES_MAX 65536  /* at one time; the kernel allows as many mappings */
#define BAD_CLOSES_MAX 256 /* call stacks */
#define RELEASES_MAX 1024  /* pairs of stacks */

/* The program has got a resource. False: there was no room, which is counted. */
bool handle_table_add(struct guard *guard, const struct news *news, struct leak_mark mark);

/* Refers to a record: its number, and which use of the place it is. */
struct handle_ref {
    uint64_t id;
    uint32_t number, stamp; /* number 0: the id is unknown */
    int fd;
};
struct handle_ref handle_table_find(enum leak_resource_type type, uint64_t id);
/* Copies a record; false: it is no longer open. */
bool handle_table_get(uint32_t number, struct leak_resource *out);
/* Removes a record, unless its place has another use by now. True: it was there. */
bool handle_table_remove(struct guard *guard, const struct handle_ref *ref);
/* Changes the address of a record. False: the old address is unknown. */
bool handle_table_move(struct guard *guard, enum leak_resource_type type, uint64_t from,
                       uint64_t to);
/* Decrements the count of a library handle, and removes the record with the last one. */
void handle_table_unref(struct guard *guard, const struct handle_ref *ref);

/* Mapped regions, whose address changes when a part is unmapped: by number; 0: no room. */
uint32_t handle_table_add_region(struct guard *guard, const struct leak_resource *like,
                                 uint64_t start, uint64_t size);
void handle_table_set_region(uint32_t number, uint64_t start, uint64_t size);
void handle_table_remove_region(uint32_t number);

/* Counts a correct release by the stacks that opened and released, for those that are left open: of
 * what the same function opens, others are released there. */
void handle_table_add_release(enum leak_resource_type type, const struct leak_mark *opened,
                              const struct leak_mark *closed);
/* Removes a record, as handle_table_remove, and counts its release. */
void handle_table_release(struct guard *guard, const struct handle_ref *ref,
                          const struct leak_mark *closed);

/* Records a close that failed, by the call stack in bad->again. */
void handle_table_add_bad_close(struct guard *guard, const struct leak_resource *bad);

/* Resolves the address of each library handle that is pending. where: 0: it was not loaded. */
void handle_table_resolve_libraries(uint64_t (*where)(const char *name));

void handle_table_fork_child(void);

/* Invariant: every record but a region's is in its bucket or in the free list, once. */
bool handle_table_check(void);

#endif
