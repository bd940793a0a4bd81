// Hard case 22: each form of allocation against each form of release. What the table below says is wrong
// is one record with its count and both stacks, what it says is right leaves none.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -fno-optimize-sibling-calls
// EXPECT: ^done$
// JSON: len(ledger) == 49 and sum(l[2] == "wrong" for l in ledger) == 38
// JSON: {(w[1], w[2]): n for w, n in wrong.items()} == {(a, r): 3 for a, r, right in ledger if right == "wrong"}
// JSON: {w[0] for w in wrong if w[2] != "to_realloc"} == {"mismatched-free"}
// JSON: {w[0] for w in wrong if w[2] == "to_realloc"} == {"bad-realloc"}
// JSON: len(misuse(p)) == 38 and named()
// JSON: all(e.thread == "T1" and e.size == 64 and e.offset == 0 and not e.freed_again for e in misuse(p))
// JSON: {(e.allocated.form, e.freed.form) for e in misuse(p)} >= {("malloc", "delete"), ("new", "free"), ("new[]", "delete"), ("aligned new", "delete[]"), ("new", "realloc")}
// JSON: all([f.line for f in e.frames if f.function == "main" or f.user] for e in misuse(p))
// JSON: p.coverage.unknown_frees == 0 and p.end.how == "exit" and p.end.value == 0

#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <new>

#define FAR __attribute__((noinline))
typedef std::align_val_t al;
typedef void *maker();
typedef void releaser(void *);

FAR void *by_malloc() { return malloc(64); }
FAR void *by_calloc() { return calloc(4, 16); }
FAR void *by_memalign() { return memalign(64, 64); }
FAR void *by_new() { return operator new(64); }
FAR void *by_new_array() { return operator new[](64); }
FAR void *by_aligned_new() { return operator new(64, al(64)); }
FAR void *by_aligned_new_array() { return operator new[](64, al(64)); }

FAR void to_free(void *p) { free(p); }
FAR void to_realloc(void *p) { p = realloc(p, 100); free(p); }
FAR void to_delete(void *p) { operator delete(p); }
FAR void to_sized_delete(void *p) { operator delete(p, (std::size_t)64); }
FAR void to_delete_array(void *p) { operator delete[](p); }
FAR void to_aligned_delete(void *p) { operator delete(p, al(64)); }
FAR void to_aligned_delete_array(void *p) { operator delete[](p, al(64)); }

static const struct { const char *name; maker *make; } makers[] = {
    {"by_malloc", by_malloc},       {"by_calloc", by_calloc},
    {"by_memalign", by_memalign},   {"by_new", by_new},
    {"by_new_array", by_new_array}, {"by_aligned_new", by_aligned_new},
    {"by_aligned_new_array", by_aligned_new_array}};
static const struct { const char *name; releaser *release; } releasers[] = {
    {"to_free", to_free},
    {"to_realloc", to_realloc},
    {"to_delete", to_delete},
    {"to_sized_delete", to_sized_delete},
    {"to_delete_array", to_delete_array},
    {"to_aligned_delete", to_aligned_delete},
    {"to_aligned_delete_array", to_aligned_delete_array}};

/* . right  x wrong:      free  realloc  delete  sized  delete[]  aligned  aligned[] */
static const char *const table[7] = {/* malloc        */ ". . x x x x x",
                                     /* calloc        */ ". . x x x x x",
                                     /* memalign      */ ". . x x x x x",
                                     /* new           */ "x x . . x x x",
                                     /* new[]         */ "x x x x . x x",
                                     /* aligned new   */ "x x x x x . x",
                                     /* aligned new[] */ "x x x x x x ."};

int main()
{
    FILE *ledger = fopen("ledger", "w");
    for (int n = 0; n < 3; n++)
        for (int m = 0; m < 7; m++)
            for (int r = 0; r < 7; r++) {
                releasers[r].release(makers[m].make());
                if (n == 0)
                    fprintf(ledger, "%s %s %s\n", makers[m].name, releasers[r].name,
                            table[m][2 * r] == '.' ? "right" : "wrong");
            }
    fclose(ledger);
    puts("done");
}
