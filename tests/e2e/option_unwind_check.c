// unwind_check=N compares every N-th stack, unwind_oracle says with whom; without that one here a line says
// so and the program runs as ever; no descriptor is left open, and libc knows its program as before.
// BUILD: mkdir -p %d/none; : >%d/none/libunwind.so.8
// RUN: exec 3>&- 4>&- 5>&-
// RUN: export LIBLEAK_OPTIONS; LIBLEAK_OPTIONS=unwind_check=1; %leak %t
// RUN: LIBLEAK_OPTIONS=unwind_check=10; %leak %t
// RUN: LIBLEAK_OPTIONS=unwind_check=1:unwind_oracle=libgcc; %leak %t
// RUN: LIBLEAK_OPTIONS=unwind_check=1; (export LD_LIBRARY_PATH=%d/none; %leak %t)
// RUN: LIBLEAK_OPTIONS=; %leak %t
// NEEDS: /usr/lib/x86_64-linux-gnu/libunwind.so.8
// EXPECT: ^lowest free descriptor 3, 4 after
// REFUSE: lowest free descriptor [^3]
// EXPECT: ^called t with an environment
// REFUSE: ^called .* without|^called  
// EXPECT: ^libleak: unwind_check is off: no usable libunwind.so.8 here \(Debian package libunwind8\)
// JSON: [q.coverage.unwind_checks for q in procs[:2]] == [p.totals.allocations, p.totals.allocations // 10]
// JSON: procs[2].coverage.unwind_checks == procs[2].totals.allocations
// JSON: procs[3].coverage.unwind_checks == procs[4].coverage.unwind_checks == 0
// JSON: procs[3].totals.allocations == procs[4].totals.allocations >= 200
// JSON: all(q.coverage.unwind_mismatches == 0 for q in procs)

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile sink;
extern char **environ;

int main(void)
{
    int before = open("/dev/null", O_RDONLY);

    for (int i = 0; i < 200; i++)
        sink = malloc(10);
    printf("lowest free descriptor %d, %d after\n", before, open("/dev/null", O_RDONLY));
    printf("called %s with%s an environment\n", program_invocation_short_name, environ && *environ ? "" : "out");
    return 0;
}
