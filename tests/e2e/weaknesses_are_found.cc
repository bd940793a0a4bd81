// CWE-415, 590, 761 and 762 in the shapes that programs have them: in one function, through functions, a
// struct, a global, a loop, another file, a class, a container. Each wrong one is found, as what it is and
// with its lines; of each that is right nothing is said. The table is lib/weaknesses.h.
// CFLAGS: -O0 -g -std=c++17 elsewhere.o
// CFLAGS: -O2 -g -std=c++17 elsewhere.o
// BUILD: c++ -O1 -g -w -c -o %d/elsewhere.o %S/lib/weaknesses_elsewhere.cc
// JSON: len(ledger) == 20 * 8 * 2 and len(procs) == 1 + len(ledger)
// JSON: [l for l in ledger for q in procs if q.pid == int(l[0]) and [(e.type, e.count) for e in misuse(q)] != ([] if l[1] == "right" else [(l[1], 1)])] == []
// JSON: all(named(q) and q.coverage.unknown_frees == 0 for q in procs)
// JSON: all(l[2] in " ".join(f.function or "" for f in e.frames) for l in ledger for q in procs if q.pid == int(l[0]) for e in misuse(q))

#include "lib/weaknesses.h"

#include <cstdio>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define FAR __attribute__((noinline))

char global_array[64], *global_pointer;
struct holder { int before; char *p; };

static inline void use(char *p) { memcpy(hide(p), "", 1); }
static void fill(char *p) { p[0] = 'a'; p[8] = 'x'; } /* what free_behind looks for */

#define COME(comes) char *p; comes; use(p); if (malloc_usable(p)) fill(p)
static bool behind; /* this one looks for its x */
static inline bool malloc_usable(char *) { return behind; }

#define W(name, error, comes, goes)                                                                         \
    FAR void name##_plain(bool bad) { COME(comes); goes; __asm__(""); }                                     \
    FAR char *name##_make(bool bad) { COME(comes); return hide(p); }                                        \
    FAR void name##_release(char *p, bool bad) { goes; __asm__(""); }                                       \
    FAR void name##_functions(bool bad) { name##_release(name##_make(bad), bad); __asm__(""); }             \
    FAR void name##_take(struct holder *holder, bool bad) { char *p = holder->p; goes; __asm__(""); }       \
    FAR void name##_struct(bool bad)                                                                        \
    {                                                                                                       \
        struct holder holder = {1, name##_make(bad)};                                                       \
        name##_take(&holder, bad);                                                                          \
        __asm__("");                                                                                        \
    }                                                                                                       \
    FAR void name##_drop(bool bad) { char *p = global_pointer; goes; __asm__(""); }                         \
    FAR void name##_global(bool bad) { global_pointer = name##_make(bad); name##_drop(bad); __asm__(""); }  \
    FAR void name##_loop(bool wrong)                                                                        \
    {                                                                                                       \
        for (int i = 0; i < 3; i++) {                                                                       \
            bool bad = wrong && i == 1;                                                                     \
            COME(comes);                                                                                    \
            goes;                                                                                           \
        }                                                                                                   \
        __asm__("");                                                                                        \
    }                                                                                                       \
    FAR void name##_files(bool bad) { name##_elsewhere(name##_make(bad), bad); __asm__(""); }               \
    class name##_keeper {                                                                                   \
        char *p;                                                                                            \
        bool bad;                                                                                           \
                                                                                                            \
      public:                                                                                               \
        FAR name##_keeper(bool wrong) : p(name##_make(wrong)), bad(wrong) {}                                \
        FAR ~name##_keeper() { goes; __asm__(""); }                                                         \
    };                                                                                                      \
    FAR void name##_class(bool bad) { name##_keeper keeper(bad); __asm__(""); }                             \
    FAR void name##_container(bool bad)                                                                     \
    {                                                                                                       \
        std::vector<char *> all;                                                                            \
        all.push_back(name##_make(bad));                                                                    \
        for (char *p : all) {                                                                               \
            goes;                                                                                           \
        }                                                                                                   \
        __asm__("");                                                                                        \
    }
WEAKNESSES(W)
#undef W

typedef void shape(bool bad);
static const struct {
    const char *name, *error;
    shape *shapes[8];
} table[] = {
#define W(name, error, comes, goes)                                                                         \
    {#name,                                                                                                 \
     error,                                                                                                 \
     {name##_plain, name##_functions, name##_struct, name##_global, name##_loop, name##_files,              \
      name##_class, name##_container}},
    WEAKNESSES(W)
#undef W
};

int main()
{
    FILE *ledger = fopen("ledger", "w");
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (auto &row : table)
        for (shape *run : row.shapes)
            for (int bad = 0; bad < 2; bad++) {
                fflush(ledger);
                pid_t pid = fork();
                if (pid == 0) {
                    freopen("/dev/null", "w", stderr); /* what libc says of most of them */
                    behind = !strcmp(row.name, "free_behind");
                    run(bad);
                    _exit(0);
                }
                waitpid(pid, NULL, 0);
                fprintf(ledger, "%d %s %s\n", pid, bad ? row.error : "right", row.name);
            }
    fclose(ledger);
}
