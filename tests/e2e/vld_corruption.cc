// Visual Leak Detector's corruptions: what one family gave is released by another, and what one heap gave by
// another heap. Each is one error with its count, both stacks where there is a block, and no leak.
// CFLAGS: -O0 -g -fno-builtin
// BUILD: gcc -w -O0 -g -fno-builtin -shared -fPIC -Wl,-Bsymbolic -o %d/heap.so %S/lib/own_malloc.c
// RUN: for n in 0 1 2 3; do %leak %t $n; done; (%leak %t 4) || echo "heap: $?"
// EXPECT: ^heap: 134$
// EXPECT: free\(\): invalid (pointer|size)
// JSON: len(procs) == 5 and all(named(q) for q in procs)
// JSON: [wrongs(q) for q in procs[:4]] == [{("mismatched-free", a, r): 5} for a, r in [("by_malloc", "to_delete"), ("by_malloc", "to_delete_array"), ("by_new", "to_free"), ("by_new_array", "to_free")]]
// JSON: wrongs(procs[4]) == {("invalid-free", "", "to_free"): 1}
// JSON: [(e.allocated.form, e.freed.form) for q in procs[:4] for e in misuse(q)] == [("malloc", "delete"), ("malloc", "delete[]"), ("new", "free"), ("new[]", "free")]
// JSON: all(not any(r.verdict == "lost" and any(f.user for f in r.frames) for r in q.records) for q in procs[:4])

#include <cstdlib>
#include <dlfcn.h>

#define FAR __attribute__((noinline))
FAR void *by_malloc() { return malloc(40); }
FAR void *by_new() { return new long; }
FAR void *by_new_array() { return new char[40]; }
FAR void *by_heap()
{
    void *heap = dlopen("./heap.so", RTLD_NOW | RTLD_LOCAL);
    return ((void *(*)(size_t))dlsym(heap, "malloc"))(40);
}
FAR void to_free(void *p) { free(p); }
FAR void to_delete(void *p) { operator delete(p); }
FAR void to_delete_array(void *p) { operator delete[](p); }

static const struct { void *(*make)(); void (*release)(void *); } wrong[] = {
    {by_malloc, to_delete}, {by_malloc, to_delete_array}, {by_new, to_free}, {by_new_array, to_free}, {by_heap, to_free}};

int main(int, char **argv)
{
    int n = atoi(argv[1]);

    for (int i = 0; i < 5; i++)
        wrong[n].release(wrong[n].make());
}
