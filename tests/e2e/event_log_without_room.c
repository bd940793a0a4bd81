// An event log that cannot be written says so in one line, loses lines from there on and says how many; the
// program goes on, and no signal comes of it: on a full disk, at the file size limit, in a folder that goes. What
// was written are whole lines. The program sees no descriptor more, and its files are not touched.
// NEEDS: root mount unshare
// CFLAGS: -O1 -g -fno-builtin
// RUN: with() { (export LIBLEAK_OPTIONS=$1; shift; %leak %t "$@"); }
// RUN: mkdir disk; LIBLEAK_OPTIONS=log=1:log_file=disk/log; export LIBLEAK_OPTIONS; unshare -m sh -c 'mount -t tmpfs -o size=1m none disk && %leak %t 20000; cp disk/log full' 2>&1 | sed "s/^/full: /"; unset LIBLEAK_OPTIONS; grep -vcE '^[0-9.]+ T1.* in /|^$' full | sed 's/^/full, torn: /'; grep -c . full | sed 's/^/full, lines: /'
// RUN: (ulimit -f 1024; with log=1:log_file=limit 20000; echo "limit: $?"); grep -vcE '^[0-9.]+ T1.* in /|^$' limit
// RUN: mkdir gone; with log=1:log_file=gone/log 20000 gone 2>&1 | sed 's/^/gone: /'
// RUN: echo precious >kept; with log=1:log_file=kept 10; cat kept; with log=3:log_file=fds 10 fds >a; %t 10 fds >b; diff a b && echo the same descriptors
// RUN: ln -s kept link; with log=1:log_file=link 10; cat kept; ls link.*; with log=1:log_file=$(head -c 600 /dev/zero | tr "\000" x) 5 2>&1 | cut -c1-60
// EXPECT: ^full: libleak: no log in /.*/disk/log from here on: no space left$
// EXPECT: ^full: libleak: log: [0-9]{4,5} events are missing at the end of /.*/disk/log$
// EXPECT: ^full: on 20000$
// EXPECT: ^full, torn: 0$
// EXPECT: ^full, lines: [0-9]{4}
// EXPECT: ^libleak: no log in /.*/limit from here on: file size limit$
// EXPECT: ^limit: 0$
// EXPECT: ^gone: libleak: no log in /.*/gone/log from here on: no such directory$
// EXPECT: ^gone: on 20000$
// EXPECT: ^precious$
// EXPECT: ^the same descriptors$
// EXPECT: ^link\.[0-9]+$
// EXPECT: ^libleak: bad value in 'log_file=x
// JSON: all(q.end.how == "exit" and q.end.value == 0 for q in procs) and len(procs) == 7

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int n = atoi(argv[1]), open = 0;
    for (int i = 0; i < n; i++)
        free(malloc(10));
    if (argc > 2 && !strcmp(argv[2], "gone")) {
        rename("gone", "elsewhere");
        for (int i = 0; i < n; i++)
            free(malloc(10));
    }
    if (argc > 2 && !strcmp(argv[2], "fds")) {
        for (int i = 0; i < 100; i++) {
            free(malloc(10));
            int fd = dup(0);
            open = fd > open ? fd : open;
            close(fd);
        }
        printf("descriptors: %d\n", open);
    }
    printf("on %d\n", n);
    return 0;
}
