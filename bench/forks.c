/* forks.c - measures the cost of a fork for a process with a large heap: the pause of the parent,
 * and the first malloc of the child.
 *
 *   forks [NAME=VALUE...]
 *
 * live=1000000 sites=1000 depth=20      the heap, allocated before the forks
 * forks=20                              number of forks; the output has their median and maximum
 *
 * fork_us is the time of the parent in fork(), after_us the time of its next malloc (which copies
 * written pages), child_us that of the first malloc of the child, and child_all_us the time from
 * the fork to the end of the child, which does nothing else.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/common.h"
#include "bench/stacks.h"

enum { LIVE, SITES, DEPTH, FORKS, KNOBS };

static struct knob knobs[KNOBS] = {
    [LIVE] = {"live", 1000000},
    [SITES] = {"sites", 1000},
    [DEPTH] = {"depth", 20},
    [FORKS] = {"forks", 20},
};
#define THE(knob) (knobs[knob].value)
#define FORKS_MAX 1000

struct heap {
    uint64_t random, count;
    void **blocks;
};

static void allocate(void *context)
{
    struct heap *heap = context;
    heap->blocks[heap->count++] = malloc(16 + random_below(&heap->random, 8) * 16);
}

static double first_malloc_us(void)
{
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    void *block = malloc(48);
    __asm__ volatile("" : "+r"(block));
    return (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e3;
}

static void show(const char *name, double *values)
{
    /* sorts the values, so the last one is the largest */
    double middle = median(values, THE(FORKS));
    printf("%s_us=%.1f %s_longest_us=%.1f ", name, middle, name, values[THE(FORKS) - 1]);
}

int main(int argc, char **argv)
{
    static double in_fork[FORKS_MAX], after[FORKS_MAX], child[FORKS_MAX], all[FORKS_MAX];
    struct heap heap = {.random = 42};
    if (!knobs_read(knobs, KNOBS, argc, argv) || THE(FORKS) > FORKS_MAX || !THE(FORKS))
        return 2;
    struct stacks stacks = {.depth = (unsigned)THE(DEPTH),
                            .sites = THE(SITES),
                            .told_apart = THE(SITES),
                            .random = &heap.random};
    double *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    heap.blocks = calloc(THE(LIVE), sizeof *heap.blocks);
    if (shared == MAP_FAILED || !heap.blocks)
        return 1;
    stacks_visit(&stacks, allocate, &heap, THE(LIVE));
    for (uint64_t i = 0; i < THE(FORKS); i++) {
        uint64_t begin = clock_ns(CLOCK_MONOTONIC);
        pid_t pid = fork();
        if (pid < 0)
            return 1;
        if (pid == 0) {
            *shared = first_malloc_us();
            _exit(0);
        }
        in_fork[i] = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e3;
        after[i] = first_malloc_us();
        int status;
        if (waitpid(pid, &status, 0) != pid || status)
            return 1;
        all[i] = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e3;
        child[i] = *shared;
    }
    show("fork", in_fork);
    show("after", after);
    show("child", child);
    show("child_all", all);
    printf("\n");
    return 0;
}
