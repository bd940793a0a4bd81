/* python.h - adds the Python functions to call stacks.
 *
 * A C frame of CPython's interpreter executes one Python function, or since 3.11 a run of functions
 * that call each other. This module reads them in the process, from the interpreter's own chain of
 * frames, and puts them into a call stack on the inner side of the C frame that executes them.
 *
 * The offsets of fields differ between versions of Python; python_layout.h has a row for each
 * version. A row is verified before it is used: the first time that a thread is found in Python
 * code, its whole chain is read through the kernel, and each object in it must have the type that
 * the row expects there. If an object has another type, call stacks contain no Python frames from
 * then on, and the recording file says so. A debug build or a build without the interpreter lock is
 * refused in this way.
 *
 * After that only the chain of the calling thread is read, which no other thread changes. A thread
 * keeps its last chain, because the next one mostly shares its outer frames; only frames that
 * changed are read anew. The module calls only those functions of Python that return the state of
 * the calling thread; they read a thread-local variable.
 *
 * A program without Python pays nothing: the hooks ask for Python only after an object with an
 * interpreter was seen in a call stack. */
#ifndef PRELOAD_PYTHON_PYTHON_H
#define PRELOAD_PYTHON_PYTHON_H

#include "preload/base/reentry_guard.h"
#include "preload/unwind/unwind.h"

#include <link.h>

/* Looks for Python in an object that occurs in a call stack for the first time; the caller holds
 * the lock of modules.h. True: the object has a Python whose layout is known, and it is the first
 * one in this process. */
bool python_find_runtime(const struct link_map *object);
/* Forgets a Python in unloaded objects, which were in this range. True: there was one. */
bool python_forget_runtime(uintptr_t start, uintptr_t end);

/* The state of a thread: the chain of Python frames that was read last, a stack under construction,
 * and the numbers of stacks that were recorded before. */
struct python_thread;

/* Returns the state at *place, and maps memory for it if necessary. NULL: there is no memory. */
struct python_thread *python_thread_of(struct python_thread **place);
/* Forgets the numbers of stacks, because another recording file is in use now. */
void python_thread_clear(struct python_thread *python);

/* Reads the Python frames of the calling thread, innermost first, at most limit. bounds: where
 * the thread's stack begins and ends. sp: stack pointer of the hook's caller. False: the thread
 * executes no Python code. */
bool python_read_frames(struct python_thread *python, const struct unwind_bounds *bounds,
                        uintptr_t sp, unsigned limit);
/* Finds the number of a stack: the Python frames that were read last, the C frames of node, and a
 * sort (kind and tag). 0: python_remember has not stored it. */
uint32_t python_find_number(const struct python_thread *python, uint32_t node, unsigned sort);
void python_remember(struct python_thread *python, uint32_t node, unsigned sort, uint32_t number);
/* Merges a trace of C frames with the Python frames that were read last. The result is part of
 * *python. */
struct unwind_trace *python_merge(struct python_thread *python, const struct unwind_bounds *bounds,
                                  const struct unwind_trace *trace);

/* ---- python_codes.c: what the recording file says of a Python function --------------------------
 *
 * A function is recorded when a stack with it is recorded: the process may end at any moment, and
 * the function before it. Functions with equal content share a record, so a script that is executed
 * again and again has one record. */
/* Copies the records to the recording file of a fork child. False: there is no memory. */
bool python_codes_fork_child(void);
/* Says whether the invariant holds: each record is found by the hash of its content. */
bool python_codes_check(void);

#endif
