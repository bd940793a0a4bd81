/* answers.h - a request that the gate let in, and its answer: the table of addresses.
 *
 *     /                         processes
 *     /metrics                  for Prometheus: as leaktop --openmetrics
 *     /debug/pprof/heap         for go tool pprof: all processes; allocs: all allocations
 *     /debug/pprof/symbol       go tool pprof asks it for names, and there are none: profiles have all that are known
 *     /process/PID              growth
 *     /process/PID/diff         what was added since a mark
 *     /process/PID/look         what the last leak check found
 *     /process/PID/report       REPORT_TABLE: the reports of leakreport, and profiles
 *     POST /process/PID/look    makes a leak check; POST /process/PID/mark: sets the mark
 *
 * Everything else does not exist: paths are compared as a whole and never become names of files. */
#ifndef SERVE_ANSWERS_H
#define SERVE_ANSWERS_H

#include "serve/heaps.h"
#include "serve/pages.h"
#include "serve/reports.h"
#include "top/options.h"

enum route {
    ROUTE_NONE,
    ROUTE_PROCESSES,
    ROUTE_STYLE,
    ROUTE_METRICS,
    ROUTE_SYMBOLS,
    ROUTE_GROWTH,
    ROUTE_DIFFERENCE,
    ROUTE_LOOK,
    ROUTE_MARK,
    ROUTE_REPORT
};

struct address {
    enum route route;
    pid_t pid;            /* 0: of all processes */
    enum job_kind report; /* of ROUTE_REPORT */
};
struct address address_of_path(const char *path);

struct question {
    const char *method, *path;
    bool takes_gzip;
    const char *(*argument)(void *context, const char *name); /* of "?name=value"; NULL: none */
    void *context;
};

struct answer {
    unsigned status;
    const char *type, *policy; /* policy: Content-Security-Policy */
    const char *allow;         /* the methods, with status 405 */
    char *location;            /* with status 303; for free() */
    char *text;                /* for free(); NULL: the descriptor has the content */
    size_t length;
    int fd; /* -1: none */
    off_t size;
    bool is_gzip;
};

struct answers {
    struct heaps *heaps;
    struct reports *reports;
    const struct options *options;
};

/* Begins an answer. True: the answer is complete. False: job was filled in, reports_queue() has to
 * run it, and then answer_finish() makes the answer. */
bool answer_begin(struct answers *answers, const struct question *question, struct answer *answer,
                  struct job *job);
void answer_finish(struct answers *answers, const struct job *job, struct answer *answer);
/* A page with one sentence. */
void answer_message(struct answer *answer, unsigned status, const char *title, const char *text);
void answer_free(struct answer *answer);

#endif
