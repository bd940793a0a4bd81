/* reports.h - reports of running processes, written by leakreport, and leak checks, made by leakctl: one
 * after the other in a thread of its own, because either may take seconds.
 *
 * A report reads what the recording already has. It is kept in a file without a name, and answers all
 * requests until the process has had another leak check, or the report is older than its form allows
 * and than REPORT_REST times what it took to write. So requests, however many, cause one report in that
 * time for each process and form, a twentieth of a CPU at most, and no leak check: only JOB_LOOK, which
 * the server makes of nothing but a POST with --allow-actions, has one made. */
#ifndef SERVE_REPORTS_H
#define SERVE_REPORTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/string_list.h"
#include "serve/tool.h"

/* F(NAME, path below that of the process, type, options of leakreport, seconds that it is kept) */
#define REPORT_TABLE(F)                                                                            \
    F(HTML, "report", "text/html; charset=utf-8", "--format=html", NULL, 60)                       \
    F(TEXT, "report.txt", "text/plain; charset=utf-8", "--format=text", NULL, 60)                  \
    F(JSON, "report.json", "application/json", "--format=json", NULL, 60)                          \
    F(HEAP, "debug/pprof/heap", "application/octet-stream", "--format=pprof", NULL, 10)            \
    F(ALLOCS, "debug/pprof/allocs", "application/octet-stream", "--format=pprof",                  \
      "--weight=allocated", 10)

enum job_kind {
#define F(name, path, type, format, more, seconds) REPORT_##name,
    REPORT_TABLE(F)
#undef F
        REPORT_KINDS,
    JOB_LOOK = REPORT_KINDS
};

struct report_form {
    const char *path, *type, *format, *more; /* more: a second option, or NULL */
    unsigned seconds;
};
extern const struct report_form report_form[REPORT_KINDS];

#define REPORTS_KEPT 16
#define REPORT_REST 20
#define JOBS_MOST 64 /* that wait */

struct job {
    enum job_kind kind;
    struct string_list recordings; /* what is reported; owned by the job */
    uint64_t looked_ns;            /* time of the last leak check of them */
    char *dir, *pid;               /* of JOB_LOOK */
    void (*done)(void *context);   /* called in the thread of the jobs */
    void *context;

    /* The result: of a report a descriptor that the caller closes, -1 = the message says why. */
    int fd;
    off_t size;
    uint64_t took_ns; /* to write it */
    bool good;
    char message[TOOL_MESSAGE_SIZE];
};

struct reports;
struct reports *reports_begin(void); /* NULL: no thread could be started */

/* Takes a kept report. True: there is one, and the job has its result. */
bool reports_take(struct reports *reports, struct job *job);
/* Queues a job. True: done() will be called. False: too many wait, or reports_stop() was called. */
bool reports_queue(struct reports *reports, struct job *job);

/* Ends the job that runs, and those that wait, with a message; done() is called for each. */
void reports_stop(struct reports *reports);
void reports_end(struct reports *reports);

void job_free(struct job *job); /* what the job owns, save fd */

#endif
