/* resource_hooks.h - functions that the hooks for descriptors, streams and other resources share:
 * they enter the runtime and record what the real function has done.
 *
 * The thread is not inside the runtime while the real function runs, which may block or be
 * cancelled, and where the thread may be stopped. These functions do not change errno. They record
 * nothing if libleak itself is the caller, or if there is no recording. */
#ifndef PRELOAD_PROCESS_RESOURCE_HOOKS_H
#define PRELOAD_PROCESS_RESOURCE_HOOKS_H

#include "preload/resources/handle_table.h"
#include "preload/resources/descriptors.h"

/* Records a new descriptor. name: may be NULL. */
void resource_hook_opened(const struct frame *caller, int fd, enum leak_sort sort,
                          const char *name);
/* Records two descriptors that one call has opened. */
void resource_hook_opened_pair(const struct frame *caller, const int *ends, enum leak_sort sort,
                               const char *name, const char *other_name);
void resource_hook_duplicated(const struct frame *caller, int fd, int copy, bool onto);
/* Records that fd was closed. bad: it was not open, so the close has failed. */
void resource_hook_closed(const struct frame *caller, int fd, uint64_t stamp, bool bad);
void resource_hook_closed_range(const struct frame *caller, unsigned first, unsigned last);
void resource_hook_address(const struct frame *caller, int fd, const void *address, size_t length,
                           enum leak_name_form sort);

/* Records a stream or directory. fd: its descriptor, -1 if it has none. like: the record gets the
 * name of the descriptor, not `name`. */
void resource_hook_stream_opened(const struct frame *caller, enum leak_resource_type type,
                                 enum leak_sort sort, const void *stream, int fd, const char *name,
                                 bool like);
/* Records an object that a function of the option pair= has created. bytes: its size; 0: not
 * known. */
void resource_hook_object_created(const struct frame *caller, uint64_t handle, const char *function,
                                  uint64_t bytes);
/* Data about a resource that a hook reads before it closes the resource. */
struct resource_hook_closing {
    struct handle_ref stream;
    uint64_t stamp; /* stamp of its descriptor (descriptors.h) */
};
struct resource_hook_closing
resource_hook_closing(const struct frame *caller, enum leak_resource_type type, const void *stream);
/* Records that the stream was closed. */
void resource_hook_stream_closed(const struct frame *caller,
                                 const struct resource_hook_closing *closing);

#endif
