/* reports.h - has leakreport write reports about running processes, and leakctl request leak
 * checks: one after the other in a thread of its own, because both may take seconds.
 *
 * A report is made from what the recording file already has. It is kept in a file without a name,
 * and answers all requests until the process makes another leak check, or until the report is older
 * than its form allows and than REPORT_REST times the time that writing it took. So even very many
 * requests cause only one report in that time for each process and form, which uses at most a
 * twentieth of a CPU. Requests for reports cause no leak check; only JOB_LOOK does, and only a POST
 * with --allow-actions leads to such a job. */
#ifndef SERVE_REPORTS_H
#define SERVE_REPORTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/string_list.h"
#include "serve/tool.h"

/* The forms of reports: F(NAME, path below that of the process, type, two options of leakreport,
 * seconds for which a report is kept) */
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
    const char *path, *type, *format, *more; /* more: a second option; NULL = none */
    unsigned seconds;
};
extern const struct report_form report_form[REPORT_KINDS];

#define REPORTS_KEPT 16
#define REPORT_REST 20
#define JOBS_MOST 64 /* most jobs that wait */

struct job {
    enum job_kind kind;
    struct string_list recordings; /* the recording files to report on; the job owns the list */
    /* time of the last leak check in `recordings`; if there are several files, the sum of the
     * times; when it has changed, a kept report is out of date */
    uint64_t looked_ns;
    char *dir, *pid;             /* arguments for leakctl, only set for JOB_LOOK */
    void (*done)(void *context); /* is called in the thread of the jobs when the job has ended */
    void *context;

    /* The result of the job. fd: file with the report, which the caller closes; -1 = `message` has
     * the reason. */
    int fd;
    off_t size;
    uint64_t took_ns; /* time that writing the report took */
    bool good;
    char message[TOOL_MESSAGE_SIZE];
};

struct reports;
struct reports *reports_begin(void); /* NULL: the thread could not be started */

/* Looks among the kept reports for one that answers the job. True: there is one, and it is now the
 * result of the job. */
bool reports_take(struct reports *reports, struct job *job);
/* Queues a job. True: done() will be called. False: too many jobs wait, or reports_stop() was
 * called. */
bool reports_queue(struct reports *reports, struct job *job);

/* Ends the running job and those that wait, with a message; done() is called for each. */
void reports_stop(struct reports *reports);
void reports_end(struct reports *reports);

void job_free(struct job *job); /* frees what the job owns, except fd */

#endif
