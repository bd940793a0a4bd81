// graph=: the leak check at exit writes a file, readable for its owner alone, and nothing else of the program changes.
// A second process keeps the first one's file. What cannot be written is said in one line, leaves nothing behind, and
// the report is as ever: no such directory, a full disk, a limit on the size of files.
// NEEDS: root containers
// RUN: cd %d; rm -rf files; mkdir files; with() { o=$1; shift; (export LIBLEAK_OPTIONS=$o:report=exit; %leak "$@"); }
// RUN: with graph=files/one %t; echo "status $?"; stat -c '%a %n' files/*; %O/leakgraph files/one | grep -c 'keep '
// EXPECT: ^status 3$
// EXPECT: ^600 files/one$
// EXPECT: ^1$
// RUN: with graph=files/one %t >/dev/null 2>&1; ls files | grep -c '^one.[0-9]*$'; with graph=files/%e.%n %t >/dev/null 2>&1; with graph=files/%e.%n %t >/dev/null 2>&1; ls files/t.1 files/t.2
// EXPECT: ^files/t.1$
// EXPECT: ^files/t.2$
// RUN: with graph=files/fork %t fork 2>&1 | grep -c lost; ls files | sed -n 's/^fork.*/a &/p' | sed 's/[0-9][0-9]*/N/'
// EXPECT: ^a fork$
// EXPECT: ^a fork.N$
// RUN: with graph=/nowhere/x %t; echo "nowhere: $?"
// EXPECT: ^libleak: no heap graph in /nowhere/x: no such directory$
// EXPECT: ^nowhere: 3$
// RUN: (ulimit -f 1; with graph=files/limit %t big 2>&1) | grep 'heap graph'; ls files | grep -c -e limit -e part
// EXPECT: ^libleak: no heap graph in .*/files/limit: file size limit$
// RUN: mkdir files/small; unshare -m sh -c 'mount -t tmpfs -o size=64k none files/small && export LIBLEAK_OPTIONS=graph=files/small/x && %leak %t big; echo "full: $?"; ls files/small | wc -l | sed "s/^/left: /"'
// EXPECT: ^libleak: no heap graph in .*/files/small/x: no space left$
// EXPECT: ^full: 3$
// EXPECT: ^left: 0$
// RUN: with graph=files/many %t big >/dev/null 2>&1; %O/leakgraph files/many | grep -e ^Blocks -e ^Pointers
// EXPECT: ^Blocks: 100,000$
// EXPECT: ^Pointers between blocks: 99,999$
// RUN: with sample=4096:graph=files/sampled %t 2>&1 | grep 'heap graph'
// EXPECT: ^libleak: no heap graph in .*/files/sampled: with sample= most blocks are unknown$
// RUN: with exit_look=off:graph=files/none %t 2>/dev/null; ls files | grep -c none; true
// EXPECT: ^0$

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *kept;
__attribute__((noinline)) static void keep(size_t size)
{
    void **block = malloc(size);
    *block = kept;
    kept = block;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < (argc > 1 && !strcmp(argv[1], "big") ? 100000 : 10); i++)
        keep(40);
    if (argc > 1 && !strcmp(argv[1], "fork") && fork() == 0)
        keep(40), exit(3);
    wait(NULL);
    return 3;
}
