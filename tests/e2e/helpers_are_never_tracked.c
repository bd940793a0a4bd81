// libleak.so in /etc/ld.so.preload and report=exit: what libleak starts for itself is no program of the user. The
// report of a process starts no second one, neither do leakwatch, leakreport, or a command that takes the report; the
// user's program, and its child, are tracked as ever, also by leakrun called from such a helper.
// NEEDS: root unshare mount containers
// CFLAGS: -O1 -g -fno-builtin
// RUN: rm -rf etc all kept.leak; mkdir all; cp -a /etc etc; echo %O/libleak.so >etc/ld.so.preload; echo dir=%d/all >etc/libleak.conf
// RUN: in_etc() { timeout -s KILL 20 unshare -m -p -f --kill-child --mount-proc sh -c 'mount --bind etc /etc; exec "$@"' sh "$@"; }
// RUN: count() { echo "$1: $(ls all | grep -c "^$2\.")"; }
// RUN: in_etc env LIBLEAK_OPTIONS=report=exit:report_to=command:cat %t >told 2>&1; count program t; count leakreport leakreport; count command cat
// RUN: echo "reports: $(grep -c '^libleak: pid=' told)"
// RUN: in_etc env LIBLEAK_OPTIONS=report=exit %run -q --keep=kept.leak %t >told 2>&1; count leakwatch leakwatch; count 'its leakreport' leakreport; ls kept*.leak | wc -l | sed 's/^/kept: /'
// RUN: in_etc env LIBLEAK_HELPER=1 %run -q -o called --force %t; grep -o 'lost=[0-9]*/[0-9]*' called
// EXPECT: ^program: 2$
// EXPECT: ^leakreport: 0$
// EXPECT: ^command: 0$
// EXPECT: ^reports: 2$
// EXPECT: ^leakwatch: 0$
// EXPECT: ^its leakreport: 0$
// EXPECT: ^kept: 2$
// EXPECT: ^lost=22/2$

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    if (!fork()) {
        malloc(11);
        return 0;
    }
    wait(NULL);
    malloc(11);
    return 0;
}
