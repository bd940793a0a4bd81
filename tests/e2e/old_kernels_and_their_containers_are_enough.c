// Each call that a kernel from 5.4 on, or a container with an old list of calls, may lack is made to fail, alone and all of
// them together, for the program, its children, leakrun and leakreport: report and exit status are always the same.
//
// NEEDS: timeout
// BUILD: mkdir seen
// RUN: for row in $(%t rows); do %t under $row %run --error-exitcode=9 -o seen/$row %t leak >seen/$row.said 2>&1; echo "$row: $? $(grep -c 'lost (malloc)' seen/$row) $(grep -c 'lose .*old_kernels' seen/$row) $(tail -n1 seen/$row | sed 's/pid=[0-9]* //') $(cat seen/$row.said)"; done
// EXPECT: ^none: 9 1 1 libleak: lost=48/1/1 indirect=0/0/0 .* errors=0 resources=0 child 0$
// EXPECT: ^linux-5.4: 9 1 1 libleak: lost=48/1/1 indirect=0/0/0 .* errors=0 resources=0 child 0$
// EXPECT: ^clone3-ENOSYS: 9 1 1 libleak: lost=48/1/1
// EXPECT: ^faccessat2-EPERM: 9 1 1 libleak: lost=48/1/1
// EXPECT: ^userfaultfd-EPERM: 9 1 1 libleak: lost=48/1/1
// REFUSE: ^[a-zA-Z0-9_.-]*: ([^9]|9 [^1]|9 1 [^1]|9 1 1 libleak: lost=([^4]|4[^8]|48/[^1]))
// REFUSE: ^[a-zA-Z0-9_.-]*: .*(child [^0]|resources=0 [^c])
#include "lib/old_kernel.h"

void *volatile sink;

__attribute__((noinline)) static void lose(void)
{
    sink = malloc(48);
    sink = NULL;
}

static int leak(void)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    waitpid(child, &status, 0);
    printf("child %d\n", status);
    lose();
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "leak") == 0)
        return leak();
    return old_kernel_run(argc, argv);
}
