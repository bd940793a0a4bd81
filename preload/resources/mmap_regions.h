/* mmap_regions.h - records the memory that the program has mapped with mmap, by address range.
 *
 * One call of munmap may remove many mappings, or a piece out of the middle of one; the records of
 * the remaining pieces keep the call stack that mapped them. A hook holds the lock while the kernel
 * unmaps: otherwise another thread could get the addresses before they are removed from the
 * table. */
#ifndef PRELOAD_RESOURCES_MMAP_REGIONS_H
#define PRELOAD_RESOURCES_MMAP_REGIONS_H

#include "preload/resources/resource_records.h"

bool mmap_regions_start(void);

/* Records a mapping, and removes the records of mappings that it replaces. fd: the mapped file, -1
 * for anonymous memory. */
void mmap_regions_add(struct guard *guard, const struct frame *caller, uintptr_t start, size_t size,
                      int fd);

/* Takes the lock of the regions; the hooks of munmap and mremap hold it during the real call. */
struct locked mmap_regions_lock(struct guard *guard);
void mmap_regions_remove(struct guard *guard, uintptr_t start, size_t size);
/* Records that mremap has moved or resized the region at `from`, which keeps the call stack that
 * mapped it. A region that libleak did not know gets mark, the caller's stack. copy: the region at
 * `from` remains. */
void mmap_regions_move(struct guard *guard, struct leak_mark mark, uintptr_t from, size_t from_size,
                       uintptr_t to, size_t to_size, bool copy);
void mmap_regions_unlock(struct locked *held);

void mmap_regions_fork_child(void);

#endif
