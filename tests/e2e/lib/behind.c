/* A preload behind libleak that says when the real malloc or free is running: a signal handler must not
 * allocate then, nor leave by longjmp, with libleak or without. */
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
__thread volatile int behind_works;

void *malloc(size_t n)
{
    behind_works++;
    void *p = __libc_malloc(n);
    behind_works--;
    return p;
}

void free(void *p)
{
    behind_works++;
    __libc_free(p);
    behind_works--;
}
