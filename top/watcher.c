/* watcher.c - see watcher.h. */
#include "top/watcher.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct watcher {
    struct glances glances; /* the thread's alone */
    double interval;
    int event;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ending;
    bool over;
    struct glance *ready;
    struct read_error gone;
};

/* Names are looked up for seconds; who wants to leave does not wait for so long. */
#define LEAVE_SECONDS 0.2

static struct timespec in(double seconds, clockid_t clock)
{
    struct timespec end;
    double whole, part = modf(seconds, &whole);

    clock_gettime(clock, &end);
    end.tv_sec += (time_t)whole;
    end.tv_nsec += (long)(part * 1e9);
    if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        end.tv_sec++;
    }
    return end;
}

/* True: the interval has passed. False: it is over. */
static bool wait_for_next(struct watcher *watcher)
{
    struct timespec end = in(watcher->interval, CLOCK_MONOTONIC);
    bool over;

    pthread_mutex_lock(&watcher->lock);
    while (!watcher->over &&
           pthread_cond_timedwait(&watcher->ending, &watcher->lock, &end) != ETIMEDOUT)
        ;
    over = watcher->over;
    pthread_mutex_unlock(&watcher->lock);
    return !over;
}

/* False: it was the last one. */
static bool look(struct watcher *watcher)
{
    struct read_error trouble;
    struct glance *glance = glance_take(&watcher->glances, &trouble), *old = NULL;
    bool more = glance && glance->how == END_RUNNING;

    pthread_mutex_lock(&watcher->lock);
    if (glance) {
        old = watcher->ready;
        watcher->ready = glance;
    } else {
        watcher->gone = trouble;
    }
    pthread_mutex_unlock(&watcher->lock);
    eventfd_write(watcher->event, 1);
    glance_end(old);
    return more;
}

static void *watch(void *given)
{
    struct watcher *watcher = given;

    while (look(watcher) && wait_for_next(watcher))
        ;
    return NULL;
}

static void forget(struct watcher *watcher)
{
    glances_end(&watcher->glances);
    glance_end(watcher->ready);
    if (watcher->event >= 0)
        close(watcher->event);
    free(watcher);
}

struct watcher *watcher_begin(const char *path, double interval)
{
    struct watcher *watcher = calloc(1, sizeof(*watcher));
    pthread_condattr_t steady;
    sigset_t all, before;
    bool failed;

    if (!watcher)
        return NULL;
    *watcher = (struct watcher){.glances = glances_begin(path, NULL),
                                .interval = interval,
                                .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                                .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&watcher->ending, &steady);
    pthread_condattr_destroy(&steady);
    sigfillset(&all); /* signals are for the thread that shows */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = watcher->event < 0 || pthread_create(&watcher->thread, NULL, watch, watcher);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        return watcher;
    forget(watcher);
    return NULL;
}

void watcher_end(struct watcher *watcher)
{
    struct timespec end = in(LEAVE_SECONDS, CLOCK_REALTIME);

    pthread_mutex_lock(&watcher->lock);
    watcher->over = true;
    pthread_cond_signal(&watcher->ending);
    pthread_mutex_unlock(&watcher->lock);
    if (pthread_timedjoin_np(watcher->thread, NULL, &end) == 0)
        forget(watcher);
}

int watcher_fd(const struct watcher *watcher)
{
    return watcher->event;
}

struct glance *watcher_take(struct watcher *watcher, struct read_error *gone)
{
    struct glance *glance;
    eventfd_t count;

    eventfd_read(watcher->event, &count);
    pthread_mutex_lock(&watcher->lock);
    glance = watcher->ready;
    watcher->ready = NULL;
    *gone = watcher->gone;
    pthread_mutex_unlock(&watcher->lock);
    return glance;
}
