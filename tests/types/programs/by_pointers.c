/* Blocks of which their allocating function knows nothing: the variables and members that point to them tell
 * their types. A void pointer, a union, a pointer into a block and a block of another size tell none, nor
 * does a pointer to what other structures begin with. */
#include <stdlib.h>
#include "keep.h"

struct conn {
    int fd;
    char *name;
    double weights[3];
};

union value {
    long number;
    struct conn *conn;
};

struct base {
    int kind, flags;
};

struct derived {
    struct base base;
    long more[3];
};

struct link {
    struct link *next, *previous;
};

struct entry {
    struct entry *next;
    const char *key;
    struct conn *payload;
    void *raw;
    union value value;
    struct conn *short_one;
    struct base *base;
    struct link *links;
    struct packet *packet;
    int *numbers;
    struct conn *sessions;
};

struct packet {
    long size;
    short bytes[];
};

static struct {
    int count;
    struct entry **buckets;
    struct entry inside;
} g_cache;
static _Thread_local struct entry *of_thread;
struct conn *lost;
struct derived *keeps_its_type;

__attribute__((noinline)) static void attach(void *slot, size_t size)
{
    *(void **)slot = calloc(1, size);
}

/* Each in a function of its own: a record has a name for each. */
#define FILL(what) __attribute__((noinline)) static void fill_##what(struct entry *entry)

FILL(payload)
{
    attach(&entry->payload, sizeof(struct conn)); // TYPE struct conn
}

FILL(name)
{
    attach(&entry->payload->name, 20); // TYPE char
}

FILL(raw)
{
    attach(&entry->raw, sizeof(struct conn)); // TYPE none
}

FILL(value)
{
    attach(&entry->value, sizeof(struct conn)); // TYPE none
}

FILL(short_one)
{
    attach(&entry->short_one, sizeof(struct conn) - 8); // TYPE none
}

FILL(base)
{
    attach(&entry->base, sizeof(struct derived)); // TYPE none
    ((struct derived *)entry->base)->more[1] = 1;
}

FILL(links)
{
    attach(&entry->links, 4 * sizeof(struct link)); // TYPE none
}

FILL(packet)
{
    attach(&entry->packet, sizeof(struct packet) + 10); // TYPE struct packet
}

FILL(numbers)
{
    attach(&entry->numbers, 100 * sizeof(int)); // TYPE int
}

FILL(sessions)
{
    attach(&entry->sessions, 7 * sizeof(struct conn)); // TYPE struct conn
}

__attribute__((noinline)) static void fill_table(void)
{
    attach(&g_cache.buckets, 64 * sizeof(struct entry *)); // TYPE struct entry *
}

__attribute__((noinline)) static void fill_bucket(struct entry **bucket)
{
    attach(bucket, sizeof(struct entry)); // TYPE struct entry
}

/* What nothing points to has the type of the other blocks of its site. */
__attribute__((noinline)) static void lose(void)
{
    for (volatile int i = 0; i < 10; i++) /* not unrolled: one call */
        attach(&lost, sizeof(struct conn)); // TYPE struct conn
}

/* In a part of a variable that has a structure of its own, and in one of a thread. */
__attribute__((noinline)) static void fill_others(void)
{
    attach(&g_cache.inside.next, sizeof(struct entry)); // TYPE struct entry
}

__attribute__((noinline)) static void fill_thread(void)
{
    attach(&of_thread, sizeof(struct entry)); // TYPE struct entry
}

int main(void)
{
    struct entry *entry;

    fill_table();
    fill_bucket(&g_cache.buckets[12]);
    fill_bucket(&g_cache.buckets[12]->next);
    entry = g_cache.buckets[12]->next;
    fill_payload(entry);
    fill_name(entry);
    fill_raw(entry);
    fill_value(entry);
    fill_short_one(entry);
    fill_base(entry);
    fill_links(entry);
    fill_packet(entry);
    fill_numbers(entry);
    fill_sessions(entry);
    fill_others();
    fill_thread();
    lose();
    keep(NULL);
    return 0;
}
