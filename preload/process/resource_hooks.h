/* resource_hooks.h - what the hooks of descriptors, streams and the like have in common: with the
 * token, after the real function has done its work.
 *
 * No token is held while the real function runs: it may block, be cancelled, or be where a thread
 * is parked. Nothing here touches errno. Without a token (libleak itself is calling, or there is no
 * account) nothing is noted.
 */
#ifndef PRELOAD_PROCESS_RESOURCE_HOOKS_H
#define PRELOAD_PROCESS_RESOURCE_HOOKS_H

#include "preload/resources/handle_table.h"
#include "preload/resources/descriptors.h"

/* A new descriptor, with a name or without. */
void note_descriptor(const struct frame *caller, int fd, enum leak_sort sort, const char *name);
/* Two that were made in one. */
void note_pair(const struct frame *caller, const int *ends, enum leak_sort sort, const char *name,
               const char *other_name);
void note_copy(const struct frame *caller, int fd, int copy, bool onto);
/* fd has been closed; bad: it was not open. */
void note_close(const struct frame *caller, int fd, uint64_t stamp, bool bad);
void note_close_range(const struct frame *caller, unsigned first, unsigned last);
void note_address(const struct frame *caller, int fd, const void *address, size_t length,
                  enum leak_name_form sort);

/* A stream or directory. fd -1: it has none. like: its name is that of the descriptor. */
void note_stream(const struct frame *caller, enum leak_resource_type type, enum leak_sort sort,
                 const void *stream, int fd, const char *name, bool like);
/* Before it is closed … */
struct note_leaving {
    struct belonging stream;
    uint64_t stamp; /* of its descriptor */
};
struct note_leaving note_leaving(const struct frame *caller, enum leak_resource_type type,
                                 const void *stream);
/* … and after. */
void note_left(const struct frame *caller, const struct note_leaving *leaving);

#endif
