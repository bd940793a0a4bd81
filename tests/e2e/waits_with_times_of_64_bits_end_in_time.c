// A program of 32 bits whose times have 64 (_TIME_BITS=64) calls other functions of libc: they end in time, with the
// result of libc, while leak checks stop their thread again and again, and a mask of all signals hides no thread from them.
// CFLAGS: -O1 -g -D_TIME_BITS=64 -D_FILE_OFFSET_BITS=64
// EXPECT: ^ppoll 0 0 pselect 0 0 sigtimedwait -1 11 epoll_pwait2 0 0 semtimedop -1 11 nanosleep 0 0 clock_nanosleep 0 0$
// EXPECT: ^all in time$
// JSON: p.snapshot.threads_missed == 0 and p.snapshot.rung == "parked"

#include "../../include/libleak.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 150
#define LATE_MS 3000 /* the machine may be busy */

static struct timespec wait = {.tv_nsec = WAIT_MS * 1000000};
static sigset_t all;
static int epoll, semaphore;
static bool in_time = true, done;

static int by_ppoll(void)
{
    return ppoll(NULL, 0, &wait, &all);
}

static int by_pselect(void)
{
    return pselect(0, NULL, NULL, NULL, &wait, &all);
}

static int by_sigtimedwait(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigtimedwait(&set, NULL, &wait);
}

static int by_epoll_pwait2(void)
{
    struct epoll_event event;
    return epoll_pwait2(epoll, &event, 1, &wait, &all);
}

static int by_semtimedop(void)
{
    return semtimedop(semaphore, &(struct sembuf){.sem_op = -1}, 1, &wait);
}

static int by_nanosleep(void)
{
    return nanosleep(&wait, NULL);
}

static int by_clock_nanosleep(void)
{
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
}

static const struct {
    const char *name;
    int (*call)(void);
} waits[] = {{"ppoll", by_ppoll},
             {"pselect", by_pselect},
             {"sigtimedwait", by_sigtimedwait},
             {"epoll_pwait2", by_epoll_pwait2},
             {"semtimedop", by_semtimedop},
             {"nanosleep", by_nanosleep},
             {"clock_nanosleep", by_clock_nanosleep}};

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *wait_in_all_ways(void *argument)
{
    for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++) {
        long began = now_ms();
        errno = 0;
        int result = waits[i].call(), error = errno;
        long took = now_ms() - began;
        printf("%s%s %d %d", i ? " " : "", waits[i].name, result, error);
        in_time &= took >= WAIT_MS - 1 && took < WAIT_MS + LATE_MS;
    }
    printf("\n%s\n", in_time ? "all in time" : "at another time");
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    return argument;
}

int main(void)
{
    pthread_t thread;
    sigfillset(&all);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    semaphore = semget(IPC_PRIVATE, 1, 0600);
    pthread_create(&thread, NULL, wait_in_all_ways, NULL);
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        usleep(10000);
        libleak_snapshot();
    }
    pthread_join(thread, NULL);
    close(epoll);
    return semctl(semaphore, 0, IPC_RMID);
}
