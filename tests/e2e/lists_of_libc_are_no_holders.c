// libc chains all streams: closing one frees a FILE that points to the one opened before it, and that is no owner of
// it. Nor is a buffer of libc's that is freed with old pointers in it. What the program has given to a stream is owned
// by it: the cookie of fopencookie, lost when its stream is closed.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t; %report store/*.leak
// EXPECT: ^ +it was owned by a block from open_cookie\(\), which was freed in close_cookie( at .*)?$
// REFUSE: was freed in (innocent|pipes|prints)
// JSON: all(r.holder_freed is None for r in procs[0].resources) and len(procs[0].resources) == 2
// JSON: verdict("cookie", procs[0]) == {"lost": (1, 40)} and verdict("old", procs[0]) == {"lost": (100, 100 * 72)}
// JSON: [f.function for f in hits("cookie", procs[0])[0].holder_freed.frames if f.user] == ["close_cookie"]
// JSON: all(r.holder_freed is None for r in hits("old", procs[0]))

#include "lib/verdicts.h"

TAKE(cookie, 40)
FAR static void *old(void) { return opaque(malloc(72)); }
static void *volatile apart;

FAR static void forgets(void) { sink = fopen("/dev/null", "r"), sink = NULL; }
FAR static void forgets_pipe(void) { sink = popen("true", "r"), sink = NULL; }
FAR static void innocent(void) { fclose(fopen("/dev/zero", "r")); }
FAR static void pipes(void) { pclose(popen("true", "r")); }

static ssize_t read_nothing(void *it, char *buffer, size_t size) { return 0; }
FAR static FILE *open_cookie(void) { return fopencookie(cookie(), "r", (cookie_io_functions_t){.read = read_nothing}); }
FAR static void close_cookie(FILE *stream) { fclose(stream); }

/* The buffer of a stream is cut from a block that held pointers. */
FAR static void recycle(void)
{
    void **all = opaque(malloc(10000));

    memset(all, 0, 10000);
    for (int i = 0; i < 100; i++)
        all[i + 20] = old();
    apart = malloc(64);
    free(all);
}

FAR static void prints(void)
{
    FILE *stream = fopen("/dev/null", "w");
    char buffer[512];

    fputs("x", stream);
    fclose(stream);
}

int main(void)
{
    forgets();
    innocent();
    forgets_pipe();
    pipes();
    close_cookie(open_cookie());
    recycle();
    prints();
    scrub();
    return 0;
}
