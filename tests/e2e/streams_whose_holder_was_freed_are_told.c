// Of a stream that is left open it is said who freed what held it. Not of one that somebody still holds, nor
// of one whose holder had given it up before.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t; %report store/*.leak
// EXPECT: ^ +its holder, from open_log\(\), was freed in close_log( at .*)?$
// REFUSE: was freed in give
// JSON: {r.name.split("/")[-1]: [f.function for f in r.holder_freed.frames if f.user] if r.holder_freed else None for r in procs[0].resources if r.type == "file"} == {"log": ["close_log"], "kept": None, "given": None}

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

static struct log *kept;

int main(void)
{
    kept = open_kept();
    give_up(open_given());
    close_log(open_log());
    return kept->lines != 0;
}
