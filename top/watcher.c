/* watcher.c - see watcher.h. */
#include "top/watcher.h"

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
    pthread_mutex_t lock; /* of what follows */
    struct glance *ready;
    struct trouble gone;
};

static void wait_for(double seconds)
{
    struct timespec span = {.tv_sec = (time_t)seconds};

    span.tv_nsec = (long)((seconds - (double)span.tv_sec) * 1e9);
    nanosleep(&span, NULL);
}

/* False: it was the last one. */
static bool look(struct watcher *watcher)
{
    struct trouble trouble;
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

    while (look(watcher))
        wait_for(watcher->interval);
    return NULL;
}

struct watcher *watcher_begin(const char *path, double interval)
{
    struct watcher *watcher = calloc(1, sizeof(*watcher));
    sigset_t all, before;
    pthread_t thread;
    int failed;

    if (!watcher)
        return NULL;
    *watcher = (struct watcher){.glances = glances_begin(path, NULL),
                                .interval = interval,
                                .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                                .lock = PTHREAD_MUTEX_INITIALIZER};
    sigfillset(&all); /* signals are for the thread that shows */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = watcher->event < 0 || pthread_create(&thread, NULL, watch, watcher);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return NULL;
    pthread_detach(thread);
    return watcher;
}

int watcher_fd(const struct watcher *watcher)
{
    return watcher->event;
}

struct glance *watcher_take(struct watcher *watcher, struct trouble *gone)
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
