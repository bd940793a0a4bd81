/* answers.h - answers the requests that the gate (gate.h) has allowed. The addresses are:
 *
 *     /                         processes
 *     /metrics                  for Prometheus: as leaktop --openmetrics
 *     /debug/pprof/heap         for go tool pprof: all processes; allocs: all allocations
 *     /debug/pprof/symbol       go tool pprof asks it for names; the answer is that there are none,
 *                               because profiles have all known names already
 *     /process/PID              growth
 *     /process/PID/diff         what was added since a mark
 *     /process/PID/look         what the last leak check found
 *     /process/PID/report       the reports of leakreport, and profiles: REPORT_TABLE in reports.h
 *     POST /process/PID/look    makes a leak check; POST /process/PID/mark: sets the mark
 *
 * Other addresses do not exist: paths are compared as a whole, and never used as names of files. */
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
    pid_t pid;            /* 0: the address is about all processes */
    enum job_kind report; /* the kind of the report; only set with ROUTE_REPORT */
};
struct address address_of_path(const char *path);

struct question {
    const char *method, *path;
    bool takes_gzip;
    /* returns the value of the argument "?name=value" of the address; NULL: the address has no such
     * argument */
    const char *(*argument)(void *context, const char *name);
    void *context;
};

struct answer {
    unsigned status;
    const char *type, *policy; /* policy: value of the header Content-Security-Policy */
    const char *allow;         /* the allowed methods, with status 405 */
    /* address to which the client is sent, with status 303; allocated with malloc */
    char *location;
    char *text; /* the content, allocated with malloc; NULL: `fd` has the content */
    size_t length;
    int fd; /* file with the content; -1: none */
    off_t size;
    bool is_gzip;
};

struct answers {
    struct heaps *heaps;
    struct reports *reports;
    const struct options *options;
};

/* Begins to answer a question. True: the answer is complete. False: `job` was filled in;
 * reports_queue() must run it, and then answer_finish() completes the answer. */
bool answer_begin(struct answers *answers, const struct question *question, struct answer *answer,
                  struct job *job);
void answer_finish(struct answers *answers, const struct job *job, struct answer *answer);
/* Makes an answer that is a page with one sentence. */
void answer_message(struct answer *answer, unsigned status, const char *title, const char *text);
void answer_free(struct answer *answer);

#endif
