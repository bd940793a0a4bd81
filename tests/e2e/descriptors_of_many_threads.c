// Eight threads open, copy, connect and close in parallel, 20,000 times: the report lists only what one of
// them leaves open, reports no close as wrong, and has counted every opening.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// JSON: opened() == {"fd": 8, "file": 8} and opened("leaves") == {"fd": 8, "file": 8}
// JSON: {t.type: t.opened for t in p.resource_totals}["fd"] == 8 * (20000 * 3 // 4 + 20000 // 4 * 4 + 1)
// JSON: {t.type: t.opened for t in p.resource_totals}["file"] == 8 * (20000 // 8 + 1) and p.resources_missed == 0

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

__attribute__((noinline)) void leaves(void)
{
    open("/dev/null", O_RDONLY);
    fopen("/dev/null", "r");
}

void *work(void *unused)
{
    for (int i = 0; i < 20000; i++) {
        int fd = open("/dev/null", O_RDONLY), pair[2];
        if (i % 4 == 0) {
            int copy = dup(fd);
            socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
            close(pair[0]);
            close(pair[1]);
            close(copy);
        }
        if (i % 8 == 0)
            fclose(fopen("/dev/null", "r"));
        close(fd);
    }
    leaves();
    return unused;
}

int main(void)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
