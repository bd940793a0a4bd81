// Hard case 29b: RLIMIT_FSIZE, set before the start or by the program itself: no SIGXFSZ, normal end,
// at most one line from libleak that says what was lost; and the limit acts on the program as before.
// RUN: (ulimit -f 8; %leak %t) 2>err1; echo "status $?"; grep -c '^libleak: ' err1 | sed 's/^/lines with limit: /'; grep '^libleak: ' err1
// RUN: %leak %t own 2>err2; echo "status $?"; grep -c '^libleak: ' err2 | sed 's/^/lines without: /'
// RUN: (ulimit -f 0; %leak %t; echo "status $?" >&2) 2>&1 | cat >err3; cat err3; grep -c '^libleak: ' err3 | sed 's/^/lines with zero: /'
// RUN: (ulimit -f 0; %leak %t) 2>err4; echo "status $?"
// RUN: for f in store/*.leak; do [ -s $f ] || rm -f $f; done
// EXPECT: lines with limit: 1
// EXPECT: lines with zero: 1
// EXPECT: lines without: 0
// EXPECT: ^libleak: .*(RLIMIT_FSIZE|file size|limit)
// REFUSE: status ([1-689]|7.|1[0-9])
// JSON: any(of("sites", q).blocks == 20000 for q in procs)

#include "lib/sites.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rlimit limit = { 4096, 4096 };
    static char data[65536];
    struct sigaction sa;

    if (argc > 1)
        setrlimit(RLIMIT_FSIZE, &limit);
    sites(20000);
    sigaction(SIGXFSZ, NULL, &sa);
    if (sa.sa_handler != SIG_DFL)
        return 1; /* somebody changed it */
    signal(SIGXFSZ, SIG_IGN);
    int fd = open("data", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    ssize_t n = write(fd, data, sizeof data);
    unlink("data");
    return n >= (ssize_t)sizeof data ? 2 : 7;
}
