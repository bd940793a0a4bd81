/* descriptors.h - the descriptors that are open, and who closed the others.
 *
 * A descriptor is a small number, so the table is an array of pages by number; a place keeps what
 * was last known of its number: OPEN with who opened it, or CLOSED with who closed it. The kernel
 * decides: what it did is written down afterwards. Between a close and our writing it down another
 * thread may have been given the number, so who closes asks for the place's stamp first, and when
 * it has changed by then there is nothing to write.
 *
 * A close of a number that is not open is kept under its own stack, once, with a count. A stack
 * that closes two different numbers that never were open closes all there are (a daemon's loop):
 * that is no mistake.
 */
#ifndef PRELOAD_RESOURCES_DESCRIPTORS_H
#define PRELOAD_RESOURCES_DESCRIPTORS_H

#include "preload/resources/handle_table.h"

#define DESCRIPTORS_MOST (1u << 20) /* numbers above are not told */

/* The process begins: what is open is its parent's. */
void descriptors_start(struct guard *guard);

/* The program has got one. news->id is the number; type and fd are filled in. */
void descriptors_came(struct guard *guard, const struct frame *caller, struct news *news);
/* One like another. onto: in the place of what had the number, whose owner keeps it. */
void descriptors_came_like(struct guard *guard, const struct frame *caller, int like, int fd,
                           bool onto);
/* A stream's or directory's own, told with that. */
void descriptors_came_with(struct guard *guard, struct leak_mark mark, int fd, uint64_t owner);

/* Before a close; and after it has succeeded. */
uint64_t descriptors_stamp(int fd);
void descriptors_went(struct guard *guard, const struct frame *caller, int fd, uint64_t stamp);
/* close_range: all from first to last. */
void descriptors_range_went(struct guard *guard, const struct frame *caller, unsigned first,
                            unsigned last);
/* It was not open. */
void descriptors_bad(struct guard *guard, const struct frame *caller, int fd, uint64_t stamp);
/* A stream or directory is about to close its own: is it still? */
void descriptors_check_owner(struct guard *guard, const struct frame *caller, int fd,
                             const struct belonging *owner);

/* It belongs to a stream or directory from here on. False: it came without our seeing it. */
bool descriptors_own(struct guard *guard, int fd, uint64_t owner);
/* Where a socket leads to. */
void descriptors_address(struct guard *guard, int fd, const void *address, size_t length,
                         enum leak_name_form sort);
/* A copy of what is known of it; false: it is not known to be open. */
bool descriptors_find(int fd, struct leak_resource *out);

/* The end: what was closed without our seeing it is not open. */
void descriptors_settle(void);

void descriptors_fork_lock(void);
void descriptors_fork_unlock(void);
void descriptors_fork_child(void);

#endif
