# libleak_valgrind.h: Valgrind's names, for a program that tells of its own allocators.

# Each name once, with what is usual as its arguments.
names='#include <stdio.h>
#include <stdlib.h>
#include <libleak_valgrind.h>
static char arena[4096] __attribute__((aligned(16)));
static int pool, moved, value = 1;
int main(void)
{
    unsigned long leaked = 9, dubious = 9, reachable = 9, suppressed = 9;
    char bits[4];
    VALGRIND_MALLOCLIKE_BLOCK(arena, 32, 8, 0);
    VALGRIND_RESIZEINPLACE_BLOCK(arena, 32, 16, 8);
    VALGRIND_FREELIKE_BLOCK(arena, 8);
    VALGRIND_CREATE_MEMPOOL(&pool, 8, 0);
    VALGRIND_CREATE_MEMPOOL_EXT(&pool, 8, 0, VALGRIND_MEMPOOL_METAPOOL | VALGRIND_MEMPOOL_AUTO_FREE);
    VALGRIND_MEMPOOL_ALLOC(&pool, arena + 64, 32);
    VALGRIND_MEMPOOL_ALLOC(&pool, arena + 128, 32);
    VALGRIND_MEMPOOL_CHANGE(&pool, arena + 128, arena + 160, 16);
    VALGRIND_MEMPOOL_FREE(&pool, arena + 64);
    VALGRIND_MEMPOOL_TRIM(&pool, arena, 64);
    VALGRIND_MOVE_MEMPOOL(&pool, &moved);
    printf("pools %d %d\n", (int)VALGRIND_MEMPOOL_EXISTS(&pool), (int)VALGRIND_MEMPOOL_EXISTS(&moved));
    VALGRIND_DESTROY_MEMPOOL(&moved);
    VALGRIND_DO_QUICK_LEAK_CHECK;
    VALGRIND_COUNT_LEAK_BLOCKS(leaked, dubious, reachable, suppressed);
    printf("blocks %lu %lu %lu\n", leaked, dubious, suppressed);
    VALGRIND_COUNT_LEAKS(leaked, dubious, reachable, suppressed);
    printf("bytes %lu %lu %lu\n", leaked, dubious, suppressed);
    if (reachable == 9)
        puts("not told");
    VALGRIND_DO_LEAK_CHECK;
    VALGRIND_DO_ADDED_LEAK_CHECK;
    VALGRIND_DO_CHANGED_LEAK_CHECK;
    VALGRIND_DO_NEW_LEAK_CHECK;
    VALGRIND_MAKE_MEM_NOACCESS(arena, 16);
    VALGRIND_MAKE_MEM_UNDEFINED(arena, 16);
    VALGRIND_MAKE_MEM_DEFINED(arena, 16);
    VALGRIND_MAKE_MEM_DEFINED_IF_ADDRESSABLE(arena, 16);
    VALGRIND_CHECK_VALUE_IS_DEFINED(value);
    VALGRIND_DISCARD(VALGRIND_CREATE_BLOCK(arena, 16, "words"));
    VALGRIND_STACK_DEREGISTER(VALGRIND_STACK_REGISTER(arena, arena + 64));
    VALGRIND_DISABLE_ERROR_REPORTING;
    VALGRIND_ENABLE_ERROR_REPORTING;
    VALGRIND_DISABLE_ADDR_ERROR_REPORTING_IN_RANGE(arena, 8);
    VALGRIND_ENABLE_ADDR_ERROR_REPORTING_IN_RANGE(arena, 8);
    VALGRIND_DISCARD_TRANSLATIONS(arena, 8);
    VALGRIND_PRINTF("%d\n", value);
    return (int)(RUNNING_ON_VALGRIND + VALGRIND_COUNT_ERRORS + VALGRIND_CHECK_MEM_IS_DEFINED(arena, 1) +
                 VALGRIND_CHECK_MEM_IS_ADDRESSABLE(arena, 1) + VALGRIND_GET_VBITS(arena, bits, 4) +
                 VALGRIND_SET_VBITS(arena, bits, 4));
}'

