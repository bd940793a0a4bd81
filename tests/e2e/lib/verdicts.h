/* What the cases about verdicts share. The compiler may neither delete a block nor keep its address in a
 * place of its own: every block comes from a FAR function, whose frame is dead afterwards. */
#ifndef VERDICTS_H
#define VERDICTS_H

#include "../../../include/libleak.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAR __attribute__((noinline, noclone, noipa)) /* noipa: equal ones are not made one, either */
static void *volatile sink; /* empty whenever the program looks elsewhere */

static inline void *opaque(void *p)
{
    asm volatile("" : "+r"(p) : : "memory");
    return p;
}

/* name(): a block that nothing points to any more. */
#define LOSE(name, size)                                                                           \
    FAR static void name(void)                                                                     \
    {                                                                                              \
        sink = malloc(size);                                                                       \
        sink = NULL;                                                                               \
    }
/* name(): a block; who calls it has the only pointer. Cleared: it holds nothing by chance. */
#define TAKE(name, size)                                                                           \
    FAR static void *name(void)                                                                    \
    {                                                                                              \
        return opaque(memset(malloc(size), 0, size));                                              \
    }

/* Overwrites what earlier calls left below the caller's frame, and the registers they may change. */
FAR static void scrub(void)
{
    volatile char dead[8192];

    for (unsigned i = 0; i < sizeof dead; i++)
        dead[i] = 0;
}

/* How many blocks are lost at this moment; -1: no look could be made; -2: there is no libleak. */
FAR static long look(void) { return libleak_present() ? libleak_snapshot() : -2; }

#endif
