/* write_timeout.c - see write_timeout.h. */
#include "common/base/write_timeout.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define STALL 10 /* seconds without a byte */
#define ALTOGETHER 60
#define PIECE 65536  /* one write(2), so that a slow reader is seen to read */
#define AGAIN 100000 /* us: a signal that came just before the call is followed by another */

static volatile sig_atomic_t rings;
static time_t begin;
static struct sigaction before;

static void ring(int signal)
{
    (void)signal;
    rings = 1;
}

static time_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

void patience_renew(void)
{
    rings = 0;
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {STALL, 0}, .it_interval = {0, AGAIN}},
              NULL);
}

void patience_begin(void)
{
    sigset_t alarm_alone;

    sigemptyset(&alarm_alone);
    sigaddset(&alarm_alone, SIGALRM);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = ring}, &before); /* no SA_RESTART */
    sigprocmask(SIG_UNBLOCK, &alarm_alone, NULL); /* the program's mask is inherited */
    begin = now();
    patience_renew();
}

void patience_end(void)
{
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    sigaction(SIGALRM, &before, NULL);
}

bool patience_lost(void)
{
    if (!rings && now() - begin <= ALTOGETHER)
        return false;
    errno = ETIMEDOUT;
    return true;
}

/* What was opened with O_NONBLOCK is waited for. */
static bool try_again(int fd)
{
    if (errno == EAGAIN)
        poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, AGAIN / 1000);
    else if (errno != EINTR)
        return false;
    return !patience_lost();
}

bool patience_write(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t written = write(fd, text, length < PIECE ? length : PIECE);

        if (written < 0 && !try_again(fd))
            return false;
        if (written <= 0)
            continue;
        text += written;
        length -= (size_t)written;
        if (length && now() - begin > ALTOGETHER)
            return !patience_lost();
        patience_renew();
    }
    return true;
}

int patience_connect(int family, int type, int protocol, const struct sockaddr *address,
                     socklen_t size)
{
    int fd = socket(family, type | SOCK_CLOEXEC, protocol), error;

    if (fd < 0 || connect(fd, address, size) == 0)
        return fd;
    error = errno == EINTR ? ETIMEDOUT : errno;
    close(fd);
    errno = error;
    return -1;
}

int patience_connect_path(const char *path, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    return patience_connect(AF_UNIX, type, 0, (struct sockaddr *)&address, sizeof(address));
}
