/* frame_class.h - whose code is this frame, and is this block the runtime's own?
 *
 * Tables of module names and function names. Two questions: a frame's role (user, runtime,
 * allocator) decides which frame a record is about; a whole trace decides whether the block is one
 * that the C or C++ runtime keeps for the life of the process (verdict "runtime").
 */
#ifndef COMMON_NAMES_FRAME_CLASS_H
#define COMMON_NAMES_FRAME_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/model/model.h"

/* Each may be NULL. file: where the function's line is, which tells headers of libraries. */
enum frame_role classify_frame(const char *module, const char *function, const char *file);

/* By its name it frees what it is given: xfree and g_free, but node_free as well. */
bool classify_gives_back(const char *function);

/* The C and C++ libraries, the loader and libleak itself. */
bool classify_runtime_module(const char *module);

/* libleak's own. */
bool classify_own_frame(const struct frame *frame);

/* Frames innermost first; bytes per block, for the one pool that is known by its size. */
bool classify_runtime_block(const struct frame *const *frames, size_t count, size_t user,
                            uint64_t block_size);

#endif
