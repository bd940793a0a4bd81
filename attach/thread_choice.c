/* thread_choice.c - lists the threads of a process, those first that are most likely at a safe
 * place. */
#include "attach/thread_choice.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "common/base/proc.h"
#include "common/base/term_text.h"

/* Time for which a refused thread is left alone while it sleeps in the same system call. */
#define LEFT_ALONE_NS 2000000000ull

struct refused_thread {
    pid_t tid;
    uint64_t until; /* time until which the thread is not tried, of CLOCK_MONOTONIC in
                     * nanoseconds */
    char call[THREAD_CALL_SIZE];
};

/* Reads the system call of a thread, with its arguments and stack pointer; "" = unknown. */
static void read_call(pid_t pid, pid_t tid, char call[THREAD_CALL_SIZE])
{
    char file[64];

    snprintf(file, sizeof(file), "task/%d/syscall", (int)tid);
    if (!proc_read_text(pid, file, call, THREAD_CALL_SIZE))
        *call = '\0';
}

static bool is_asleep(const char *call)
{
    return *call >= '0' && *call <= '9';
}

/* Ranks a thread by its system call; the threads with the lowest rank are tried first. 0 = the
 * kernel restarts the call after a stop, 1 = another call, such as epoll_wait, 2 = the thread
 * runs. */
static int rank_call(const char *call)
{
    if (!is_asleep(call))
        return 2;
    switch (strtol(call, NULL, 10)) {
    case SYS_read:
    case SYS_poll:
    case SYS_futex:
    case SYS_clock_nanosleep:
    case SYS_nanosleep:
    case SYS_wait4:
    case SYS_select:
    case SYS_pselect6:
    case SYS_rt_sigsuspend:
    case SYS_pause:
        return 0;
    }
    return 1;
}

static struct refused_thread *find_refused(const struct thread_choice *choice, pid_t tid)
{
    for (size_t i = 0; i < choice->refused_count; i++)
        if (choice->refused[i].tid == tid)
            return &choice->refused[i];
    return NULL;
}

static bool is_left_alone(const struct thread_choice *choice, pid_t tid, const char *call)
{
    const struct refused_thread *refused = find_refused(choice, tid);

    return refused && is_asleep(call) && strcmp(call, refused->call) == 0 &&
           time_steady_ns() < refused->until;
}

void thread_choice_list(struct thread_choice *choice)
{
    struct {
        pid_t tid;
        size_t place;
    } * ranked[3] = {NULL};
    size_t count[3] = {0};
    char path[64], *call;
    struct dirent *entry;
    DIR *stream;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)choice->pid);
    stream = opendir(path);
    choice->count = choice->threads = 0;
    while (stream && (entry = readdir(stream))) {
        pid_t tid = (pid_t)atoi(entry->d_name);
        int rank;

        if (tid <= 0)
            continue;
        choice->call = reallocarray(choice->call, choice->threads + 1, sizeof(*choice->call));
        call = choice->call[choice->threads++];
        read_call(choice->pid, tid, call);
        if (is_left_alone(choice, tid, call))
            continue;
        rank = rank_call(call);
        ranked[rank] = reallocarray(ranked[rank], count[rank] + 1, sizeof(**ranked));
        ranked[rank][count[rank]].tid = tid;
        ranked[rank][count[rank]++].place = choice->threads - 1;
    }
    if (stream)
        closedir(stream);
    choice->tid = reallocarray(choice->tid, choice->threads + 1, sizeof(pid_t));
    choice->place = reallocarray(choice->place, choice->threads + 1, sizeof(size_t));
    for (int rank = 0; rank < 3; rank++) {
        for (size_t i = 0; i < count[rank]; i++) {
            choice->tid[choice->count] = ranked[rank][i].tid;
            choice->place[choice->count++] = ranked[rank][i].place;
        }
        free(ranked[rank]);
    }
}

void thread_choice_refuse(struct thread_choice *choice, size_t i)
{
    struct refused_thread *refused = find_refused(choice, choice->tid[i]);

    if (!refused) {
        choice->refused =
            reallocarray(choice->refused, choice->refused_count + 1, sizeof(*choice->refused));
        refused = &choice->refused[choice->refused_count++];
        refused->tid = choice->tid[i];
    }
    refused->until = time_steady_ns() + LEFT_ALONE_NS;
    memcpy(refused->call, choice->call[choice->place[i]], THREAD_CALL_SIZE);
}

void thread_choice_end(struct thread_choice *choice)
{
    free(choice->tid);
    free(choice->place);
    free(choice->call);
    free(choice->refused);
}
