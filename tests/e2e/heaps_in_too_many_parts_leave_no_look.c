// More parts apart from each other that a child of the process does not get than libleak can note: what they point to
// would seem to be lost, so no leak check is made, and the report says why.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t; %report store/*.leak
// EXPECT: ^Note: no leak check was made: the leak check needed more memory than is free or look_mem allows
// EXPECT: lost=0/0/0 indirect=0/0/0 possible=0/0/0 .* unfreed=40/1/1
#include <stdlib.h>
#include <sys/mman.h>

#define PARTS 16400
#define PAGE 4096ul

int main(void)
{
    char *heap = mmap(NULL, 2 * PARTS * PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    for (unsigned long i = 0; i < PARTS; i++)
        madvise(heap + 2 * i * PAGE, PAGE, MADV_DONTFORK);
    *(void **)heap = malloc(40);
    return 0;
}
