/* descriptors.h - records who opened each open descriptor, and who closed the others.
 *
 * A descriptor is a small number, so the table is an array of pages indexed by number. A record
 * says what happened last to its number: OPEN with the call stack that opened it, or CLOSED with
 * the one that closed it. A hook records what the kernel has done. Between a close and its
 * recording another thread may have got the number; therefore a hook reads the stamp of the record
 * before the close, and records the close only if the stamp is unchanged afterwards.
 *
 * A close of a number that is not open is recorded once for each call stack, with a count. A call
 * stack that closes two different numbers that were never open is a loop that closes all numbers,
 * as daemons do: this is no error. */
#ifndef PRELOAD_RESOURCES_DESCRIPTORS_H
#define PRELOAD_RESOURCES_DESCRIPTORS_H

#include "preload/resources/handle_table.h"

#define DESCRIPTORS_MAX (1u << 20) /* descriptors with higher numbers are not recorded */

/* Records the descriptors that are open when the process starts, as inherited from its parent. */
void descriptors_start(struct guard *guard);

/* Records a descriptor that the program has opened. news->id is its number; the function sets type
 * and fd itself. */
void descriptors_add(struct guard *guard, const struct frame *caller, struct news *news);
/* Records that fd is now a copy of the descriptor "like". onto: fd has replaced an open descriptor,
 * and keeps the owner of that descriptor. */
void descriptors_add_copy(struct guard *guard, const struct frame *caller, int like, int fd,
                          bool onto);
/* Records the descriptor that a new stream or directory has opened: leaks are reported for this
 * owner, not for the descriptor. */
void descriptors_add_owned(struct guard *guard, struct leak_mark mark, int fd, uint64_t owner);

/* Record a close. descriptors_stamp is called before it; its result is passed to descriptors_close
 * if the close has succeeded. */
uint64_t descriptors_stamp(int fd);
void descriptors_close(struct guard *guard, const struct frame *caller, int fd, uint64_t stamp);
/* Records a call of close_range, which has closed all descriptors from first to last. */
void descriptors_close_range(struct guard *guard, const struct frame *caller, unsigned first,
                             unsigned last);
/* Records a close that failed because fd was not open. */
void descriptors_bad_close(struct guard *guard, const struct frame *caller, int fd, uint64_t stamp);
/* Called when a stream or directory is about to close its descriptor: records an error if the
 * descriptor belongs to another owner by now. */
void descriptors_check_owner(struct guard *guard, const struct frame *caller, int fd,
                             const struct handle_ref *owner);

/* Records that fd belongs to a stream or directory. False: libleak did not see how fd was
 * opened. */
bool descriptors_set_owner(struct guard *guard, int fd, uint64_t owner);
/* Records the address to which a socket is bound or connected. */
void descriptors_set_address(struct guard *guard, int fd, const void *address, size_t length,
                             enum leak_name_form sort);
/* Copies the record of a descriptor. False: libleak does not know that fd is open. */
bool descriptors_find(int fd, struct leak_resource *out);

/* Removes the records of descriptors that were closed without libleak seeing it. */
void descriptors_sync(void);

void descriptors_fork_child(void);

#endif
