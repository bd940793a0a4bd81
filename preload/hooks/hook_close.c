/* hook_close.c - what closes descriptors.
 *
 * Who asks for the number's stamp before the real close can tell afterwards whether the number is
 * another one's by then.
 */
#include "preload/process/resource_hooks.h"
#include "preload/interpose/real_functions.h"
#include "preload/base/sys.h"

#include <errno.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

/* Interrupted, or with an error of the disk's, the number is free all the same. */
static bool is_free(int result, int error)
{
    return result == 0 || error == EINTR || error == EIO || error == ENOSPC || error == EDQUOT;
}

EXPORT int close(int fd)
{
    real_find();
    if (!resource_is_tracked(LEAK_RESOURCE_FD))
        return real.close(fd);
    uint64_t stamp = descriptors_stamp(fd);
    int result = real.close(fd);
    int error = result < 0 ? errno : 0;
    /* What is below 0 was never given out: many programs close it, and mean nothing by it. */
    if (fd >= 0 && (error == EBADF || is_free(result, error))) {
        struct frame caller = CALLER_FRAME();
        resource_hook_closed(&caller, fd, stamp, error == EBADF);
    }
    return result;
}

EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    real_find();
    if (!real.close_range) { /* glibc before 2.34 */
        errno = ENOSYS;
        return -1;
    }
    int result = real.close_range(first, last, flags);
    if (resource_is_tracked(LEAK_RESOURCE_FD) && result == 0 && !(flags & CLOSE_RANGE_CLOEXEC)) {
        struct frame caller = CALLER_FRAME();
        resource_hook_closed_range(&caller, first, last);
    }
    return result;
}

EXPORT void closefrom(int first)
{
    real_find();
    if (real.closefrom)
        real.closefrom(first);
    else /* likewise: who finds ours relies on it */
        sys_close_from(first < 0 ? 0 : first);
    if (resource_is_tracked(LEAK_RESOURCE_FD)) {
        struct frame caller = CALLER_FRAME();
        resource_hook_closed_range(&caller, first < 0 ? 0 : first, UINT32_MAX);
    }
}
