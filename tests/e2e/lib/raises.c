/* A preload behind libleak whose malloc (raises_armed 1) or free (2) gets a signal in its middle. */
#include <signal.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
int raises_armed;

void *malloc(size_t n)
{
    if (raises_armed == 1) {
        raises_armed = 0;
        raise(SIGUSR1);
    }
    return __libc_malloc(n);
}

void free(void *p)
{
    if (raises_armed == 2) {
        raises_armed = 0;
        raise(SIGUSR1);
    }
    __libc_free(p);
}
