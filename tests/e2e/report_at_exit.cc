// report=exit prints the same report as leakrun on stderr, after the program's own last words; without
// it stderr stays empty. The status is the program's.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t >o0 2>e0; echo "quiet=$? $(grep -c . e0)"; LIBLEAK_OPTIONS=report=exit; %leak %t 2>e1; echo "status=$?"; LIBLEAK_OPTIONS=; %run -- %t 2>e2 >o2; echo "leakrun=$?"; sed 's/^/exit: /' e1; norm() { sed -e /^Next:/d -e 's/pid=[0-9]*/pid=N/g; s/(pid [0-9]*)/(pid N)/g; s/[0-9][0-9]:[0-9:.]*/TIME/g; s/pid [0-9]*/pid N/g; s/paused [0-9.]* ms/paused/; s/, checked in [0-9.]* ms//' "$1"; }; norm e1 >n1; norm e2 >n2; diff n1 n2 && echo same report; cmp o0 o2 && echo same output
// EXPECT: ^quiet=4 0
// EXPECT: ^status=4
// EXPECT: ^leakrun=4
// EXPECT: ^exit: .*report_at_exit\.cc:[0-9]+
// EXPECT: ^exit: libleak: pid=[0-9]+ lost=10/1/1 indirect=0/0/0 possible=0/0/0 hidden=0/0/0 reachable=0/0/0 runtime=[0-9/]+ unfreed=0/0/0 growing=0 errors=0 resources=0$
// EXPECT: ^same report
// EXPECT: ^same output

#include <cstdio>
#include <cstdlib>

void *volatile sink;
__attribute__((noinline)) void leak() { sink = malloc(10); sink = nullptr; }

int main()
{
    leak();
    printf("buffered last words\n");
    return 4;
}
