// Hard case 20: a heap of a million blocks, looks one after another, each of which works for a good
// while; meanwhile a pipe's only writer closes it 300 times: the reader sees the end at once each time,
// and locks of files (flock) go with the last descriptor.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// ENV: LIBLEAK_OPTIONS=snapshot_every=50ms:pause_budget=10000:exit_look=off
// EXPECT: ^ends seen late: 0, locks held: 0$
// JSON: verdict("node") == {"reachable": (1000000, 24 * 1000000)}
// JSON: p.summary.lost.blocks == 0

#include "lib/verdicts.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>

TAKE(node, 24)
static void *volatile list;

int main(void)
{
    int late = 0, locked = 0;

    for (int i = 0; i < 1000000; i++) {
        void **p = node();
        *p = list;
        list = p;
    }
    for (int i = 0; i < 300; i++) {
        int fd[2], file = open("lock", O_RDWR | O_CREAT, 0600), other = open("lock", O_RDWR);
        char c;

        pipe(fd);
        flock(file, LOCK_EX);
        usleep(5000);
        close(fd[1]);
        close(file);
        struct pollfd p = { fd[0], POLLIN };
        late += poll(&p, 1, 10000) != 1 || read(fd[0], &c, 1) != 0;
        int held = 1;
        for (int n = 0; n < 10000 && held; n++)
            if ((held = flock(other, LOCK_EX | LOCK_NB) != 0))
                usleep(1000);
        locked += held;
        close(fd[0]);
        close(other);
    }
    printf("ends seen late: %d, locks held: %d\n", late, locked);
    return 0;
}
