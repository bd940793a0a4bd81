/* write_timeout.c - lets SIGALRM interrupt writes and connects that take too long. */
#include "common/base/write_timeout.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define STALL_SECONDS 10 /* longest time without a byte written, in seconds; then the write fails */
#define TOTAL_SECONDS 60
/* Most bytes per write(2): small enough to see the progress of a slow reader. */
#define WRITE_SIZE 65536
/* Interval of SIGALRM after the first one, in microseconds. It is repeated because a signal just
 * before a blocking call would not interrupt that call. */
#define REPEAT_USEC 100000

static volatile sig_atomic_t alarm_fired;
static time_t start_time;
static struct sigaction old_action;

static void on_alarm(int signal)
{
    (void)signal;
    alarm_fired = 1;
}

static time_t monotonic_seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

void write_timeout_renew(void)
{
    alarm_fired = 0;
    setitimer(ITIMER_REAL,
              &(struct itimerval){.it_value = {STALL_SECONDS, 0}, .it_interval = {0, REPEAT_USEC}},
              NULL);
}

void write_timeout_begin(void)
{
    sigset_t alarm_alone;

    sigemptyset(&alarm_alone);
    sigaddset(&alarm_alone, SIGALRM);
    /* The flags are without SA_RESTART, so that the signal interrupts blocking calls. */
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, &old_action);
    sigprocmask(SIG_UNBLOCK, &alarm_alone, NULL); /* the program may have blocked SIGALRM, and
                                                   * the mask is inherited */
    start_time = monotonic_seconds();
    write_timeout_renew();
}

void write_timeout_end(void)
{
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    sigaction(SIGALRM, &old_action, NULL);
}

bool write_timeout_expired(void)
{
    if (!alarm_fired && monotonic_seconds() - start_time <= TOTAL_SECONDS)
        return false;
    errno = ETIMEDOUT;
    return true;
}

/* Waits for a descriptor with O_NONBLOCK to become writable. False: the write failed or timed
 * out. */
static bool may_retry(int fd)
{
    if (errno == EAGAIN)
        poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, REPEAT_USEC / 1000);
    else if (errno != EINTR)
        return false;
    return !write_timeout_expired();
}

bool write_timeout_write(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t written = write(fd, text, length < WRITE_SIZE ? length : WRITE_SIZE);

        if (written < 0 && !may_retry(fd))
            return false;
        if (written <= 0)
            continue;
        text += written;
        length -= (size_t)written;
        if (length && monotonic_seconds() - start_time > TOTAL_SECONDS)
            return !write_timeout_expired();
        write_timeout_renew();
    }
    return true;
}

int write_timeout_connect(int family, int type, int protocol, const struct sockaddr *address,
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

int write_timeout_connect_path(const char *path, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    return write_timeout_connect(AF_UNIX, type, 0, (struct sockaddr *)&address, sizeof(address));
}
