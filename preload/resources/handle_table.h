/* handle_table.h - streams, directories, library handles, threads, mapped regions and bad closes:
 * resources that are known by an address, in one array of records with a hash over (type, address).
 *
 * Removed records are used again. When a resource gets an address that is in the table, the old
 * record is replaced: its release was not seen. */
#ifndef PRELOAD_RESOURCES_HANDLE_TABLE_H
#define PRELOAD_RESOURCES_HANDLE_TABLE_H

#include "preload/resources/resource_records.h"

/* The largest number of records at one time, as many as the kernel allows mappings; further
 * resources are only counted. */
#define HANDLES_MAX 65536
/* The largest number of call stacks with bad closes; further ones are not recorded. */
#define BAD_CLOSES_MAX 256
/* The largest number of pairs of a call stack that opened a resource and one that released it;
 * further pairs are not recorded. */
#define RELEASES_MAX 1024

/* Records a resource that the program has opened. False: there was no room; this is counted. */
bool handle_table_add(struct guard *guard, const struct news *news, struct leak_mark mark);

/* Identifies a record: its number, and a stamp that differs when the record was reused for another
 * resource. */
struct handle_ref {
    uint64_t id;
    uint32_t number, stamp; /* number 0: no resource has this id */
    int fd;
};
struct handle_ref handle_table_find(enum leak_resource_type type, uint64_t id);
/* Copies a record. False: its resource is no longer open. */
bool handle_table_get(uint32_t number, struct leak_resource *out);
/* Removes a record, unless it was reused for another resource by now. True: it was removed. */
bool handle_table_remove(struct guard *guard, const struct handle_ref *ref);
/* Changes the address by which a resource is known. False: the old address is unknown. */
bool handle_table_move(struct guard *guard, enum leak_resource_type type, uint64_t from,
                       uint64_t to);
/* Decrements the count of a library handle. When it reaches 0 the record is removed. */
void handle_table_unref(struct guard *guard, const struct handle_ref *ref);

/* Add, change and remove the record of a mapped region. They use its number, because its address
 * changes when a part is unmapped; 0: there was no room. */
uint32_t handle_table_add_region(struct guard *guard, const struct leak_resource *like,
                                 uint64_t start, uint64_t size);
void handle_table_set_region(uint32_t number, uint64_t start, uint64_t size);
void handle_table_remove_region(uint32_t number);

/* Counts a correct release under the pair of call stacks that opened and released the resource. The
 * report about a resource that was left open then says where other resources opened by the same
 * function are released. */
void handle_table_add_release(enum leak_resource_type type, const struct leak_mark *opened,
                              const struct leak_mark *closed);
/* Removes a record as handle_table_remove does, and counts its release. */
void handle_table_release(struct guard *guard, const struct handle_ref *ref,
                          const struct leak_mark *closed);

/* Records a close that failed. Closes from the same call stack (bad->again) share one record. */
void handle_table_add_bad_close(struct guard *guard, const struct leak_resource *bad);

/* Finds the address of each library that was recorded without it. where: returns the address at
 * which a library with this name is loaded; 0: it is not loaded. */
void handle_table_resolve_libraries(uint64_t (*where)(const char *name));

void handle_table_fork_child(void);

/* Says whether the invariant holds: every record but a region's is once in its bucket or once in
 * the free list. */
bool handle_table_check(void);

#endif
