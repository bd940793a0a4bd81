// A set-user-id program never follows LD_PRELOAD, LIBLEAK_OPTIONS or LSAN_OPTIONS of its caller: nothing is
// written where the caller asks, even when the program is linked with the library.
// NEEDS: root setpriv mktemp
// BUILD: chmod 755 %d
// RUN: p=$(mktemp -d /tmp/libleak-test-XXXXXX); chmod 777 $p; cp %t %O/libleak.so $p; gcc -w -o $p/linked %s -Wl,--no-as-needed -L%O -lleak -Wl,-rpath,$p; chmod 4755 $p/t $p/linked; mkdir $p/out; chmod 777 $p/out
// RUN: for x in t linked; do setpriv --reuid=65534 --regid=65534 --clear-groups env LD_PRELOAD=$p/libleak.so LIBLEAK_OPTIONS=dir=$p/out:verbosity=1:report=exit LIBLEAK_DIR=$p/out XDG_RUNTIME_DIR=$p/out LSAN_OPTIONS=suppressions=$p/none $p/$x 2>e; echo "$x=$? lines=$(grep -c . e)"; done; find $p/out -type f -name '*.leak' | wc -l | sed 's/^/written: /'
// RUN: LIBLEAK_OPTIONS=; cp $p/linked plain; chmod 755 plain; LIBLEAK_OPTIONS=dir=%d/store ./plain; ls store | wc -l | sed 's/^/linked plain: /'; rm -rf "$p"
// EXPECT: ^t=0 lines=0
// EXPECT: ^linked=0 lines=0
// EXPECT: ^written: 0
// EXPECT: ^linked plain: 1

#include <stdlib.h>
#include <unistd.h>

void *volatile sink;

int main(void)
{
    sink = malloc(10);
    return 0;
}
