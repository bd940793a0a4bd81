// Who should have freed a block is the function that its stack and another block's free have in common: it is named
// with the line of its call and what it calls, in twenty equal runs the same. A generic maker's blocks that are freed
// by the thousand elsewhere do not count more than the few of the same caller; and where most of the very site are
// freed on another path, that is said, too.
// CFLAGS: -O0 -g -fno-optimize-sibling-calls
// RUN: for i in $(seq 20); do env A$i=$i %leak %t $i; done; %report store/*.leak
// EXPECT: ^ +(> )?never freed when allocated here; other blocks from this line are freed in$
// EXPECT: ^ +set_path at .*:[0-9]+$
// EXPECT: ^ +(> )?others are freed in item_drop,( called by process at .*)?$
// EXPECT: called by process at .*:[0-9]+ \((about [0-9]+ % of|sampled from) 1,995( frees)?\)$
// EXPECT: ^ +most are freed in cache_drop,( called by main at .*)?$
// REFUSE: (program|constants)_free
// JSON: len(procs) == 20
// JSON: all([(f.function, f.line) for f in hits("set_path", q)[0].freed_common] == [("set_path", line("fork"))] for q in procs)
// JSON: all([(f.function, f.line) for f in hits("process", q)[0].freed_common] == [("process", line("call"))] for q in procs)
// JSON: all(hits("process", q)[0].freed_share < 0.3 for q in procs)
// JSON: all(hits("lonely", q)[0].freed_common is None and hits("lonely", q)[0].freed_elsewhere is None for q in procs)

#include <stdlib.h>

#define FAR __attribute__((noinline))

struct array {
    int count;
    void *items[8];
};
static struct array *volatile kept[2000];
static void *volatile cache[2000];

FAR struct array *array_new(int count)
{
    struct array *array = malloc(sizeof *array);
    array->count = count;
    return array;
}
FAR void program_free(int i)
{
    free(kept[i]);
    kept[i] = NULL;
}
FAR void constants_free(int i)
{
    free(kept[i]);
    kept[i] = NULL;
}
FAR struct array *indexes(int count)
{
    struct array *array = array_new(count);
    array->count++;
    return array;
}
FAR int set_path(int bad)
{
    struct array *found = indexes(bad);
    if (bad)
        return -1;
    free(found); // fork
    return 0;
}
FAR int next(int bad)
{
    return set_path(bad) + 1;
}
FAR int other(int bad)
{
    return set_path(bad) + 2;
}

FAR void *item_new(void)
{
    return malloc(100);
}
FAR void item_free(void *item)
{
    free(item);
}
FAR void item_drop(void *item)
{
    item_free(item);
}
FAR void cache_drop(int i)
{
    item_free(cache[i]);
    cache[i] = NULL;
}
FAR void process(int i)
{
    void *item = item_new();
    if (i < 1990) {
        cache[i] = item;
        return;
    }
    if (i < 1995)
        return;
    item_drop(item); // call
}

FAR void *lonely(void)
{
    return malloc(200);
}
FAR void scrub(void)
{
    volatile char stack[4096] = {0};
    (void)stack;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 2000; i++)
        kept[i] = array_new(i);
    for (int i = 0; i < 2000; i++)
        i % 2 ? program_free(i) : constants_free(i);
    for (int i = 0; i < 10; i++)
        sum += other(0) + next(1);
    for (int i = 0; i < 2000; i++) {
        process(i);
        if (i == 1989)
            for (int k = 0; k < 1990; k++)
                cache_drop(k);
    }
    lonely();
    scrub();
    return sum == 0;
}
