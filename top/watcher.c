/* watcher.c - takes snapshots, or other data, in a thread; described in heap_snapshot.h. */
#include "top/heap_snapshot.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct watcher {
    const struct watched *watched;
    void *source; /* what `take` reads; only the watcher's thread uses it */
    double interval;
    int event;
    pthread_t thread;
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t wakeup;
    bool stopping;
    void *newest;
    struct read_error failure;
};

/* Limit for waiting at the end: symbolizing may take seconds, and watcher_end() does not wait so
 * long. */
#define LEAVE_SECONDS 0.2

static struct timespec deadline_after(double seconds, clockid_t clock)
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

/* Waits for the interval. False: the watcher must stop. */
static bool wait_interval(struct watcher *watcher)
{
    struct timespec end = deadline_after(watcher->interval, CLOCK_MONOTONIC);
    bool stopping;

    pthread_mutex_lock(&watcher->lock);
    while (!watcher->stopping &&
           pthread_cond_timedwait(&watcher->wakeup, &watcher->lock, &end) != ETIMEDOUT)
        ;
    stopping = watcher->stopping;
    pthread_mutex_unlock(&watcher->lock);
    return !stopping;
}

/* Takes one snapshot. False: it was the last one of the process. */
static bool take_one(struct watcher *watcher)
{
    struct read_error trouble;
    bool more = false;
    void *taken = watcher->watched->take(watcher->source, &more, &trouble), *old = NULL;

    pthread_mutex_lock(&watcher->lock);
    if (taken) {
        old = watcher->newest;
        watcher->newest = taken;
    } else {
        watcher->failure = trouble;
    }
    pthread_mutex_unlock(&watcher->lock);
    eventfd_write(watcher->event, 1);
    if (old)
        watcher->watched->discard(old);
    return taken && more;
}

static void *watcher_thread(void *given)
{
    struct watcher *watcher = given;

    while (take_one(watcher) && wait_interval(watcher))
        ;
    return NULL;
}

static void free_watcher(struct watcher *watcher)
{
    watcher->watched->end(watcher->source);
    if (watcher->newest)
        watcher->watched->discard(watcher->newest);
    if (watcher->event >= 0)
        close(watcher->event);
    free(watcher);
}

struct watcher *watcher_begin(const struct watched *watched, void *source, double interval)
{
    struct watcher *watcher = calloc(1, sizeof(*watcher));
    pthread_condattr_t steady;
    sigset_t all, before;
    bool failed;

    if (!watcher) {
        watched->end(source);
        return NULL;
    }
    *watcher = (struct watcher){.watched = watched,
                                .source = source,
                                .interval = interval,
                                .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                                .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&watcher->wakeup, &steady);
    pthread_condattr_destroy(&steady);
    sigfillset(&all); /* blocks all signals in the new thread: the main thread receives them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = watcher->event < 0 || pthread_create(&watcher->thread, NULL, watcher_thread, watcher);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        return watcher;
    free_watcher(watcher);
    return NULL;
}

void watcher_end(struct watcher *watcher)
{
    struct timespec end = deadline_after(LEAVE_SECONDS, CLOCK_REALTIME);

    pthread_mutex_lock(&watcher->lock);
    watcher->stopping = true;
    pthread_cond_signal(&watcher->wakeup);
    pthread_mutex_unlock(&watcher->lock);
    if (pthread_timedjoin_np(watcher->thread, NULL, &end) == 0)
        free_watcher(watcher);
}

int watcher_fd(const struct watcher *watcher)
{
    return watcher->event;
}

void *watcher_take(struct watcher *watcher, struct read_error *failure)
{
    void *taken;
    eventfd_t count;

    eventfd_read(watcher->event, &count);
    pthread_mutex_lock(&watcher->lock);
    taken = watcher->newest;
    watcher->newest = NULL;
    *failure = watcher->failure;
    pthread_mutex_unlock(&watcher->lock);
    return taken;
}

/* ---- Watching a process ---------------------------------------------------------------------- */

static void *take_snapshot(void *source, bool *more, struct read_error *failure)
{
    struct heap_snapshot *snapshot = heap_snapshot_take(source, failure);

    *more = snapshot && snapshot->how == END_RUNNING;
    return snapshot;
}

static void discard_snapshot(void *taken)
{
    heap_snapshot_free(taken);
}

static void end_reader(void *source)
{
    snapshot_reader_end(source);
    free(source);
}

struct watcher *watcher_begin_process(const char *path, double interval)
{
    static const struct watched process = {take_snapshot, discard_snapshot, end_reader};
    struct snapshot_reader *reader = malloc(sizeof(*reader));

    if (!reader)
        return NULL;
    *reader = snapshot_reader_begin(path, NULL);
    return watcher_begin(&process, reader, interval);
}
