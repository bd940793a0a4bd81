// Visual Leak Detector's basics: each way to allocate, freed and not, so many times. What was not freed is
// lost, by function, block for block and byte for byte; of what was freed nothing is left.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t lose; %leak %t free; %leak %t both
// JSON: len(procs) == 3 and len(ledger) == 24
// JSON: all(verdict(name, procs[int(run)]) == ({"lost": (int(n), int(n) * int(size))} if int(n) else {}) for run, name, n, size in ledger)
// JSON: lost_total == (sum(int(l[2]) for l in ledger if l[0] == "0"), sum(int(l[2]) * int(l[3]) for l in ledger if l[0] == "0"))
// JSON: [sum(r.blocks for r in q.records if r.verdict == "lost") for q in procs] == [100, 0, 100]
// JSON: all(not q.errors and q.coverage.unknown_frees == 0 and q.end.value == 0 for q in procs)

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#define FAR __attribute__((noinline))
static void *volatile sink;
static void *(*found_malloc)(size_t);
static void (*found_free)(void *);

FAR void *by_malloc() { return malloc(64); }
FAR void *by_new() { return new int; }
FAR void *by_new_array() { return new char[3]; }
FAR void *by_calloc() { return calloc(47, 2); }
FAR void *by_realloc() { return realloc(malloc(10), 1000); }
FAR void *by_aligned() { return aligned_alloc(64, 256); }
FAR void *by_strdup() { return strdup("a text of so many"); }
FAR void *by_found_malloc() { return found_malloc(333); }

static void by_delete(void *p) { delete (int *)p; }
static void by_delete_array(void *p) { delete[] (char *)p; }
static void by_found_free(void *p) { found_free(p); }

static const struct { const char *name; void *(*make)(); void (*release)(void *); int times, size; } ways[] = {
    {"by_malloc", by_malloc, free, 1, 64},
    {"by_new", by_new, by_delete, 2, 4},
    {"by_new_array", by_new_array, by_delete_array, 4, 3},
    {"by_calloc", by_calloc, free, 8, 94},
    {"by_realloc", by_realloc, free, 15, 1000},
    {"by_aligned", by_aligned, free, 16, 256},
    {"by_strdup", by_strdup, free, 22, 18},
    {"by_found_malloc", by_found_malloc, by_found_free, 32, 333}};

int main(int, char **argv)
{
    bool lose = strcmp(argv[1], "free") != 0, release = strcmp(argv[1], "lose") != 0;
    FILE *ledger = fopen("ledger", "a");

    found_malloc = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
    found_free = (void (*)(void *))dlsym(RTLD_DEFAULT, "free");
    for (auto &way : ways) {
        for (int i = 0; i < way.times; i++) {
            if (lose)
                sink = way.make();
            if (release)
                way.release(way.make());
        }
        sink = nullptr;
        fprintf(ledger, "%d %s %d %d\n", lose ? release * 2 : 1, way.name, lose ? way.times : 0, way.size);
    }
    fclose(ledger);
}
