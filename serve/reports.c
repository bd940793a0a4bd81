/* reports.c - makes reports and leak checks in a thread; described in reports.h. */
#include "serve/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/arena.h"
#include "common/base/term_text.h"

const struct report_form report_form[REPORT_KINDS] = {
#define F(name, path, type, format, more, seconds) {path, type, format, more, seconds},
    REPORT_TABLE(F)
#undef F
};

struct kept_report {
    char *name; /* key of the report, made of its enum report_kind and the paths of its recordings;
                 * NULL: this entry is free */
    uint64_t looked_ns, written_ns, took_ns;
    int fd;
    off_t size;
};

struct reports {
    pthread_t thread;
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t more;
    struct job *waiting[JOBS_MOST]; /* the jobs that wait, the oldest first */
    size_t count;
    struct kept_report kept[REPORTS_KEPT];
    atomic_bool stop;
};

/* ---- Keeping reports ------------------------------------------------------------------------- */

static char *name_job(const struct job *job)
{
    char *name = string_format("%d", (int)job->kind);

    for (size_t i = 0; i < job->recordings.count; i++) {
        char *longer = string_format("%s\n%s", name, job->recordings.at[i]);

        free(name);
        name = longer;
    }
    return name;
}

static void forget_report(struct kept_report *kept)
{
    if (!kept->name)
        return;
    close(kept->fd);
    free(kept->name);
    *kept = (struct kept_report){0};
}

static struct kept_report *find_report(struct reports *reports, const struct job *job,
                                       const char *name)
{
    uint64_t now = time_steady_ns(), least = report_form[job->kind].seconds * UINT64_C(1000000000);

    for (size_t i = 0; i < REPORTS_KEPT; i++) {
        struct kept_report *kept = &reports->kept[i];

        if (!kept->name || strcmp(kept->name, name) != 0)
            continue;
        if (kept->looked_ns == job->looked_ns &&
            (now - kept->written_ns < least ||
             now - kept->written_ns < REPORT_REST * kept->took_ns))
            return kept;
        forget_report(kept);
    }
    return NULL;
}

/* Looks among the kept reports for one that answers the job. True: there is one, and it is now the
 * result of the job. */
static bool take_kept(struct reports *reports, struct job *job)
{
    char *name = name_job(job);
    const struct kept_report *kept = find_report(reports, job, name);

    free(name);
    if (!kept)
        return false;
    job->fd = fcntl(kept->fd, F_DUPFD_CLOEXEC, 0);
    job->size = kept->size;
    job->good = job->fd >= 0;
    return true;
}

/* Keeps the report of a job for further requests: in a free entry of reports->kept[], or in that of
 * the oldest report. */
static void keep_report(struct reports *reports, const struct job *job)
{
    struct kept_report *at = reports->kept;

    for (size_t i = 1; i < REPORTS_KEPT && at->name; i++)
        if (!reports->kept[i].name || reports->kept[i].written_ns < at->written_ns)
            at = &reports->kept[i];
    forget_report(at);
    *at = (struct kept_report){.name = name_job(job),
                               .looked_ns = job->looked_ns,
                               .written_ns = time_steady_ns(),
                               .took_ns = job->took_ns,
                               .fd = fcntl(job->fd, F_DUPFD_CLOEXEC, 0),
                               .size = job->size};
    if (at->fd >= 0)
        return;
    free(at->name);
    *at = (struct kept_report){0};
}

/* ---- Running jobs ---------------------------------------------------------------------------- */

/* Opens a temporary file without a name, which no other process can open. Returns its descriptor;
 * -1: failed. */
