/* mmap_regions.h - memory that the program has mapped itself, by range.
 *
 * munmap may remove many mappings at once, or a piece out of the middle of one; the rest keeps the
 * call stack that mapped it. The lock is held while the kernel unmaps. Otherwise another thread
 * could get the addresses before they are removed from the table.
 */
#ifndef PRELOAD_RESOURCES_MMAP_REGIONS_H
#define PRELOAD_RESOURCES_MMAP_REGIONS_H

#include "preload/resources/resource_records.h"

bool mmap_regions_start(void);

/* Records a mapping, in place of what was mapped there before. fd: the mapped file, -1 for
 * anonymous memory. */
void mmap_regions_add(struct guard *guard, const struct frame *caller, uintptr_t start, size_t size,
                      int fd);

/* Locks the regions around munmap and mremap. */
struct locked mmap_regions_lock(struct guard *guard);
void mmap_regions_remove(struct guard *guard, uintptr_t start, size_t size);
/* mremap has moved or resized the region at `from`, which keeps the call stack that mapped it; an
 * unknown region gets the caller's. copy: the region at `from` remains. */
void mmap_regions_move(struct guard *guard, struct leak_mark mark, uintptr_t from, size_t from_size,
                       uintptr_t to, size_t to_size, bool copy);
void mmap_regions_unlock(struct locked *held);

void mmap_regions_fork_child(void);

#endif
