/* python.h - the Python functions in a call stack.
 *
 * A C frame of CPython's interpreter executes one Python function, or since 3.11 a run of functions
 * that call each other. This module reads them in the process, from the interpreter's own chain of
 * frames, and puts them into a call stack on the inner side of the C frame that executes them.
 *
 * Where fields lie differs between versions of Python; python_runtime.c has a row for each. Nothing
 * is read by such a row before it is verified: the first time that a thread is found in Python code,
 * its whole chain is read through the kernel, and each object in it must have the type that the row
 * expects there. If one has not, frames of Python are left out from then on, and the recording file
 * says so. A debug build or a build without the interpreter lock is refused in this way.
 *
 * What is read afterwards is the chain of the calling thread alone, which no other thread changes.
 * A thread keeps its last chain, because the next one mostly shares its outer frames; only frames
 * that changed are read anew.
 * Functions of Python are called for one answer only, "which is this thread's state": they read a
 * thread-local variable.
 *
 * A program without Python pays nothing: the hooks ask for Python only after an object with an
 * interpreter was seen in a call stack.
 */
#ifndef PRELOAD_PYTHON_PYTHON_H
#define PRELOAD_PYTHON_PYTHON_H

#include "preload/base/reentry_guard.h"
#include "preload/unwind/unwind.h"

#include <link.h>

/* Called for each object that is seen in a call stack for the first time, with the lock of modules.h
 * held. True: it has a Python that can be read, and the process has no other one. */
bool python_find_runtime(const struct link_map *object);
/* Objects in this range were unloaded. Whether Python was among them. */
bool python_forget_runtime(uintptr_t start, uintptr_t end);

/* What a thread keeps: the chain that was read last, a stack under construction, and the numbers of
 * stacks that were met before. */
struct python_thread;

/* Maps it if necessary; NULL: no memory. */
struct python_thread *python_thread_of(struct python_thread **place);
/* Numbers of stacks belong to another recording file from now on. */
void python_thread_clear(struct python_thread *python);

/* Reads the Python frames of the calling thread, at most so many, innermost first. bounds: of its
 * stack; sp: of the hook's caller. False: the thread executes no Python code. */
bool python_read_frames(struct python_thread *python, const struct unwind_bounds *bounds,
                        uintptr_t sp, unsigned limit);
/* The number that python_remember got for the stack of the frames that were read last together with
 * this node of C frames, and a sort; 0: none. */
uint32_t python_find_number(const struct python_thread *python, uint32_t node, unsigned sort);
void python_remember(struct python_thread *python, uint32_t node, unsigned sort, uint32_t number);
/* The trace of C frames with the Python frames that were read last: lives in *python. */
struct unwind_trace *python_merge(struct python_thread *python, const struct unwind_bounds *bounds,
                                  const struct unwind_trace *trace);

/* ---- python_codes.c: what the recording file says of a Python function --------------------------
 *
 * A function is recorded when a stack with it is recorded: the process may end at any moment, and
 * the function before it. Functions are told by their content, so a script that is executed again
 * and again has one record.
 */
/* Copies the records to the child's recording file; false: no memory. */
bool python_codes_fork_child(void);
/* Each record is found under its content. */
bool python_codes_check(void);

#endif
