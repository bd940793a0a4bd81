// LSAN_OPTIONS=suppressions=FILE: found from the working directory, or beside the program; a forked child
// has the same; a mistake in it is a note, and its other lines hold; a file that is not there is said. Valgrind's
// form does as well. (LeakSanitizer: suppressions_file.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// BUILD: printf 'leak:known_leak$\n' >known.txt; printf 'laek:x\n{\n  by design\n  Memcheck:Leak\n  fun:malloc\n  fun:known_leak\n}\n' >both.txt; mkdir -p elsewhere
// RUN: LSAN_OPTIONS=suppressions=known.txt:print_suppressions=0 %leak %t; cd elsewhere; LSAN_OPTIONS="suppressions='known.txt'" %leak %t; cd ..; LSAN_OPTIONS=suppressions=both.txt %leak %t; LSAN_OPTIONS=suppressions=none.txt %leak %t; LIBLEAK_OPTIONS=verbosity=0 %leak %t
// EXPECT: ^libleak: cannot read suppressions=none.txt
// JSON: len(procs) == 10 and all(verdict("other_leak", q) == {"lost": (1, 56)} for q in procs)
// JSON: [q.suppressed.bytes for q in procs] == [40, 40, 40, 40, 40, 40, 0, 0, 0, 0]
// JSON: [q.summary.lost.bytes for q in procs] == [56, 56, 56, 56, 56, 56, 96, 96, 96, 96]
// JSON: {one("known_leak", process=q).suppressed_by for q in procs[:4]} == {"leak:known_leak$"}
// JSON: {one("known_leak", process=q).suppressed_by for q in procs[4:6]} == {"by design"}
// JSON: all(one("other_leak", process=q).suppressed_by is None for q in procs)
// JSON: [any("both.txt:1: neither leak:" in n for n in q.notes) for q in procs] == [False] * 4 + [True] * 2 + [False] * 4

#include "lib/verdicts.h"
#include <sys/wait.h>

LOSE(known_leak, 40)
LOSE(other_leak, 56)

int main(void)
{
    int status, pid = fork();

    known_leak();
    other_leak();
    if (pid)
        wait(&status);
    return 0;
}
