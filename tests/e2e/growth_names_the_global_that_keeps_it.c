// Which variable grows: that of a list which becomes longer and longer is named, with its rate; one that holds a cache
// which was filled and stays so is not, nor are two that share what one place allocates.
// RUN: %leak %t && %report --owners %d/store/*.leak
// EXPECT: ^     growing \+[0-9.]+ [kM]B/s for [0-9.]+ s, nothing freed
// JSON: owner("g_sessions").growth.verdict == "growing" and 500000 < owner("g_sessions").growth.bytes_per_second < 2000000
// JSON: owner("g_cache").growth.verdict in ("plateau", "startup")
// JSON: owner("g_left").growth is None and owner("g_right").growth is None
// JSON: one("shared_of").growth.verdict == "growing"

#include "lib/verdicts.h"
#include <time.h>

#define SECONDS 10.0 /* a verdict takes eight */

struct entry { struct entry *next; };
struct entry *g_sessions, *g_cache, *g_left, *g_right;

TAKE(session_of, 1000)
TAKE(cached_of, 1000)
TAKE(shared_of, 1000)

static void push(struct entry **list, void *block)
{
    struct entry *entry = block;
    entry->next = *list;
    *list = entry;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

/* What there is follows from the time that has passed, however busy the machine is. */
int main(void)
{
    double began = now(), t = 0;
    for (int sessions = 0, cached = 0, shared = 0; t < SECONDS; t = now() - began) {
        for (; sessions < t * 1000; sessions++)
            push(&g_sessions, session_of());
        for (; cached < t * 2000 && cached < 2000; cached++)
            push(&g_cache, cached_of());
        for (; shared < t * 500; shared++)
            push(shared % 2 ? &g_left : &g_right, shared_of());
        usleep(20000);
    }
    return 0;
}
