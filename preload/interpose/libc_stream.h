/* libc_stream.h - the memory of a FILE of glibc: is a block one, and which of its words are the
 * program's?
 *
 * libc chains its streams, so a FILE holds another one that it has nothing to do with. Of the program
 * are the buffer and, of fopencookie, the cookie.
 */
#ifndef PRELOAD_INTERPOSE_LIBC_STREAM_H
#define PRELOAD_INTERPOSE_LIBC_STREAM_H

#include "preload/base/base.h"

#include <stdio.h>

#define LIBC_STREAM_COOKIE (sizeof(FILE) + sizeof(void *)) /* behind the functions */

/* Says whether the block is a stream of libc. Other threads may be writing to the block. */
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
