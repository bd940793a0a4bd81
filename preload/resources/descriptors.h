/* descriptors.h - the open descriptors, and who closed the others.
 *
 * A descriptor is a small number, so the table is an array of pages indexed by number. A record has
 * what was last known of its number: OPEN with who opened it, or CLOSED with who closed it. The
 * kernel decides, and the record follows. Between a close and its recording another thread may have
 * got the number; therefore a hook reads the stamp of the record before the close, and if it has
 * changed afterwards there is nothing to record.
 *
 * A close of a number that is not open is recorded once for each call stack, with a count. A call
 * stack that closes two different numbers that never were open closes all there are (the loop of a
 * daemon): this is no error.
 */
#ifndef PRELOAD_RESOURCES_DESCRIPTORS_H
#define PRELOAD_RESOURCES_DESCRIPTORS_H

#include "preload/resources/handle_table.h"

#define DESCRIPTORS_MAX (1u << 20) /* higher numbers are not recorded */

/* The start of the process: what is open is inherited from its parent. */
void descriptors_start(struct guard *guard);

/* The program has got a descriptor. news->id is the number; type and fd are filled in. */
void descriptors_add(struct guard *guard, const struct frame *caller, struct news *news);
/* fd is a copy of like. onto: it replaces an open descriptor and keeps that one's owner. */
void descriptors_add_copy(struct guard *guard, const struct frame *caller, int like, int fd,
                          bool onto);
/* The descriptor of a stream or directory, which is reported instead of it. */
void descriptors_add_owned(struct guard *guard, struct leak_mark mark, int fd, uint64_t owner);

/* descriptors_stamp is called before a close, and descriptors_close after the close has
 * succeeded. */
uint64_t descriptors_stamp(int fd);
void descriptors_close(struct guard *guard, const struct frame *caller, int fd, uint64_t stamp);
/* Records close_range: closes all descriptors from first to last. */
void descriptors_close_range(struct guard *guard, const struct frame *caller, unsigned first,
                             unsigned last);
/* Records a close that failed because fd was not open. */
void descriptors_bad_close(struct guard *guard, const struct frame *caller, int fd, uint64_t stamp);
/* A stream or directory is about to close its fd: an error if the fd is no longer its own. */
void descriptors_check_owner(struct guard *guard, const struct frame *caller, int fd,
                             const struct handle_ref *owner);

/* fd belongs to a stream or directory from now on. False: its opening was not seen. */
bool descriptors_set_owner(struct guard *guard, int fd, uint64_t owner);
/* The address to which a socket is bound or connected. */
void descriptors_set_address(struct guard *guard, int fd, const void *address, size_t length,
                             enum leak_name_form sort);
/* Copies the record; false: fd is not known to be open. */
bool descriptors_find(int fd, struct leak_resource *out);

/* Removes what was closed without libleak seeing it. */
void descriptors_sync(void);

void descriptors_fork_child(void);

#endif
