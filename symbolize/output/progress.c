/* progress.c - shows a line on the terminal while making a report takes long; described in
 * output.h.
 *
 * A thread of its own writes the line, so that the functions that take long need not call anything
 * in their loops. The thread only formats numbers and calls write(2), because another thread, which
 * reads foreign files, may fork at any time.
 */
#include "symbolize/output/output.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_SECONDS 1 /* seconds after which the line appears */

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wakeup;
    uint64_t (*count)(void);
    _Atomic(const char *) stage;
    bool runs, ends;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void put_text(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));

    (void)written; /* an error is ignored: the terminal is gone */
}

static void put_progress(unsigned seconds)
{
    char text[160];

    snprintf(text, sizeof(text), "\r\033[Kleakreport: %s, %llu addresses resolved, %u s ...",
             progress.stage, (unsigned long long)progress.count(), seconds);
    put_text(text);
}

static void *progress_thread(void *unused)
{
    struct timespec next;
    unsigned seconds = 0;

    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&progress.lock);
    while (!progress.ends) {
        next.tv_sec++;
        while (!progress.ends &&
               pthread_cond_timedwait(&progress.wakeup, &progress.lock, &next) != ETIMEDOUT)
            ;
        if (!progress.ends && ++seconds >= FIRST_SECONDS)
            put_progress(seconds);
    }
    pthread_mutex_unlock(&progress.lock);
    if (seconds >= FIRST_SECONDS)
        put_text("\r\033[K");
    return NULL;
}

void progress_say(const char *stage)
{
    progress.stage = stage;
}

void progress_begin(uint64_t (*count)(void))
{
    pthread_condattr_t steady;
    sigset_t all, before;

    if (!isatty(STDERR_FILENO))
        return;
    progress.stage = "reading the recording";
    progress.count = count;
    progress.ends = false;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&progress.wakeup, &steady);
    pthread_condattr_destroy(&steady);
    sigfillset(&all); /* blocks all signals in the new thread: the main thread receives them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    progress.runs = pthread_create(&progress.thread, NULL, progress_thread, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_end(void)
{
    if (!progress.runs)
        return;
    pthread_mutex_lock(&progress.lock);
    progress.ends = true;
    pthread_cond_signal(&progress.wakeup);
    pthread_mutex_unlock(&progress.lock);
    pthread_join(progress.thread, NULL);
    pthread_cond_destroy(&progress.wakeup);
    progress.runs = false;
}
