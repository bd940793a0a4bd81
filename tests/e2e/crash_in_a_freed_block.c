// RUN: %leak %t freed; %leak %t end; %leak %t register; %report store/*.leak
// EXPECT: The address is 5,000 bytes into a block of about [0-9,]+ bytes that had been freed
// EXPECT: gives_back +.*crash_in_a_freed_block.c:
// EXPECT: The address is [0-9,]+ bytes past the end of a block of 100,000 bytes, allocated
// EXPECT: (rax|rcx|rdx|rdi|rsi|x[0-9]+): .*a block of 24 bytes, allocated
// JSON: [(e.type, e.offset) for q in procs if q.argv[1] == "freed" for e in q.errors] == [("crash", 5000)]
// JSON: [any(f.function == "gives_back" for f in q.errors[0].freed.frames) for q in procs if q.argv[1] == "freed"] == [True]
// JSON: all(any(f.function == "takes" for f in q.errors[0].allocated.frames) for q in procs if q.argv[1] != "register")
// JSON: [(q.errors[0].size, q.errors[0].freed) for q in procs if q.argv[1] == "end"] == [(100000, None)]
// EXIT: 0

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static char *takes(size_t size)
{
    char *block = malloc(size);
    memset(block, 1, size);
    return block;
}

__attribute__((noinline)) static void gives_back(char *block)
{
    free(block);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    char *volatile block = takes(1000000);
    char *volatile same = block;
    if (!strcmp(argv[1], "freed")) {
        gives_back(block);
        same[5000] = 2;
    } else if (!strcmp(argv[1], "end")) {
        takes(100000);
        *(char *volatile)sbrk(0) = 2;
    } else {
        void **volatile small = (void **)takes(24);
        small[0] = (void *)0x4141414141414141;
        *(volatile int *)small[0] = (int)(long)small;
    }
    return 0;
}
