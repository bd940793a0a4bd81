/* handle_table.h - streams, directories, library handles, threads, mapped regions and bad closes:
 * all that is known by an address, in one pool of records with a hash over (type, address).
 *
 * Places that are given back are used again. Whatever has been given an address that is known has
 * it now: what was there before is gone without our seeing it.
 */
#ifndef PRELOAD_RESOURCES_HANDLE_TABLE_H
#define PRELOAD_RESOURCES_HANDLE_TABLE_H

#include "preload/resources/resource_records.h"

#define BELONGINGS_MOST 65536   /* at one time; the kernel has as many mappings at most */
#define BELONGINGS_BAD_MOST 256 /* stacks of bad closes */

/* The program has got one. False: there was no room, which is counted. */
bool belongings_came(struct guard *guard, const struct news *news, struct leak_mark mark);

/* Its record, and which use of the place that is. */
struct belonging {
    uint64_t id;
    uint32_t number, stamp; /* number 0: nothing is known */
    int fd;
};
struct belonging belongings_find(enum leak_resource_type type, uint64_t id);
/* All that is known; false: it is gone. */
bool belongings_get(uint32_t number, struct leak_resource *out);
/* It is gone, unless its place is another's by now. True: it was there. */
bool belongings_went(struct guard *guard, const struct belonging *belonging);
/* It is known by another address from here on. False: it is not known by the first one. */
bool belongings_move(struct guard *guard, enum leak_resource_type type, uint64_t from, uint64_t to);
/* DL: one time less; gone with the last. */
void belongings_less(struct guard *guard, const struct belonging *belonging);

/* Mapped regions, whose addresses change with what is left of them: by number, 0 = no room. */
uint32_t belongings_region(struct guard *guard, const struct leak_resource *like, uint64_t start,
                           uint64_t size);
void belongings_region_is(uint32_t number, uint64_t start, uint64_t size);
void belongings_region_went(uint32_t number);

/* A close that failed, by the stack in bad->again. */
void belongings_bad_close(struct guard *guard, const struct leak_resource *bad);

/* Asks of each library that is pending where it is: 0 = it was not loaded. */
void belongings_settle(uint64_t (*where)(const char *name));

void belongings_fork_lock(void);
void belongings_fork_unlock(void);
void belongings_fork_child(void);

/* Every record but a region's is in its bucket or in the list of free ones, once. */
bool belongings_check(void);

#endif
