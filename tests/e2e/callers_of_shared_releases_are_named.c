// A function that releases for many tells little: the report names the call of it, too, where the owner of a lost block
// was freed, and where other blocks like it are. A caller that is main is left out.
// CFLAGS: -O0 -g -fno-optimize-sibling-calls
// RUN: %run %t 2>&1 >/dev/null
// EXPECT: which was freed in drop_record
// EXPECT: called by close_table at callers_of_shared_releases_are_named.c:66$
// EXPECT: which was freed in drop_alone
// EXPECT: ^ +the free is in drop_record,
// EXPECT: called by trim_table at callers_of_shared_releases_are_named.c:72$
// REFUSE: drop_alone.* called by
#include <stdlib.h>
#include <string.h>
#define FAR __attribute__((noinline))

struct record {
    struct record *next;
    char *text;
};
struct alone {
    long filler[3];
    char *inside;
};

FAR void drop_record(struct record *record)
{
    free(record);
}

FAR struct record *make_record(struct record *next, const char *text)
{
    struct record *record = malloc(sizeof(*record));
    record->next = next;
    record->text = text ? strdup(text) : NULL;
    return record;
}

FAR struct record *make_spare(void)
{
    struct record *spare = malloc(200);
    memset(spare, 0, 200);
    return spare;
}

FAR struct alone *make_alone(void)
{
    struct alone *alone = calloc(1, sizeof(*alone));
    alone->inside = malloc(55);
    return alone;
}
FAR void drop_alone(struct alone *alone)
{
    free(alone); /* not what it has inside */
}

FAR void scrub(void)
{
    volatile char stack[8192] = {0};
    (void)stack;
}

FAR void close_table(struct record *all)
{
    while (all) {
        struct record *next = all->next;

        drop_record(all); /* not its text */
        all = next;
    }
}
FAR void trim_table(struct record *spare)
{
    drop_record(spare);
}
FAR void run(int trim)
{
    struct record *spare = make_spare();

    if (trim)
        trim_table(spare);
}

int main(void)
{
    struct record *all = NULL;

    for (int i = 0; i < 3; i++)
        all = make_record(all, "some text");
    close_table(all);
    run(1);
    run(0);
    drop_alone(make_alone());
    scrub();
    return 0;
}
