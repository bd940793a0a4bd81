/* mmap_regions.h - memory that the program has mapped itself, by range.
 *
 * munmap may take away many mappings at once, or a piece out of the middle of one; what is left
 * keeps the stack that mapped it. The lock is held while the kernel unmaps, or another thread could
 * be given the addresses before they are taken off the list.
 */
#ifndef PRELOAD_RESOURCES_MMAP_REGIONS_H
#define PRELOAD_RESOURCES_MMAP_REGIONS_H

#include "preload/resources/resource_records.h"

bool regions_start(void);

/* fd: what was mapped, -1 = nothing but memory. Whatever was there before is gone. */
void regions_came(struct guard *guard, const struct frame *caller, uintptr_t start, size_t size,
                  int fd);

/* Around munmap and mremap. */
struct locked regions_hold(struct guard *guard);
void regions_went(struct guard *guard, uintptr_t start, size_t size);
/* mremap has moved or resized what was at `from`. Keeps the stack that mapped it; what was not
 * known before has the caller's. copy: what was at `from` is still there. */
void regions_moved(struct guard *guard, struct leak_mark mark, uintptr_t from, size_t from_size,
                   uintptr_t to, size_t to_size, bool copy);
void regions_let_go(struct locked *held);

void regions_fork_lock(void);
void regions_fork_unlock(void);
void regions_fork_child(void);

#endif
