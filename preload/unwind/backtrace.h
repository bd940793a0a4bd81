/* backtrace.h - a call stack in plain text, for programs with a handler of their own.
 *
 *     #0  0x00005563772bd826 compute+0x16 (/usr/bin/tool+0x1826)
 *
 * The last number is what addr2line and leakreport's names are looked up by (less 1 from #1 on:
 * these are return addresses). Works with whatever lock is held: memory comes from the kernel and
 * goes back to it, names from what objects export (dynsym_name.h).
 */
#ifndef PRELOAD_UNWIND_BACKTRACE_H
#define PRELOAD_UNWIND_BACKTRACE_H

#include "preload/base/base.h"

/* context: a ucontext_t, or NULL: from caller on. */
void backtrace_write(const void *context, const struct frame *caller, int fd);

#endif
