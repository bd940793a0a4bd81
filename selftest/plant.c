/* plant.c - leakplant: a program with known mistakes, for leakrun --self-test.
 *
 * Each mistake is a function on one line of this file, which prints a line that says what it is:
 *     WHAT HOOK FUNCTION LINE BYTES
 * judge.c compares these lines with the report. The program links only libc and loads the C++
 * operators from libstdc++, if there is one. Exported functions keep their names when the
 * program is stripped. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLANT __attribute__((noinline, visibility("default"))) void
#define SAY(what, hook, bytes) printf("%s %s %s %d %d\n", what, hook, __func__, __LINE__, bytes)

#define GROWING_STEPS 24
#define GROWING_STEP_US 50000
/* Nanoseconds that each step adds to the clock, so that it advances by 13 seconds in all: enough to
 * judge growth. */
#define GROWING_STEP_AHEAD_NS 500000000
#define GROWING_BLOCKS 50 /* blocks of 1000 bytes in each step */

typedef void *new_operator(size_t size);
typedef void delete_operator(void *block);

/* Volatile pointers, so that the compiler cannot remove the calls. */
static new_operator *volatile op_new, *volatile op_new_array;
static delete_operator *volatile op_delete, *volatile op_delete_array;
static void *volatile sink;
static void *volatile held;
static void *list, *ring[GROWING_BLOCKS];
static volatile long long ahead_ns;

/* Each mistake is on one line, because its line number is compared. */
/* clang-format off */
PLANT lose_by_malloc(void)         { SAY("lost", "malloc", 1001);         sink = malloc(1001); }
PLANT lose_by_calloc(void)         { SAY("lost", "calloc", 1002);         sink = calloc(3, 334); }
PLANT lose_by_realloc(void)        { SAY("lost", "realloc", 100003);      sink = realloc(malloc(10), 100003); }
PLANT lose_by_reallocarray(void)   { SAY("lost", "reallocarray", 1004);   sink = reallocarray(NULL, 4, 251); }
PLANT lose_by_posix_memalign(void) { SAY("lost", "posix_memalign", 1005); void *block = NULL; if (posix_memalign(&block, 64, 1005) == 0) sink = block; }
PLANT lose_by_aligned_alloc(void)  { SAY("lost", "aligned_alloc", 1024);  sink = aligned_alloc(64, 1024); }
PLANT lose_by_memalign(void)       { SAY("lost", "memalign", 1007);       sink = memalign(64, 1007); }
PLANT lose_by_valloc(void)         { SAY("lost", "valloc", 1008);         sink = valloc(1008); }
PLANT lose_by_new(void)            { SAY("lost", "_Znwm", 1009);          sink = op_new(1009); }
PLANT lose_by_new_array(void)      { SAY("lost", "_Znam", 1010);          sink = op_new_array(1010); }
PLANT plant_free(void)           { SAY("freed", "free", 0);             sink = malloc(20001); free(sink); }
PLANT plant_delete(void)         { SAY("freed", "_ZdlPv", 0);           sink = op_new(200002); op_delete(sink); }
PLANT plant_delete_array(void)   { SAY("freed", "_ZdaPv", 0);           sink = op_new_array(2000003); op_delete_array(sink); }
PLANT plant_owned(void **owner)  { SAY("indirect", "malloc", 3001);     *owner = malloc(3001); }
PLANT plant_owner(void)          { SAY("lost", "calloc", 3000);         sink = calloc(1, 3000); plant_owned(sink); }
PLANT plant_reachable(void)      { SAY("reachable", "malloc", 4001);    held = malloc(4001); }
PLANT plant_mismatch(void)       { SAY("mismatched-free", "_ZdlPv", 5001); sink = malloc(5001); op_delete(sink); }
PLANT plant_double_free(void)    { SAY("double-free", "free", 6001);    fflush(stdout); sink = malloc(6001); free(sink); free(sink); }
PLANT plant_growing(int first)   { if (first) SAY("growing", "history", GROWING_STEPS * GROWING_BLOCKS * 1000); void **block = malloc(1000); if (block) *block = list; list = block; }
PLANT plant_steady(int at, int first) { if (first) SAY("steady", "history", GROWING_BLOCKS * 1000); free(ring[at]); ring[at] = malloc(1000); }
/* clang-format on */

/* Finds operator new and delete. -1: there is no libstdc++. */
static int find_operators(void)
{
    if (!dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL))
        return -1;
    op_new = (new_operator *)dlsym(RTLD_DEFAULT, "_Znwm");
    op_new_array = (new_operator *)dlsym(RTLD_DEFAULT, "_Znam");
    op_delete = (delete_operator *)dlsym(RTLD_DEFAULT, "_ZdlPv");
    op_delete_array = (delete_operator *)dlsym(RTLD_DEFAULT, "_ZdaPv");
    return op_new && op_new_array && op_delete && op_delete_array ? 0 : -1;
}

static __attribute__((noinline)) void plant_operators(void)
{
    if (find_operators() < 0) {
        puts("skip C++ no-libstdc++ 0 0");
        return;
    }
    lose_by_new();
    lose_by_new_array();
    plant_mismatch();
}

/* Frees blocks. It runs last: if the library misses these frees, it also confuses new blocks at
 * the same addresses. */
static __attribute__((noinline)) void plant_freed(void)
{
    plant_free();
    if (op_delete_array) {
        plant_delete();
        plant_delete_array();
    }
}

/* Replaces clock_gettime of libc for the whole process, including the library. Judging growth
 * takes longer than a test may wait, so this clock jumps ahead between the steps; otherwise the
 * program behaves like one that grows for that time. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, now);

    if (!failed) {
        long long ns = now->tv_nsec + ahead_ns;
        now->tv_sec += ns / 1000000000;
        now->tv_nsec = ns % 1000000000;
    }
    return failed;
}

/* Allocates in steps, each of which is a step of the history of the heap. */
static __attribute__((noinline)) void grow(void)
{
    printf("grown history plant_growing 0 %d\n", GROWING_STEPS * GROWING_BLOCKS * 1000);
    for (int i = 0; i < GROWING_STEPS; i++) {
        for (int k = 0; k < GROWING_BLOCKS; k++) {
            plant_growing(i == 0 && k == 0);
            plant_steady(k, i == 0 && k == 0);
        }
        usleep(GROWING_STEP_US);
        ahead_ns += GROWING_STEP_AHEAD_NS;
    }
}

static __attribute__((noinline)) void plant_all(void)
{
    lose_by_malloc();
    lose_by_calloc();
    lose_by_realloc();
    lose_by_reallocarray();
    lose_by_posix_memalign();
    lose_by_aligned_alloc();
    lose_by_memalign();
    lose_by_valloc();
    plant_owner();
    plant_reachable();
    plant_operators();
    grow();
    plant_freed();
    sink = NULL;
}

int main(int argc, char **argv)
{
    static char out[8192]; /* buffer, so that stdout allocates nothing */

    setvbuf(stdout, out, _IOFBF, sizeof out);
    if (argc > 1 && strcmp(argv[1], "double-free") == 0)
        plant_double_free();
    else
        plant_all();
    return 0;
}
