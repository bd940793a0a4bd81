/* debug_frame.h - rows of code whose unwind table is for debuggers alone.
 *
 * Code that is compiled with -g and -fno-asynchronous-unwind-tables has its table in .debug_frame,
 * which the loader does not map. It is read from the object's file, whole and once, when a call
 * stack first meets code of the object that .eh_frame does not cover; so most processes never read
 * one. A file that is not the one that was loaded, or whose section is compressed or too large,
 * counts as one without the section.
 *
 * The caller holds the lock of cfi_cache.c.
 */
#ifndef PRELOAD_UNWIND_DEBUG_FRAME_H
#define PRELOAD_UNWIND_DEBUG_FRAME_H

#include "preload/unwind/cfi.h"
#include "preload/interpose/modules.h"

/* The row that applies at pc, as cfi_row_at; module: the object that contains it. */
struct cfi_row debug_frame_row_at(const struct module_view *module, uintptr_t pc);

/* Drops what was read of an object that is unloaded from the range. */
void debug_frame_forget(uintptr_t start, uintptr_t end);

#endif
