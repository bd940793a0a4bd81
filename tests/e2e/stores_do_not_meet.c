// Hard case 31: two runs at once, the same pid again (pid namespaces), a stale file of the coming name,
// a symlink in its place: every run gets a recording file of its own, and no existing file is overwritten.
// NEEDS: root unshare
// CFLAGS: -O1 -g -fno-builtin
// RUN: for i in 1 2 3 4; do %leak %t & done; wait
// RUN: for n in 0 1 2 3; do echo precious >precious$n; ln -s %d/precious$n store/t.1.$n.leak; done
// RUN: for i in 1 2 3; do unshare -pf env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/store %t; done
// RUN: cat precious? | grep -cx precious | sed 's/^/untouched: /'; find store -type l -exec rm {} +; ls -l store | awk '/leak$/ {print "mode", $1}'; ls store | wc -l
// EXPECT: ^untouched: 4$
// EXPECT: ^7$
// EXPECT: ^mode -rw-------
// REFUSE: ^mode -rw-r
// JSON: len(procs) == 7 and all(of("in_main", q).blocks == 50 and q.end.how == "exit" for q in procs)
// JSON: len({q.pid for q in procs}) == 5

#include <stdlib.h>
#include <unistd.h>

void *volatile sink;
__attribute__((noinline)) void in_main(void) { sink = malloc(10); sink = NULL; usleep(1000); }

int main(void)
{
    for (int i = 0; i < 50; i++)
        in_main();
    return 0;
}
