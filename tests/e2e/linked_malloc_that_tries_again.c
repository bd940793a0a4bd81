// A malloc in the program that has a loop right behind its first push, and goes round it when there is no room: the
// program does what it did, whether its malloc can be led to libleak or not; also when it goes round by an unlikely part that
// the compiler has put elsewhere.
// CFLAGS: -Os -g -fno-builtin
// CFLAGS: -O1 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -no-pie
// CFLAGS: -O2 -g -fno-builtin -DSELDOM -fno-align-loops
// RUN: %t && %leak %t
// EXPECT: ^100 blocks, 50 times again$
// JSON: len(procs) == 1 and procs[0].end.how == "exit" and procs[0].end.value == 0 and not procs[0].errors
// JSON: procs[0].totals.allocations >= 100 or "OWN_ALLOCATOR" in str(procs[0].coverage.untracked)

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FAR __attribute__((noinline, noclone))

static char heap[64 << 10] __attribute__((aligned(64)));
static size_t used;
static int room = 2, again, blocks;

FAR void *take(size_t size)
{
    void *block = heap + used;
    if (!room || getpid() < 0)
        return NULL;
    room--;
    used += (size + 15) / 16 * 16;
    return block;
}

#ifdef SELDOM
#define UNLIKELY __attribute__((cold))
#else
#define UNLIKELY
#endif
FAR UNLIKELY void make_room(size_t size)
{
    if (size && getpid() > 0)
        room += 2;
    again++;
}

FAR void *malloc(size_t size)
{
    void *block;
    while (!(block = take(size)))
        make_room(size);
    return block;
}

FAR void free(void *block)
{
    if (block && getpid() < 0)
        used = 0;
}

int main(void)
{
    char line[64];
    for (int i = 0; i < 100; i++) {
        char *block = malloc(10);
        strcpy(block, "something");
        blocks += block[8] == 'g';
        free(block);
    }
    int length = snprintf(line, sizeof line, "%d blocks, %d times again\n", blocks, again + 1);
    return write(1, line, length) != length;
}
