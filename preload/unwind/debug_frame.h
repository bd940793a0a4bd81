/* debug_frame.h - finds the CFI rows of code that has an unwind table only for debuggers.
 *
 * Code that is compiled with -g and -fno-asynchronous-unwind-tables has its table in .debug_frame,
 * which the loader does not map. libleak reads it from the object's file, all at once, when a call
 * stack contains code of the object without an entry in .eh_frame for the first time; so most
 * processes never read one. The section is ignored if it is compressed or too large, or if the file
 * is not the one that was loaded.
 *
 * The caller holds the lock of cfi_cache.c. */
#ifndef PRELOAD_UNWIND_DEBUG_FRAME_H
#define PRELOAD_UNWIND_DEBUG_FRAME_H

#include "preload/unwind/cfi.h"
#include "preload/interpose/modules.h"

/* Finds the CFI row for pc in .debug_frame. module: the object that contains pc. */
struct cfi_row debug_frame_row_at(const struct module_view *module, uintptr_t pc);

/* Frees what was read from .debug_frame for objects in this range, which are being unloaded. */
void debug_frame_forget(uintptr_t start, uintptr_t end);

#endif
