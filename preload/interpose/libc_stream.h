/* libc_stream.h - recognises a block that is a FILE of glibc, and tells which of its pointers
 * belong to the program.
 *
 * libc chains its streams, so a FILE points to another FILE that has nothing to do with it, and a
 * leak check must not follow that pointer. To the program belong the pointers to the buffer and, in
 * a FILE from fopencookie, the cookie.
 */
#ifndef PRELOAD_INTERPOSE_LIBC_STREAM_H
#define PRELOAD_INTERPOSE_LIBC_STREAM_H

#include "preload/base/base.h"

#include <stdio.h>

/* Offset of the cookie in a FILE from fopencookie, behind the pointer to the table of functions. */
#define LIBC_STREAM_COOKIE (sizeof(FILE) + sizeof(void *))

/* Says whether a block is a FILE of libc. Other threads may be writing to the block. */
static inline bool libc_stream_is(const void *block, size_t size)
{
    return size >= sizeof(FILE) &&
           (load_relaxed(&((const FILE *)block)->_flags) & 0xffff0000) == 0xfbad0000;
}

static inline bool libc_stream_word_is_programs(size_t offset)
{
    return (offset >= offsetof(FILE, _IO_read_ptr) && offset < offsetof(FILE, _markers)) ||
           offset == LIBC_STREAM_COOKIE;
}

#endif
