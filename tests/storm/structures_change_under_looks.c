// Eight threads change lists, trees and hash chains for SOAK_SECONDS, with a look every 100 ms and a thread
// that asks for more: no look calls a block lost, no waiting call fails with EINTR, ends early or goes
// on beyond twice its time (and what a busy machine may take), nothing hangs, and the work goes on.
// CFLAGS: -O2 -g -fno-builtin
// CFLAGS: -O0 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=exit_look=off; %leak %t 3 calm >calm; LIBLEAK_OPTIONS=snapshot_every=100ms; %leak %t ${SOAK_SECONDS:-5} looks >looks || exit; cat calm looks
// RUN: awk '/rounds a second/ { n[FILENAME] = $1 } END { exit n["looks"] == 0 }' calm looks && echo "work goes on"
// EXPECT: ^work goes on
// EXPECT: ^asked [1-9][0-9]* times, blocks lost: 0$
// REFUSE: interrupted|early|late|torn
// JSON: len(procs) == 2
// JSON: all(procs[1].summary[v].blocks == 0 for v in ("lost", "indirect", "hidden"))
// JSON: procs[1].snapshot.rung == "parked" and procs[1].snapshot.threads_missed == 0
// JSON: all(q.coverage.unknown_frees == 0 and q.end.how == "exit" and q.end.value == 0 for q in procs)

#include "../../include/libleak.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- Structures: at every instant each block is reachable from a global, a stack or a register  */

enum { WORKERS = 8, CHAINS = 1024, SHELVES = 512, WAIT_MS = 200, BUSY_MS = 4000 };

struct node {
    struct node *left, *right, *next;
    unsigned long key;
    char *text; /* a block of its own */
};
static atomic_int stop;
static atomic_long rounds[WORKERS * 16]; /* a cache line each */
static struct node *chain[CHAINS]; /* shared, each 64 under one lock */
static pthread_mutex_t chain_lock[CHAINS / 64];
static _Atomic(struct node *) shelf[SHELVES]; /* taken and put by exchange */

static struct node *new_node(unsigned long key)
{
    struct node *n = calloc(1, sizeof *n);

    n->key = key;
    n->text = malloc(8 + key % 120);
    snprintf(n->text, 8, "%lx", key & 0xffffff);
    return n;
}

static void free_node(struct node *n)
{
    char want[8];

    snprintf(want, sizeof want, "%lx", n->key & 0xffffff);
    if (strcmp(n->text, want))
        puts("torn: a block has not what was written");
    free(n->text);
    free(n);
}

static void change_list(struct node **list, int *length, unsigned long x)
{
    if (*length < 500 + x % 1000) {
        struct node *n = new_node(x);
        n->next = *list;
        *list = n;
        ++*length;
        return;
    }
    for (struct node *n, **at = list; (n = *at);) /* every third goes */
        if (n->key % 3 == 0) {
            *at = n->next;
            free_node(n);
            --*length;
        } else {
            at = &n->next;
        }
    if (x % 7 == 0) { /* reversed in place */
        struct node *turned = NULL, *n;
        while ((n = *list)) {
            *list = n->next;
            n->next = turned;
            turned = n;
        }
        *list = turned;
    }
    while (*length > 400) {
        struct node *n = *list;
        *list = n->next;
        free_node(n);
        --*length;
    }
}

static struct node *tree_insert(struct node *root, struct node *n)
{
    struct node **at = &root;

    while (*at)
        at = n->key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = n;
    return root;
}

static int tree_drop(struct node *root)
{
    int n = 0;

    while (root) { /* rotated to a list as it goes, no recursion */
        struct node *left = root->left;
        if (left) {
            root->left = left->right;
            left->right = root;
            root = left;
        } else {
            struct node *right = root->right;
            free_node(root);
            root = right;
            n++;
        }
    }
    return n;
}

static void change_chain(unsigned long x)
{
    unsigned i = x % CHAINS, same = 0;

    pthread_mutex_lock(&chain_lock[i / 64]);
    for (struct node *n, **at = &chain[i]; (n = *at);)
        if (++same > 20 || n->key % 5 == x % 5) {
            *at = n->next;
            free_node(n);
        } else {
            at = &n->next;
        }
    struct node *n = new_node(x);
    n->next = chain[i];
    chain[i] = n;
    pthread_mutex_unlock(&chain_lock[i / 64]);
}

static void change_shelf(unsigned long x)
{
    struct node *n = atomic_exchange(&shelf[x % SHELVES], NULL); /* in a register alone, for now */

    if (!n)
        n = new_node(x);
    if ((n = atomic_exchange(&shelf[x / SHELVES % SHELVES], n)))
        free_node(n);
}

