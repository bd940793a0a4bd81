// A heap like V8's: half a GiB of reserved addresses and a thousand chunks apart from each other, all of it marked
// MADV_DONTFORK. A child of the process has none of it; what only these chunks point to is not lost.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("held") == {"reachable": (1000, 40000)} and root("held").cls == "anon"
// JSON: verdict("dropped") == {"lost": (1, 56)}
// JSON: p.end.how == "exit" and p.end.value == 0 and p.snapshot.rung == "parked"

#include "lib/verdicts.h"
#include <sys/mman.h>

#define CHUNKS 1000
#define CHUNK (64 << 10)

TAKE(held, 40)
LOSE(dropped, 56)

FAR static void make(void)
{
    char *reserved = mmap(NULL, 512 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *heap = mmap(NULL, 2 * CHUNKS * CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    madvise(reserved, 512 << 20, MADV_DONTFORK);
    for (int i = 0; i < CHUNKS; i++) {
        char *chunk = heap + 2 * i * CHUNK;

        madvise(chunk, CHUNK, MADV_DONTFORK);
        *(void **)(chunk + 5000) = held();
    }
    dropped();
}

int main(void)
{
    make();
    return 0;
}
