/* resource_records.h - what is open besides memory, one record each; the truth is private, the
 * store a copy.
 *
 * Records stand on pages of 24. Each page has a twin in the store, to which a record is written
 * through whenever it changes: state 0, the rest, the state. So a fork child finds in its copy of
 * the private page what was open when it was made, whatever its parent has done since, and a reader
 * finds whole records at any instant.
 *
 * Nobody but this file and the tables above it (descriptors, belongings, regions) knows the pages;
 * each table has its own lock.
 */
#ifndef PRELOAD_RESOURCES_RESOURCE_RECORDS_H
#define PRELOAD_RESOURCES_RESOURCE_RECORDS_H

#include "preload/base/atomic.h"
#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/lock.h"
#include "leak_store.h"

#define RECORDS_A_PAGE 24

/* Bits by enum leak_resource_type; 0 until the options are known. */
extern uint32_t records_tracked HIDDEN;

static inline bool records_track(enum leak_resource_type type)
{
    return unlikely(records_tracked >> type & 1);
}

/* "fd,file" to bits; false: a word that is none of them. */
bool records_read_types(const char *list, size_t length, uint32_t *out);

struct record {
    struct leak_resource it;
    uint32_t stamp; /* which use of this place it is: 0, 1, 2 ... */
    uint32_t next;  /* belongings: number of the next of the bucket, or of the free ones */
};

struct record_page {
    struct leak_resource *twin; /* in the store; NULL = it had no room */
    struct record record[RECORDS_A_PAGE];
};

/* What a hook knows of a resource that its caller got. */
struct news {
    enum leak_resource_type type;
    enum leak_sort sort;
    enum leak_name_form name_form;
    unsigned flags;   /* enum leak_resource_flag */
    const void *name; /* NULL = none */
    size_t length;    /* of a sockaddr; TEXT: 0 = up to its NUL */
    uint64_t id, bytes;
    int fd; /* of a FILE or DIR, -1 = none */
};

/* A page and its twin; NULL without memory. */
struct record_page *records_make_page(void);
/* Fork child: a twin of its own, and who handed them down said. */
void records_inherit_page(struct record_page *page);

/* Fills a record but for what stands in `opened`. */
void records_fill(struct record *record, const struct news *news);
/* To the store, as it is. */
void records_publish(struct record_page *page, struct record *record);

/* Who is at it: the caller's stack. Node 0 when there is no memory. Take no lock before. */
struct leak_mark records_mark(struct guard *guard, const struct frame *caller);

/* The totals. */
void records_count(enum leak_resource_type type);
void records_missed(void);

/* True in a vfork child, which has descriptors of its own and everything else in common with its
 * parent, as whose thread it runs. */
bool records_foreign(struct guard *guard);

void records_fork_lock(void);
void records_fork_unlock(void);
void records_fork_child(void);

#endif
