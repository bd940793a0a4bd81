// Hard case 13: a registered root region, half of it PROT_NONE; another whose memory is gone: what the
// readable half holds is reachable, the look is made.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("in_region") == {"reachable": (1, 40)} and root("in_region").cls == "user"
// JSON: verdict("dropped") == {"lost": (1, 56)}
// JSON: p.snapshot.rung == "parked" and p.end.value == 0

#include "lib/verdicts.h"
#include "lib/lsan.h"
#include <sys/mman.h>

TAKE(in_region, 40)
LOSE(dropped, 56)

FAR static void make(void)
{
    int fd = memfd_create("region", 0);

    ftruncate(fd, 16384);
    void **p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    void **q = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 8192);

    p[100] = in_region();
    LSAN(__lsan_register_root_region(p, 8192));
    LSAN(__lsan_register_root_region(q, 8192));
    mprotect(p + 512, 4096, PROT_NONE);
    munmap(q, 8192);
    dropped();
}

int main(void)
{
    make();
    return 0;
}
