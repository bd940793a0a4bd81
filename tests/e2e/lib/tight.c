/* A preload whose malloc fails on demand: tight(1) from the program makes requests of 1000 bytes
 * fail until tight(0). */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
static int on;

void tight(int yes) { on = yes; }

void *malloc(size_t n)
{
    if (on && n == 1000) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(n);
}
