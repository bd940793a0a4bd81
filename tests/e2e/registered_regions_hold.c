// Shared memory is not looked at, unless the program registers it, by libleak's name or LeakSanitizer's;
// removed with the same start and size it holds no longer, with others it stays.
// (LeakSanitizer: register_root_region.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=roots=globals,stacks,registers,tls,anon; %leak %t
// JSON: all(verdict("never", q) == {"lost": (1, 24)} and verdict("removed", q) == {"lost": (2, 144)} for q in procs)
// JSON: verdict("registered", procs[0]) == {"reachable": (1, 40)} and verdict("added", procs[0]) == {"reachable": (1, 56)} and verdict("not_removed", procs[0]) == {"reachable": (1, 88)}
// JSON: root("registered", procs[0]).cls == "user" and root("added", procs[0]).cls == "user"
// JSON: verdict("registered", procs[1]) == {"lost": (1, 40)} and verdict("added", procs[1]) == {"lost": (1, 56)}

#include "lib/verdicts.h"
#include "lib/lsan.h"
#include <sys/mman.h>

TAKE(never, 24)
TAKE(registered, 40)
TAKE(added, 56)
TAKE(removed, 72)
TAKE(not_removed, 88)

FAR static void **page(void)
{
    int fd = memfd_create("page", 0);

    ftruncate(fd, 4096);
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

FAR static void make(void)
{
    void **p = page();

    p[5] = never();
    p = page();
    p[511] = registered();
    LSAN(__lsan_register_root_region(p, 4096));
    p = page();
    p[0] = added();
    if (libleak_present())
        libleak_add_root(p, 8);
    p = page();
    p[1] = removed();
    LSAN(__lsan_register_root_region(p, 4096));
    LSAN(__lsan_unregister_root_region(p, 4096));
    p = page();
    p[2] = removed();
    if (libleak_present()) {
        libleak_add_root(p, 4096);
        libleak_remove_root(p, 4096);
    }
    p = page();
    p[3] = not_removed();
    if (libleak_present()) {
        libleak_add_root(p, 4096);
        libleak_remove_root(p, 2048);
        libleak_remove_root(p + 1, 4096);
    }
}

int main(void)
{
    make();
    return 0;
}
