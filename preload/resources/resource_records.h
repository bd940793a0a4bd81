/* resource_records.h - what is open besides memory: one record for each descriptor, stream,
 * directory, library handle, thread and mapping. The records are private; the recording file has
 * copies.
 *
 * Records stand on pages of 24. Each page has a twin in the file, to which a record is copied
 * whenever it changes: state 0, the rest, then the state. So a fork child finds in its copy of the
 * private page what was open at the fork, whatever its parent has done since, and a reader of the
 * file finds whole records at any instant.
 *
 * Only this module and the tables above it know the pages: descriptors, handle_table, mmap_regions.
 * Each table has its own lock. The option track= says which of them are kept; with none of them
 * nothing here runs.
 */
#ifndef PRELOAD_RESOURCES_RESOURCE_RECORDS_H
#define PRELOAD_RESOURCES_RESOURCE_RECORDS_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/lock.h"
#include "leak_store.h"

/* ---- All tables: resources.c ----------------------------------------------------------------- */

/* None until the options are read. */
bool resource_is_tracked(enum leak_resource_type type);
/* A set of bits; those that are set already stay. */
void resource_track(uint32_t types);

/* Reads the option track=. */
void resources_start(struct guard *guard);
/* "fd,file" to bits; false: it has an unknown word. */
bool resource_parse_types(const char *list, size_t length, uint32_t *out);
/* Removes what was closed without libleak seeing it, and resolves the libraries, at the end of the
 * process. */
void resources_sync(void);
/* Finds the addresses of the libraries that were opened since. */
void resources_resolve_libraries(void);

/* ---- Records: resource_records.c ------------------------------------------------------------- */

#define RESOURCES_A_PAGE 24

struct resource_record {
    struct leak_resource it;
    uint32_t stamp; /* which use of this place it is: 0, 1, 2 ... */
    uint32_t next;  /* handle_table: number of the next one of the bucket, or of the free list */
};

struct resource_page {
    struct leak_resource *twin; /* in the file; NULL: it had no room */
    struct resource_record record[RESOURCES_A_PAGE];
};

/* What a hook knows of a resource that its caller has got. */
struct news {
    enum leak_resource_type type;
    enum leak_sort sort;
    enum leak_name_form name_form;
    unsigned flags;   /* enum leak_resource_flag */
    const void *name; /* NULL: none */
    size_t length;    /* of a sockaddr; TEXT: 0: up to its NUL */
    uint64_t id, bytes;
    int fd; /* of a FILE or DIR; -1: none */
};

/* Creates a page and its twin; NULL without memory. */
struct resource_page *resource_page_create(void);
/* Creates the twin of a page in a fork child, and marks the records as inherited. */
void resource_page_inherit(struct resource_page *page);

/* Fills a record except `opened`. */
void resource_record_fill(struct resource_record *record, const struct news *news);
/* Copies a record to the file. */
void resource_record_publish(struct resource_page *page, struct resource_record *record);

/* Captures the call stack of the caller; node 0 without memory. Hold no lock when calling. */
struct leak_mark resource_mark_caller(struct guard *guard, const struct frame *caller);

/* The totals: a resource was opened, or could not be recorded. */
void resource_count_opened(enum leak_resource_type type);
void resource_count_missed(void);

/* Says whether this is a vfork child: it has descriptors of its own, but shares all memory with its
 * parent and runs as its parent's thread. */
bool resource_is_vfork_child(struct guard *guard);

void resource_records_fork_child(void);

#endif
