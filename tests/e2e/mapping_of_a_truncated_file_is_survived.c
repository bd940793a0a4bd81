// Hard case 13: a writable mapping of a file that has become shorter (reading it is SIGBUS), as a plain
// mapping and as a root region: the look is made, the part still there counts, the program sees no
// signal.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^lost now: 1$
// REFUSE: signal
// JSON: verdict("in_mapping") == {"reachable": (1, 40)}
// JSON: verdict("dropped") == {"lost": (1, 56)}
// JSON: p.end.how == "exit" and p.end.value == 0 and p.snapshot.rung == "parked"

#include "lib/verdicts.h"
#include "lib/lsan.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

TAKE(in_mapping, 40)
LOSE(dropped, 56)
static void handler(int s) { write(1, "signal\n", 7); _exit(1); }

FAR static void make(void)
{
    int fd = open("file", O_RDWR | O_CREAT, 0600);

    ftruncate(fd, 16384);
    void **p = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    void **q = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    p[10] = in_mapping();
    LSAN(__lsan_register_root_region(q, 16384));
    ftruncate(fd, 4096);
    dropped();
}

int main(void)
{
    signal(SIGBUS, handler);
    signal(SIGSEGV, handler);
    make();
    scrub();
    printf("lost now: %ld\n", look());
    return 0;
}
