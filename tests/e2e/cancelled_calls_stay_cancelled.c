// open of a pipe without a writer, accept, and close stay cancellation points: the thread ends there, its
// handlers run, and errno, results and descriptors are those of a run without libleak.
// CFLAGS: -O1 -g
// RUN: %leak %t && %t
// EXPECT: ^open cancelled accept cancelled connect refused 111 close cancelled $
// REFUSE: not cancelled
// JSON: p.end.value == 0 and [r for r in p.resources if r.type.endswith("close")] == []

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int listener;
static void cleanup(void *done) { *(int *)done = 1; }

#define BODY(name, call)                                                                           \
    static void *name(void *done)                                                                  \
    {                                                                                              \
        pthread_cleanup_push(cleanup, done);                                                       \
        call;                                                                                      \
        pthread_cleanup_pop(0);                                                                    \
        return NULL;                                                                               \
    }
BODY(opens, open("fifo", O_RDONLY))
BODY(accepts, accept(listener, NULL, NULL))
BODY(closes, { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); usleep(50000); pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL); close(100); })

static void cancel(const char *name, void *(*body)(void *))
{
    pthread_t thread;
    void *result;
    int done = 0;
    pthread_create(&thread, NULL, body, &done);
    usleep(20000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("%s %scancelled ", name, done && result == PTHREAD_CANCELED ? "" : "not ");
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    mkfifo("fifo", 0600);
    cancel("open", opens);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    listen(listener, 1);
    cancel("accept", accepts);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    errno = 0;
    connect(fd, (void *)&address, sizeof address);
    printf("connect refused %d ", errno);
    close(fd);
    close(listener);
    cancel("close", closes);
    puts("");
    return 0;
}
