/* address_kind.h - what lies at an address that is no block's.
 *
 * Only what certainly never came from an allocator has a name: a stack, the code or data of an
 * object, or no memory at all. Whatever else is mapped may be the heap of somebody who passes us
 * by, and has none. Nothing is read at the address but by the kernel's leave.
 */
#ifndef PRELOAD_MISUSE_ADDRESS_KIND_H
#define PRELOAD_MISUSE_ADDRESS_KIND_H

#include "preload/heap/threads.h"

/* thread: the calling one's state, or NULL. LEAK_PLACE_NONE: maybe a block. */
enum leak_place strays_place(const struct thread *thread, uintptr_t address);

#endif
