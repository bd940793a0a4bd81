/* resource_hooks.h - what the hooks of descriptors, streams and the like have in common: recording,
 * with the guard entered, what the real function has done.
 *
 * The guard is not held while the real function runs: it may block, be cancelled, or be where a
 * thread is stopped. Nothing here changes errno. Without the guard (libleak itself is the caller,
 * or there is no recording) nothing is recorded.
 */
#ifndef PRELOAD_PROCESS_RESOURCE_HOOKS_H
#define PRELOAD_PROCESS_RESOURCE_HOOKS_H

#include "preload/resources/handle_table.h"
#include "preload/resources/descriptors.h"

/* A new descriptor. name: may be NULL. */
void resource_hook_opened(const struct frame *caller, int fd, enum leak_sort sort,
                          const char *name);
/* Two descriptors from one call. */
void resource_hook_opened_pair(const struct frame *caller, const int *ends, enum leak_sort sort,
                               const char *name, const char *other_name);
void resource_hook_duplicated(const struct frame *caller, int fd, int copy, bool onto);
/* fd has been closed; bad: it was not open. */
void resource_hook_closed(const struct frame *caller, int fd, uint64_t stamp, bool bad);
void resource_hook_closed_range(const struct frame *caller, unsigned first, unsigned last);
void resource_hook_address(const struct frame *caller, int fd, const void *address, size_t length,
                           enum leak_name_form sort);

/* A stream or directory. fd: -1: it has none. like: it gets the name of the descriptor. */
void resource_hook_stream_opened(const struct frame *caller, enum leak_resource_type type,
                                 enum leak_sort sort, const void *stream, int fd, const char *name,
                                 bool like);
/* An object that a function of option pair= has created. bytes: 0: unknown. */
void resource_hook_object_created(const struct frame *caller, uint64_t handle, const char *function,
                                  uint64_t bytes);
/* What is known of a resource before it is closed. */
struct resource_hook_closing {
    struct handle_ref stream;
    uint64_t stamp; /* of its descriptor */
};
struct resource_hook_closing
resource_hook_closing(const struct frame *caller, enum leak_resource_type type, const void *stream);
/* … and after. */
void resource_hook_stream_closed(const struct frame *caller,
                                 const struct resource_hook_closing *closing);

#endif