ways='gcc:c:-std=c99 gcc:c:-std=c11 clang:c:-std=c99 g++:c++:-std=c++17 clang++:c++:-std=c++17'
# shellcheck disable=SC2086 # a list of words
test_every_name_of_valgrind_builds_and_runs_without_valgrind_and_without_libleak() {
    printf '%s\n' "$names" >names.c
    for way in $ways; do
        compiler=${way%%:*} rest=${way#*:}
        command -v "$compiler" >/dev/null || { echo "no $compiler here"; continue; }
        compile="$compiler -x ${rest%:*} ${rest#*:} -g -Wall -Wextra -Wpedantic -Wshadow -Werror -I$root/include"
        $compile -O2 -o program names.c
        equal "$way alone" "$(./program | tr '\n' ' ')" 'pools 0 0 blocks 0 0 0 bytes 0 0 0 '
        leakrun -q ./program >out 2>err
        equal "$way" "$(tr '\n' ' ' <out)" 'pools 0 1 blocks 0 0 0 bytes 0 0 0 '
        $compile -O2 -DLIBLEAK_DISABLE -c -o program.o names.c
        equal "$way disabled" "$(nm program.o | grep -i libleak)" ''
    done
}

# An arena over malloc that a global holds, with its first block at its start; pools over mapped memory; what is
# held by others, in rings, at its middle, by a lost one, freed, moved and trimmed.
source='#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <valgrind/valgrind.h>
#include <valgrind/memcheck.h>
#define FAR __attribute__((noinline, noclone))
static char *next, *arena, *mapped;
static void *volatile sink;
static int pool, other;
FAR static void *carve(size_t size)
{
    char *p = next;
    next += (size + 31) / 16 * 16;
    VALGRIND_MALLOCLIKE_BLOCK(p, size, 0, 1);
    return p;
}
FAR static void *member(int *of, size_t size)
{
    char *p = next;
    next += (size + 31) / 16 * 16;
    VALGRIND_MEMPOOL_ALLOC(of, p, size);
    VALGRIND_MAKE_MEM_DEFINED(p, size);
    return p;
}
FAR static void **inside(void) { return (void **)(void *)((char *)member(&pool, 240) + 8); }
FAR static void lose(void *p) { sink = p; sink = NULL; }
static void **volatile kept[8];
FAR static void use(void)
{
    void **a, **b;
    for (int i = 0; i < 3; i++)
        lose(malloc(48));
    lose(carve(40)); /* begins where its arena begins, which a global points to */
    kept[0] = carve(56);
    kept[0][2] = carve(72);          /* held by a block */
    a = carve(80), b = carve(96);    /* a ring */
    a[1] = b, b[1] = a;
    a = carve(112);                  /* lost, and what it holds with it */
    a[3] = malloc(128);
    b = carve(144);
    VALGRIND_FREELIKE_BLOCK(b, 0);
    b = carve(160);
    VALGRIND_RESIZEINPLACE_BLOCK(b, 160, 24, 0);
    next = mapped + 8192;
    kept[2] = inside(); /* nothing points to its start */
    next = mapped;
    for (int i = 0; i < 10; i++)
        lose(member(&pool, 200));
    kept[1] = member(&pool, 208);
    kept[1][4] = malloc(216);
    VALGRIND_MEMPOOL_FREE(&pool, (char *)mapped);
    a = member(&other, 224);         /* goes with its pool */
    a = b = NULL;
}
FAR static void scrub(void)
{
    volatile char dead[8192];
    for (unsigned i = 0; i < sizeof dead; i++)
        dead[i] = 0;
}
int main(void)
{
    unsigned long leaked = 0, dubious = 0, reachable = 0, suppressed = 0;
    arena = (char *)calloc(1, 16384);
    mapped = (char *)mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    VALGRIND_CREATE_MEMPOOL(&pool, 0, 1);
    VALGRIND_CREATE_MEMPOOL(&other, 0, 1);
    next = arena;
    use();
    VALGRIND_DESTROY_MEMPOOL(&other);
    next = NULL;
    scrub();
    VALGRIND_DO_QUICK_LEAK_CHECK;
    VALGRIND_COUNT_LEAK_BLOCKS(leaked, dubious, reachable, suppressed);
    printf("blocks: %lu lost, %lu possible\n", leaked, dubious);
    VALGRIND_COUNT_LEAKS(leaked, dubious, reachable, suppressed);
    printf("bytes: %lu lost, %lu possible\n", leaked, dubious);
    fflush(stdout);
    return 0;
}'
test_valgrind_and_libleak_find_the_same_blocks_lost() {
    need valgrind gcc jq
    [ -e /usr/include/valgrind/memcheck.h ] || skip 'no headers of Valgrind here'
    printf '%s\n' "$source" >source.c
    for level in -O0 -O2; do
        gcc $level -g -fno-builtin -o real source.c
        valgrind -q --leak-check=summary ./real >theirs 2>err
        says theirs 'blocks: 17 lost, 1 possible'
        gcc $level -g -fno-builtin -I"$root/include" -include libleak_valgrind.h -o ours source.c
        leakrun -q ./ours >out 2>err
        equal "$level" "$(cat out)" "$(cat theirs)"
        echo '#include <libleak_valgrind.h>' | cat - source.c | grep -v '^#include <libleak' >behind.c
        sed -i 's,^#include <valgrind/memcheck.h>,&\n#include <libleak_valgrind.h>,' behind.c
        gcc $level -g -fno-builtin -I"$root/include" -o behind behind.c
        leakrun -q ./behind >out 2>err
        equal "$level behind their own headers" "$(cat out)" "$(cat theirs)"
    done
}
