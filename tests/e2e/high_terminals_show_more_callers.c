// On a terminal of 60 rows all four stacks are whole; on one of 24 rows they are cut.
// NEEDS: script
// CFLAGS: -O0 -g -fno-optimize-sibling-calls
// RUN: for rows in 60 24; do TERM=xterm script -qec "stty rows $rows cols 80; %run --color=never %t" /dev/null </dev/null >out.$rows; done; sed 's/^/60: /' out.60; sed 's/^/24: /' out.24
// EXPECT: ^60: +main +
// EXPECT: ^60: 4\. 44 bytes
// EXPECT: ^60: Leak check
// EXPECT: ^24: +[0-9]+ more callers
// REFUSE: ^60: +[0-9]+ more caller
// REFUSE: ^24: Leak check
#include "cut_stacks_say_so.c"