static void *worker(void *arg)
{
    unsigned long x = 88172645463325252ul + (long)arg * 977;
    struct node *list = NULL, *tree = NULL;
    int length = 0, size = 0;

    while (!stop) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        change_list(&list, &length, x >> 8);
        tree = tree_insert(tree, new_node(x));
        if (++size > 2000) {
            tree_drop(tree);
            tree = NULL, size = 0;
        }
        change_chain(x >> 16);
        change_shelf(x >> 24);
        rounds[(long)arg * 16]++;
    }
    tree_drop(tree);
    while (list) {
        struct node *n = list;
        list = n->next;
        free_node(n);
    }
    return NULL;
}

/* ---- Calls that wait: each has a thread of its own ------------------------------------------ */

static int pipes[2], silent[2], sockets[2], epoll;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static struct timespec until(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += WAIT_MS * 1000000l;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static const char *const call[] = { "poll", "ppoll", "select", "pselect", "epoll_wait", "nanosleep",
    "clock_nanosleep", "sem_timedwait", "pthread_cond_timedwait", "recv", "usleep", "read" };

static long wait_once(int which)
{
    struct timespec ms = { 0, WAIT_MS * 1000000l }, end;
    struct timeval tv = { 0, WAIT_MS * 1000 };
    struct pollfd p = { silent[0], POLLIN };
    struct epoll_event event;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    fd_set set;
    sem_t sem;
    char c;

    FD_ZERO(&set);
    FD_SET(silent[0], &set);
    switch (which) {
    case 0: return poll(&p, 1, WAIT_MS);
    case 1: return ppoll(&p, 1, &ms, NULL);
    case 2: return select(silent[0] + 1, &set, NULL, NULL, &tv);
    case 3: return pselect(silent[0] + 1, &set, NULL, NULL, &ms, NULL);
    case 4: return epoll_wait(epoll, &event, 1, WAIT_MS);
    case 5: return nanosleep(&ms, NULL);
    case 6:
        errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
        return errno ? -1 : 0;
    case 7:
        sem_init(&sem, 0, 0);
        end = until(CLOCK_REALTIME);
        return sem_timedwait(&sem, &end);
    case 8:
        pthread_mutex_lock(&mutex);
        end = until(CLOCK_REALTIME);
        errno = pthread_cond_timedwait(&cond, &mutex, &end);
        return -1;
    case 9: return recv(sockets[0], &c, 1, 0);
    case 10: return usleep(WAIT_MS * 1000);
    default: return read(pipes[0], &c, 1) - 1; /* main writes one every WAIT_MS */
    }
}

static void *waiter(void *which)
{
    while (!stop) {
        double began = now(), took;
        long r = wait_once((long)which);
        int e = r < 0 ? errno : 0;

        took = now() - began;
        if (e == EINTR)
            printf("%s was interrupted\n", call[(long)which]);
        if ((e && e != ETIMEDOUT && e != EAGAIN && e != EINTR) || r > 0)
            printf("%s was interrupted: %ld, %s\n", call[(long)which], r, strerror(e));
        if (took < WAIT_MS - 2 && (long)which != 11)
            printf("%s came back early: %.0f ms\n", call[(long)which], took);
        if (took > 2 * WAIT_MS + BUSY_MS)
            printf("%s came back late: %.0f ms\n", call[(long)which], took);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    enum { CALLS = sizeof call / sizeof *call };
    pthread_t work[WORKERS], wait[CALLS];
    struct timeval tv = { 0, WAIT_MS * 1000 };
    double end = now() + atof(argv[1]) * 1e3, stall = 0, next_byte = now(), next_look = now() + 150;
    long asked = 0, lost = 0, sum = 0, before = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    pipe(pipes), pipe(silent);
    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    epoll = epoll_create1(0);
    for (int i = 0; i < CHAINS / 64; i++)
        pthread_mutex_init(&chain_lock[i], NULL);
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&work[i], NULL, worker, (void *)i);
    for (long i = 0; i < CALLS; i++)
        pthread_create(&wait[i], NULL, waiter, (void *)i);
    for (double moved = now(); now() < end; usleep(5000)) {
        sum = 0;
        for (int i = 0; i < WORKERS; i++)
            sum += rounds[i * 16];
        if (sum != before)
            stall = now() - moved > stall ? now() - moved : stall, moved = now(), before = sum;
        if (now() >= next_byte)
            write(pipes[1], "x", 1), next_byte += WAIT_MS;
        if (argv[2][0] == 'l' && now() >= next_look) {
            long n = libleak_present() ? libleak_snapshot() : 0;
            asked++, lost += n > 0 ? n : 0, next_look = now() + 350;
        }
    }
    stop = 1;
    write(pipes[1], "x", 1);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(work[i], NULL);
    for (int i = 0; i < CALLS; i++)
        pthread_join(wait[i], NULL);
    printf("%.0f rounds a second, %.0f ms the longest stall\n", sum / atof(argv[1]), stall);
    if (asked)
        printf("asked %ld times, blocks lost: %ld\n", asked, lost);
    return 0;
}
