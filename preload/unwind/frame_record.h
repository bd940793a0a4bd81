/* frame_record.h - decides whether a stack may be followed by a frame record {fp, return address}
 * where code has no unwind table.
 *
 * Such code is what a JIT compiler makes, or a program built without tables, as Chromium is. If it
 * keeps frame records, the register fp leads to the next one; if it does not, fp has any value. So
 * the word that should be the return address is examined: a call instruction must end there, and if
 * the instruction contains the address of the function that it calls, that function has no unwind
 * table either. fp may still be the record of a frame further out, when a function without table
 * and without record was called through a pointer; then the frames between are left out of the
 * stack, and those that it has are right. */
#ifndef PRELOAD_UNWIND_FRAME_RECORD_H
#define PRELOAD_UNWIND_FRAME_RECORD_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"

/* Says whether pc can be a return address in the frame record of code without unwind table. Reads
 * the instruction before pc through the kernel; the answer for pc is cached. */
bool frame_record_returns_to(struct guard *guard, uintptr_t pc);

/* Removes the cached answers for the addresses in (start, end]. */
void frame_record_forget(uintptr_t start, uintptr_t end);

#endif
