// Code that has no unwind table in memory, but one for debuggers in its file, has whole stacks, in the program and in a library
// that is loaded, unloaded, and loaded again; without that one, or with a file that is not the one that was loaded, the stack ends
// after its first frame. The program keeps its descriptors.
// BUILD: cc -w -O2 -g -fno-asynchronous-unwind-tables -DLIBRARY -shared -fPIC -o %d/lib.so %s
// BUILD: cc -w -O2 -g -fno-asynchronous-unwind-tables -gdwarf-3 -no-pie -o %d/old %s
// BUILD: cc -w -O2 -g -fno-asynchronous-unwind-tables -o %d/new %s
// BUILD: cp %d/new %d/stripped && strip -g %d/stripped && cp %d/new %d/replaced
// NOBUILD:
// RUN: for p in old new stripped replaced; do cd %d; %leak ./$p || exit 1; done
// JSON: len(procs) == 4 and all(q.end.value == 0 and q.summary.lost.blocks == 5 for q in procs)
// JSON: all([f.function for r in hits("inner", q) for f in r.frames][:4] == ["inner", "middle", "outer", "main"] for q in procs[:2])
// JSON: all([f.function for r in hits("in_library", q) for f in r.frames][:3] == ["in_library", "entry", "main"] for q in procs[:2])
// JSON: all(len(r.frames) == 1 for q in procs[2:] for r in hits("inner", q))

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

#ifdef LIBRARY

NOINLINE static void *in_library(int n)
{
    char name[100];
    snprintf(name, sizeof name, "%d", n);
    return strcpy(malloc(200), name);
}

int entry(int n)
{
    return in_library(n) != NULL;
}

#else

NOINLINE static int inner(int n)
{
    char name[100];
    snprintf(name, sizeof name, "%d", n);
    return *strcpy(malloc(100), name);
}

NOINLINE static int middle(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += inner(i);
    return sum;
}

NOINLINE static int outer(int n)
{
    return middle(n) + middle(n - 1);
}

/* The file has another content than the memory: as when a program is installed anew while it runs. */
static void replace_own_file(const char *name)
{
    char other[] = "other file";
    unlink(name);
    int fd = open(name, O_WRONLY | O_CREAT, 0700);
    if (write(fd, other, sizeof other) < 0)
        exit(3);
    close(fd);
}

int main(int argc, char **argv)
{
    int calls = 0, lowest = dup(0);
    close(lowest);
    if (strstr(argv[0], "replaced"))
        replace_own_file(argv[0]);
    for (int i = 0; i < 2; i++) {
        void *library = dlopen("./lib.so", RTLD_NOW);
        int (*entry)(int) = (int (*)(int))dlsym(library, "entry");
        calls += entry(i);
        dlclose(library);
    }
    int middles = outer(2);
    return calls == 2 && middles && dup(0) == lowest ? 0 : 2;
}

#endif
