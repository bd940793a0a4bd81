// The path to a block is written as an expression of the program, where debug information has the names: members,
// indices, variables of a thread and of a stack frame, links in the middle of structures, casts where the
// allocation tells what a void pointer leads to. The words end where names do: at a union whose members differ,
// behind a void pointer to a block without a type, and at a block that is too small for the pointer's type. Without
// debug information there are offsets, as always.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// CFLAGS: -O1 -gdwarf-4 -fno-builtin
// RUN: %leak %t; s=$(ls store/*.leak); %report --show=all --top=0 --apart $s | sed "s|^|with: |"; cp t kept; strip -g t; %report --show=all --top=0 --apart $s | sed "s|^|without: |"; mv kept t
// NEEDS: strip
// EXPECT: ^with: +cache\.buckets\[12\]->next->payload \(paths_are_written_as_in_the_source\.c:[0-9]+\)$
// EXPECT: ^with: +-> 512 B from table_of\(\) -> 72 B from first_of\(\) -> 72 B from second_of\(\)$
// EXPECT: ^with: +-> 40 B from payload_of\(\)$
// EXPECT: ^with: +grid\[1\]\[2\]\.conns\[1\] \(
// EXPECT: ^with: +of_thread->payload \(.*\) of T1$
// EXPECT: ^with: +\(\(struct conn \*\)cache\.raw\)->name \(
// EXPECT: ^with: +list->next\{6\}->key \(
// EXPECT: ^with: +-> 72 B from second_of\(\) \+0x18 -> 100 B from in_union_of\(\)$
// EXPECT: ^with: +-> 96 B from unknown_of\(\) \+0x28 -> 101 B from behind_void_of\(\)$
// EXPECT: ^with: +-> 24 B from wrong_of\(\) \+0x8 -> 102 B from behind_misfit_of\(\)$
// REFUSE: ^with: +(-> |cache)[^|]*(value|unknown->|unknown\[|wrong->)
// REFUSE: ^without: .*(->next|\.buckets|container_of)
// EXPECT: ^without: +cache \+0x8 -> 512 B from table_of\(\)$
// JSON: one("payload_of").path_words.startswith("cache.buckets[12]->next->payload (")
// JSON: one("job_of").path_words.startswith("container_of(jobs.next, struct job, link)->payload (")
// JSON: [step.word for step in one("payload_of").path[1:]] == [".buckets", "[12]", "->next", "->payload"]
// JSON: [step.type for step in one("payload_of").path[1:]] == ["struct entry *", "struct entry", "struct entry", "struct conn"]
// JSON: one("in_union_of").path_words is None and one("behind_misfit_of").path_words is None
// JSON: one("behind_void_of").path_words is None and one("wrong_of").type is None

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FAR __attribute__((noinline))
/* Their result has no type, and they have a name each. */
#define TAKE(name) FAR void *name(size_t size) { void *volatile made = calloc(1, size); return made; }
TAKE(table_of)
TAKE(first_of)
TAKE(second_of)
TAKE(payload_of)
TAKE(grid_of)
TAKE(thread_of)
TAKE(thread_payload_of)
TAKE(job_of)
TAKE(in_union_of)
TAKE(unknown_of)
TAKE(behind_void_of)
TAKE(wrong_of)
TAKE(behind_misfit_of)
TAKE(name_of)
TAKE(list_of)
TAKE(key_of)

struct conn {
    int fd;
    char *name;
    double weights[3];
};

struct entry {
    struct entry *next;
    const char *key;
    struct conn *payload;
    union {
        long number;
        void *object;
    } value;
    char more[40];
};

struct link {
    struct link *next, *previous;
};

struct job {
    long id;
    struct link link;
    struct conn *payload;
};

struct {
    long count;
    struct entry **buckets;
    void *raw, *unknown;
    struct conn *wrong;
} cache;
struct {
    struct conn *conns[2];
} grid[2][3];
_Thread_local struct entry *of_thread;
struct link jobs;
struct entry *list;

/* The block is put there without its type. */
#define PUT(place, make) (*(void *volatile *)&(place) = (make))

FAR static struct conn *conn_new(void)
{
    struct conn *made = calloc(1, sizeof(*made));

    made->fd = 3;
    return made;
}

FAR static void fill(void)
{
    PUT(cache.buckets, table_of(64 * sizeof(void *)));
    PUT(cache.buckets[12], first_of(sizeof(struct entry)));
    PUT(cache.buckets[12]->next, second_of(sizeof(struct entry)));
    PUT(cache.buckets[12]->next->payload, payload_of(sizeof(struct conn)));
    PUT(cache.buckets[12]->next->value.object, in_union_of(100));
    PUT(grid[1][2].conns[1], grid_of(sizeof(struct conn)));
    PUT(of_thread, thread_of(sizeof(struct entry)));
    PUT(of_thread->payload, thread_payload_of(sizeof(struct conn)));
    cache.raw = conn_new();
    PUT(((struct conn *)cache.raw)->name, name_of(30));
    PUT(cache.unknown, unknown_of(96));
    PUT(((void **)cache.unknown)[5], behind_void_of(101));
    PUT(cache.wrong, wrong_of(24));
    PUT(cache.wrong->name, behind_misfit_of(102));
}

FAR static void fill_jobs(void)
{
    struct job *job = calloc(1, sizeof(*job));

    jobs.next = &job->link;
    PUT(job->payload, job_of(sizeof(struct conn)));
}

FAR static void fill_list(void)
{
    struct entry **at = &list;

    for (int i = 0; i < 7; i++) {
        PUT(*at, list_of(sizeof(struct entry)));
        if (i == 6)
            PUT((*at)->key, key_of(10));
        at = &(*at)->next;
    }
}

int main(void)
{
    fill();
    fill_jobs();
    fill_list();
    return 0;
}
