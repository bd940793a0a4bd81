/* hook_memory.c - madvise: which memory a copy of the process would not have. */
#include "preload/real.h"
#include "preload/unforked.h"

#include <sys/mman.h>

EXPORT int madvise(void *start, size_t size, int advice)
{
    real_find();
    int result = real.madvise(start, size, advice);
    if (result == 0)
        unforked_note((uintptr_t)start, size, advice);
    return result;
}