static int open_nameless_file(void)
{
    const char *dir = getenv("TMPDIR");
    char *path = string_format("%s/leaktop.XXXXXX", dir && *dir == '/' ? dir : "/tmp");
    int fd = mkostemp(path, O_CLOEXEC);

    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

static void run_tool(struct reports *reports, struct job *job, const char *tool, char **arguments,
                     int output)
{
    struct tool_run run = {
        .name = tool, .arguments = arguments, .output = output, .cancel = &reports->stop};

    job->good = tool_run(&run);
    memcpy(job->message, run.message, sizeof(job->message));
}

static void write_report(struct reports *reports, struct job *job)
{
    const struct report_form *form = &report_form[job->kind];
    struct string_list arguments = {0};
    struct stat info = {0};

    job->fd = open_nameless_file();
    if (job->fd < 0) {
        snprintf(job->message, sizeof(job->message), "no temporary file: %s", strerror(errno));
        return;
    }
    job->took_ns = time_steady_ns();
    string_list_add(&arguments, form->format);
    if (form->more)
        string_list_add(&arguments, form->more);
    string_list_add(&arguments, "--color=never");
    string_list_add(&arguments, "--");
    for (size_t i = 0; i < job->recordings.count; i++)
        string_list_add(&arguments, job->recordings.at[i]);
    run_tool(reports, job, "leakreport", arguments.at, job->fd);
    string_list_free(&arguments);
    job->took_ns = time_steady_ns() - job->took_ns;
    if (job->good && fstat(job->fd, &info) == 0) {
        job->size = info.st_size;
        return;
    }
    close(job->fd);
    job->fd = -1;
    job->good = false;
}

static void make_leak_check(struct reports *reports, struct job *job)
{
    char *dir = string_format("--dir=%s", job->dir);

    run_tool(reports, job, "leakctl", (char *[]){"snapshot", dir, job->pid, NULL}, -1);
    free(dir);
}

static void run_job(struct reports *reports, struct job *job)
{
    bool is_kept = false;

    if (reports->stop) {
        snprintf(job->message, sizeof(job->message), "leaktop ends");
    } else if (job->kind == JOB_LOOK) {
        make_leak_check(reports, job);
    } else {
        /* an earlier job may have made the report in the meantime */
        is_kept = reports_take(reports, job);
        if (!is_kept)
            write_report(reports, job);
    }
    if (job->good && job->kind != JOB_LOOK && !is_kept) {
        pthread_mutex_lock(&reports->lock);
        keep_report(reports, job);
        pthread_mutex_unlock(&reports->lock);
    }
    job->done(job->context);
}

static void *run_jobs(void *given)
{
    struct reports *reports = given;

    pthread_mutex_lock(&reports->lock);
    while (!reports->stop || reports->count) {
        struct job *job;

        if (!reports->count) {
            pthread_cond_wait(&reports->more, &reports->lock);
            continue;
        }
        job = reports->waiting[0];
        memmove(reports->waiting, reports->waiting + 1,
                --reports->count * sizeof(*reports->waiting));
        pthread_mutex_unlock(&reports->lock);
        run_job(reports, job);
        pthread_mutex_lock(&reports->lock);
    }
    pthread_mutex_unlock(&reports->lock);
    return NULL;
}

struct reports *reports_begin(void)
{
    struct reports *reports = array_grow(NULL, &(size_t){0}, 1, sizeof(*reports));

    memset(reports, 0, sizeof(*reports));
    pthread_mutex_init(&reports->lock, NULL);
    pthread_cond_init(&reports->more, NULL);
    if (pthread_create(&reports->thread, NULL, run_jobs, reports) == 0)
        return reports;
    free(reports);
    return NULL;
}

bool reports_take(struct reports *reports, struct job *job)
{
    bool is_kept;

    pthread_mutex_lock(&reports->lock);
    is_kept = take_kept(reports, job);
    pthread_mutex_unlock(&reports->lock);
    return is_kept;
}

bool reports_queue(struct reports *reports, struct job *job)
{
    bool is_queued;

    job->fd = -1;
    pthread_mutex_lock(&reports->lock);
    is_queued = !reports->stop && reports->count < JOBS_MOST;
    if (is_queued) {
        reports->waiting[reports->count++] = job;
        pthread_cond_signal(&reports->more);
    }
    pthread_mutex_unlock(&reports->lock);
    return is_queued;
}

void reports_stop(struct reports *reports)
{
    pthread_mutex_lock(&reports->lock);
    reports->stop = true;
    pthread_cond_signal(&reports->more);
    pthread_mutex_unlock(&reports->lock);
    pthread_join(reports->thread, NULL);
}

void reports_end(struct reports *reports)
{
    for (size_t i = 0; i < REPORTS_KEPT; i++)
        forget_report(&reports->kept[i]);
    pthread_cond_destroy(&reports->more);
    pthread_mutex_destroy(&reports->lock);
    free(reports);
}

void job_free(struct job *job)
{
    string_list_free(&job->recordings);
    free(job->dir);
    free(job->pid);
}
