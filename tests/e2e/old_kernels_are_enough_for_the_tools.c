// leakctl and leaktop do on Linux 5.4, with a program on it, what they do on a new one; where a container refuses a call that
// leakctl needs they say so in one line, and the program goes on.
//
// BUILD: echo '"$@" & echo $! >pid; wait' >start
// RUN: %t under linux-5.4 sh start %leak %t wait & %t wait & bare=$!; for i in $(seq 100); do ls store/*.leak >/dev/null 2>&1 && break; sleep 0.1; done; sleep 0.3; waiting=$(cat pid)
// RUN: for row in none linux-5.4; do %t under $row %O/leakctl snapshot --dir=store $waiting >said 2>&1; echo "$row snapshot: $? $(grep -o 'lost: .* bytes' said)"; done
// RUN: for row in none linux-5.4; do %t under $row %O/leaktop --once --dir=store $waiting >said 2>&1; echo "$row top: $? $(grep -c 'lose' said)"; done
// RUN: for row in none linux-5.4; do %t under $row %O/leakctl scan $bare >said 2>&1; echo "$row scan: $? $(grep -o 'lost=[0-9/]*' said)"; done
// RUN: for row in none linux-5.4; do %t under $row %O/leakctl attach --for=1s -o attached.$row $bare >said 2>&1; echo "$row attach: $? $(grep -c ^libleak: attached.$row) $(grep -o 'detached' said)"; done
// RUN: for row in pidfd_open-EPERM pidfd_open-ENOSYS pidfd_send_signal-ENOSYS; do %t under $row %O/leakctl snapshot --dir=store $waiting >said 2>&1; echo "$row: $? $(wc -l <said) $(cat said)"; done
// RUN: kill $waiting && kill $bare && echo both ran
// EXPECT: ^none snapshot: 0 lost: 3 blocks, 144 bytes$
// EXPECT: ^linux-5.4 snapshot: 0 lost: 3 blocks, 144 bytes$
// EXPECT: ^none top: 0 1$
// EXPECT: ^linux-5.4 top: 0 1$
// EXPECT: ^none scan: 0 lost=168/3/1$
// EXPECT: ^linux-5.4 scan: 0 lost=168/3/1$
// EXPECT: ^none attach: 0 1 detached$
// EXPECT: ^linux-5.4 attach: 0 1 detached$
// EXPECT: ^pidfd_open-EPERM: 1 1 leakctl: .*could not be sent: Operation not permitted
// EXPECT: ^pidfd_open-ENOSYS: 1 1 leakctl: .*could not be sent: Function not implemented
// EXPECT: ^both ran$
#include "lib/old_kernel.h"

void *volatile sink;

__attribute__((noinline)) static void lose(void)
{
    sink = malloc(48);
    sink = NULL;
}

int main(int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[1], "wait") != 0)
        return old_kernel_run(argc, argv);
    for (int i = 0; i < 3; i++)
        lose();
    for (int i = 0; i < 1200; i++) {
        usleep(100000);
        free(malloc(100));
    }
    return 0;
}
