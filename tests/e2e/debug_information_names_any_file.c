// Debug information may name any file. Its line is shown when it is an ordinary file; a pipe, a file of the kernel, however
// a link leads there, and what lies beyond 8 MiB of a file are not read, nor waited for: what waits in the pipes stays
// there. The same holds for the debug files that a program names: a split one, and one beside the program.
//
// CFLAGS: -O1 -g -gsplit-dwarf
// BUILD: printf 'one\nplain line\n' >plain; ln -sf /proc/version link; mkfifo pipe side.debug; truncate -s 100G huge
// AFTER: objcopy --strip-debug %t beside; echo >side.debug & objcopy --add-gnu-debuglink=side.debug beside
// RUN: %leak %t; %leak ./beside
// RUN: mv t.dwo kept; mkfifo t.dwo; for p in pipe t.dwo side.debug; do echo "waits in $p" >$p & done
// RUN: timeout 60 %report store/t.*; echo "status $?"; timeout 60 %report store/beside.*; echo "status $?"
// RUN: timeout 10 cat t.dwo side.debug
// RUN: rm t.dwo; mv kept t.dwo
// RUN: timeout 60 %report --format=full store/t.*; echo "status $?"
// RUN: timeout 10 cat pipe
// EXPECT: \| plain line
// EXPECT: ^waits in pipe
// EXPECT: ^waits in t.dwo
// EXPECT: ^waits in side.debug
// REFUSE: Linux version
// REFUSE: ^status [1-9]

#include <stdlib.h>

void *volatile sink;

# 2 "plain"
void plain(void) { sink = malloc(11); sink = NULL; }
# 1 "link"
void linked(void) { sink = malloc(22); sink = NULL; }
# 1 "pipe"
void piped(void) { sink = malloc(33); sink = NULL; }
# 900000000 "huge"
void huge(void) { sink = malloc(44); sink = NULL; }
# 40 "main.c"
int main(void)
{
    plain();
    linked();
    piped();
    huge();
    return 0;
}
