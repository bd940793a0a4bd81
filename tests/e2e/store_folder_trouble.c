// Hard case 31: the folder for stores missing, not a folder or read-only: the program ends as ever, one line says what
// was lost. A child without a descriptor left says nothing: its parent counts it. Without trouble: no line.
// NEEDS: root unshare
// RUN: %leak %t 2>e0; echo "fine=$? lines=$(grep -c . e0)"
// RUN: try() { n=$1; shift; "$@" >o 2>e; echo "$n=$? lines=$(grep -c '^libleak: ' e) all=$(grep -c . e) out=$(cat o) $(head -n1 e)"; }
// RUN: try missing env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=/no/such/place %t
// RUN: : >file; try file env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/file %t
// RUN: try proc env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=/proc %t
// RUN: mkdir -p ro; try readonly unshare -m sh -c 'mount -t tmpfs -o ro none ro && LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/ro exec %t'
// RUN: try exitreport env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=/no/such/place:report=exit %t
// RUN: mkdir -p link; ln -s /etc link/to; try nofd env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/store %t nofd
// EXPECT: ^fine=7 lines=0
// EXPECT: ^missing=7 lines=1 all=1 out=ok libleak: .*/no/such/place
// EXPECT: ^file=7 lines=1 all=1 out=ok libleak: .*/file
// EXPECT: ^proc=7 lines=1 all=1 out=ok
// EXPECT: ^readonly=7 lines=1 all=1 out=ok libleak: .*[Rr]ead-only
// EXPECT: ^nofd=7 lines=0 all=0 out=ok $
// JSON: sum(u.count for q in procs for u in q.coverage.untracked if u.what == "UNRECORDED") == 1
// JSON: of("sites").blocks == 3000 and p.end.value == 7

#include "lib/sites.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    sites(3000);
    if (argc > 1) { /* the child finds no descriptor for a store of its own */
        int status;
        pid_t pid;
        struct rlimit few = { 64, 64 };
        setrlimit(RLIMIT_NOFILE, &few);
        if (!(pid = fork())) {
            while (dup(0) >= 0)
                ;
            pid_t grandchild = fork();
            if (grandchild == 0) {
                sites(100);
                _exit(8);
            }
            waitpid(grandchild, &status, 0);
            _exit(WEXITSTATUS(status));
        }
        waitpid(pid, &status, 0);
        if (WEXITSTATUS(status) != 8)
            return 1;
    }
    write(1, "ok\n", 3);
    return 7;
}
