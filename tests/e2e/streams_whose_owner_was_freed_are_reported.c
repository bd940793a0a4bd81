// For a stream left open, the report names the stack that freed its owner: not for a stream that is still
// referenced, nor for one whose owner had dropped it before. If the owner is too large to be scanned, the report says
// where it is freed, since the function that opened the stream has allocated the owner, too.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t; %report store/*.leak
// EXPECT: ^ +it was owned by a block from open_log\(\), which was freed in close_log( at .*)?$
// EXPECT: ^ +other allocations of the same function are freed in close_big,( called by main at .*)?$
// REFUSE: was freed in give
// JSON: [f.function for r in procs[0].resources if r.name.endswith("big") for f in r.freed_beside if f.user] == ["close_big"]
// JSON: {r.name.split("/")[-1]: [f.function for f in r.holder_freed.frames if f.user] if r.holder_freed else None for r in procs[0].resources if r.type == "file"} == {"log": ["close_log"], "kept": None, "given": None, "big": None}

#include <stdio.h>
#include <stdlib.h>

#define FAR __attribute__((noinline))

struct log {
    long lines;
    FILE *stream;
};

FAR struct log *open_log(void)
{
    struct log *log = calloc(1, sizeof *log);
    log->stream = fopen("log", "w");
    return log;
}
FAR struct log *open_kept(void)
{
    struct log *log = calloc(1, sizeof *log);
    log->stream = fopen("kept", "w");
    return log;
}
FAR struct log *open_given(void)
{
    struct log *log = calloc(1, sizeof *log);
    log->stream = fopen("given", "w");
    return log;
}
FAR void close_log(struct log *log)
{
    free(log);
}
FAR void give_up(struct log *log)
{
    log->stream = NULL;
    free(log);
}

struct big {
    char buffer[50000];
    FILE *stream;
};

FAR struct big *open_big(void)
{
    struct big *big = calloc(1, sizeof *big);
    big->stream = fopen("big", "w");
    return big;
}
FAR void close_big(struct big *big)
{
    free(big);
}

static struct log *kept;

int main(void)
{
    kept = open_kept();
    give_up(open_given());
    close_log(open_log());
    close_big(open_big());
    return kept->lines != 0;
}
