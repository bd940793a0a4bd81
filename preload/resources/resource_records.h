/* resource_records.h - the resources besides memory that the program has open: one record for each
 * descriptor, stream, directory, library handle, thread and mapping. The records are in private
 * memory; the recording file has copies.
 *
 * Records stand on pages of 24. Each page has a copy in the file (its twin), which is updated
 * whenever a record changes: first the state is set to 0, then all other members are written, then
 * the state. So a fork child finds in its copy of the private page what was open at the fork,
 * whatever its parent has done since, and a reader of the file finds whole records at any instant.
 *
 * Only this module and the tables above it know the pages: descriptors, handle_table, mmap_regions.
 * Each table has its own lock. The option track= says which types of resources are recorded;
 * with track=none nothing here runs. */
#ifndef PRELOAD_RESOURCES_RESOURCE_RECORDS_H
#define PRELOAD_RESOURCES_RESOURCE_RECORDS_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/lock.h"
#include "leak_store.h"

/* ---- resources.c: all types of resources together -------------------------------------------- */

/* Says whether resources of a type are recorded; none are until the options are read. */
bool resource_is_tracked(enum leak_resource_type type);
/* Switches on recording for a set of types (1 << type); types that are on already stay on. */
void resource_track(uint32_t types);

/* Reads the option track=. */
void resources_start(struct guard *guard);
/* Parses a list such as "fd,file" to a set of types. False: it has an unknown word. */
bool resource_parse_types(const char *list, size_t length, uint32_t *out);
/* At the end of the process: removes the records of descriptors that were closed without libleak
 * seeing it, and does the work of resources_resolve_libraries. */
void resources_sync(void);
/* Finds the address at which each library was loaded that was opened since the last call. */
void resources_resolve_libraries(void);

/* ---- resource_records.c: filling and publishing records -------------------------------------- */

#define RESOURCES_A_PAGE 24

struct resource_record {
    struct leak_resource it;
    /* Counts how often this record was reused. A reference with an older stamp belongs to a
     * resource that no longer exists. */
    uint32_t stamp;
    /* In handle_table.c: number of the next record in the same bucket or in the free list. */
    uint32_t next;
};

struct resource_page {
    /* Copy of the page in the recording file; NULL: the file had no room. */
    struct leak_resource *twin;
    struct resource_record record[RESOURCES_A_PAGE];
};

/* What a hook reports about a resource that its caller has opened. */
struct news {
    enum leak_resource_type type;
    enum leak_sort sort;
    enum leak_name_form name_form;
    unsigned flags;   /* set of enum leak_resource_flag */
    const void *name; /* path of a file or address of a socket; NULL: none */
    size_t length;    /* length of name; 0: a text that ends with a NUL */
    uint64_t id, bytes;
    int fd; /* descriptor of a FILE or DIR; -1: none */
};

/* Creates a page and its twin. NULL: there is no memory. */
struct resource_page *resource_page_create(void);
/* Creates a new twin of a page in a fork child, and marks its open resources as inherited. */
void resource_page_inherit(struct resource_page *page);

/* Fills a record except its member opened. */
void resource_record_fill(struct resource_record *record, const struct news *news);
/* Copies a record to the twin of its page in the file. */
void resource_record_publish(struct resource_page *page, struct resource_record *record);

/* Captures the call stack of the caller. Its node is 0 when there is no memory. The caller must
 * hold no lock. */
struct leak_mark resource_mark_caller(struct guard *guard, const struct frame *caller);

/* Count, in the totals, that a resource was opened or that it could not be recorded. */
void resource_count_opened(enum leak_resource_type type);
void resource_count_missed(void);

/* Says whether the calling process is a vfork child: such a child has descriptors of its own, but
 * shares all memory with its parent and runs as its parent's thread. */
bool resource_is_vfork_child(struct guard *guard);

void resource_records_fork_child(void);

#endif
