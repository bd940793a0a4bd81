/* metrics.c - writes a fleet as metrics; described in metrics.h.
 *
 * The format wants all series of a metric together. So a plan is made first: which processes are
 * written, and how many sites of each. Then each row of the three tables of metrics is written for
 * all processes and sites that have a value for it.
 */
#include "top/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/string_list.h"
#include "common/view/text_frame.h"

#define FUNCTION_COLUMNS 120

struct planned_process {
    struct metrics_process process;
    size_t *rows; /* the indices of the process's sites, sorted by the sort key of leaktop */
};

struct plan {
    const struct metrics_options *options;
    struct metrics_file file;
    struct planned_process *at;
    size_t count;       /* number of processes whose recording files can be read */
    size_t taken;       /* number of processes, from the first on, that get series */
    size_t series_left; /* number of series that --series still allows */
};

/* ---- Planning what is written ---------------------------------------------------------------- */

static double total_growth(const struct heap_snapshot *snapshot)
{
    double sum = 0;

    for (size_t i = 0; i < snapshot->count; i++)
        if (snapshot->rows[i].growth && growth_is_growing(snapshot->rows[i].growth->verdict))
            sum += (double)snapshot->rows[i].growth->bytes_per_second;
    return sum;
}

/* Orders processes: the fastest growing first, then the largest, then the oldest. */
static int compare_processes(const void *left, const void *right)
{
    const struct metrics_process *a = &((const struct planned_process *)left)->process;
    const struct metrics_process *b = &((const struct planned_process *)right)->process;
    uint64_t more = a->snapshot->total.bytes, less = b->snapshot->total.bytes;

    if (a->growth != b->growth)
        return a->growth > b->growth ? -1 : 1;
    if (more != less)
        return more > less ? -1 : 1;
    return a->member < b->member ? -1 : a->member > b->member;
}

/* Reserves a number of series. False: --series does not allow so many, and nothing is reserved. */
static bool reserve_series(struct plan *plan, size_t series)
{
    if (series > plan->series_left)
        return false;
    plan->series_left -= series;
    return true;
}

static size_t series_of_process(const struct metrics_process *process)
{
    size_t series = 0;

    for (size_t i = 0; i < PROCESS_METRICS; i++)
        series += !isnan(process_metric_value(process, i));
    return series;
}

static size_t series_of_site(const struct metrics_process *process, size_t row)
{
    size_t series = 0;

    for (size_t i = 0; i < SITE_METRICS; i++)
        series += !isnan(site_metric_value(process, row, i));
    return series;
}

static void plan_processes(struct plan *plan, const struct fleet *fleet)
{
    plan->at = array_grow(NULL, &(size_t){0}, fleet->count + 1, sizeof(*plan->at));
    for (size_t i = 0; i < fleet->count; i++) {
        const struct heap_snapshot *snapshot = fleet->at[i].snapshot;

        if (!snapshot)
            plan->file.unreadable++;
        else
            plan->at[plan->count++].process = (struct metrics_process){
                .member = &fleet->at[i], .snapshot = snapshot, .growth = total_growth(snapshot)};
    }
    if (plan->count)
        qsort(plan->at, plan->count, sizeof(*plan->at), compare_processes);
    while (plan->taken < plan->count &&
           reserve_series(plan, series_of_process(&plan->at[plan->taken].process)))
        plan->taken++;
    plan->file.left_out = plan->count - plan->taken;
}

static void plan_sites(struct plan *plan, struct planned_process *planned)
{
    struct metrics_process *process = &planned->process;

    planned->rows = order_rows(process->snapshot, &plan->options->ordering, &process->rows);
    while (process->shown < process->rows && process->shown < plan->options->sites &&
           reserve_series(plan, series_of_site(process, planned->rows[process->shown])))
        process->shown++;
}

static struct plan plan_begin(const struct fleet *fleet, const struct metrics_options *options)
{
    struct plan plan = {.options = options,
                        .file = {.processes = fleet->count, .time_ns = fleet->time_ns},
                        .series_left = options->series - FILE_METRICS};

    plan_processes(&plan, fleet);
    for (size_t i = 0; i < plan.taken; i++)
        plan_sites(&plan, &plan.at[i]);
    return plan;
}

static void plan_end(struct plan *plan)
{
    for (size_t i = 0; i < plan->taken; i++)
        free(plan->at[i].rows);
    free(plan->at);
}

/* ---- Writing metrics ------------------------------------------------------------------------- */

/* Writes the header of a metric before its first series. *has_header: whether it was written
 * already. */
static void write_metric_header(const struct metric *metric, bool *has_header, FILE *stream)
{
    if (!*has_header)
        fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help, metric->name,
                metric->type);
    *has_header = true;
}

static void write_metric_value(double value, FILE *stream)
{
    fprintf(stream, " %.*f\n", value == floor(value) ? 0 : 3, value);
}

static void write_user_labels(const struct plan *plan, bool first, FILE *stream)
{
    for (size_t i = 0; i < plan->options->labels; i++)
        label_write_option(plan->options->label[i], first && i == 0, stream);
}

static void write_process_labels(const struct plan *plan, const struct metrics_process *process,
                                 FILE *stream)
{
    label_write("comm", process->member->found.name, 0, true, stream);
    fprintf(stream, ",pid=\"%d\"", (int)process->member->found.pid);
    write_user_labels(plan, false, stream);
}

static void write_site_labels(const struct metrics_process *process, size_t row, FILE *stream)
{
    static const struct view view;
    const struct site_name *name = process->snapshot->rows[row].name;

    fprintf(stream, ",signature=\"%016" PRIx64 "\"", name->signature);
    label_write("kind", kind_word[name->kind], 0, false, stream);
    label_write("function", name->title ? text_function_name(name->title, &view, 0).text : "",
                FUNCTION_COLUMNS, false, stream);
}

static void write_file_metrics(const struct plan *plan, FILE *stream)
{
    for (size_t i = 0; i < FILE_METRICS; i++) {
        write_metric_header(&file_metrics[i], &(bool){false}, stream);
        fprintf(stream, "%s%s", file_metrics[i].name, plan->options->labels ? "{" : "");
        write_user_labels(plan, true, stream);
        fputs(plan->options->labels ? "}" : "", stream);
        write_metric_value(file_metric_value(&plan->file, i), stream);
    }
}

/* Writes one series of a metric. row: index of a site; NULL = the metric is one of the process. */
static void write_series(const struct plan *plan, const struct metric *metric, bool *has_header,
                         const struct metrics_process *process, const size_t *row, double value,
                         FILE *stream)
{
    if (isnan(value))
        return;
    write_metric_header(metric, has_header, stream);
    fprintf(stream, "%s{", metric->name);
    write_process_labels(plan, process, stream);
    if (metric->labels)
        metric->labels(process, stream);
    if (row)
        write_site_labels(process, *row, stream);
    putc('}', stream);
    write_metric_value(value, stream);
}

static void write_site_metric(const struct plan *plan, size_t i, FILE *stream)
{
    bool has_header = false;

    for (size_t k = 0; k < plan->taken; k++)
        for (size_t n = 0; n < plan->at[k].process.shown; n++) {
            const struct metrics_process *process = &plan->at[k].process;
            const size_t *row = &plan->at[k].rows[n];

            write_series(plan, &site_metrics[i], &has_header, process, row,
                         site_metric_value(process, *row, i), stream);
        }
}

void metrics_write(const struct fleet *fleet, const struct metrics_options *options, FILE *stream)
{
    struct plan plan = plan_begin(fleet, options);

    write_file_metrics(&plan, stream);
    for (size_t i = 0; i < PROCESS_METRICS; i++) {
        bool has_header = false;

        for (size_t k = 0; k < plan.taken; k++)
            write_series(&plan, &process_metrics[i], &has_header, &plan.at[k].process, NULL,
                         process_metric_value(&plan.at[k].process, i), stream);
    }
    for (size_t i = 0; i < SITE_METRICS; i++)
        write_site_metric(&plan, i, stream);
    plan_end(&plan);
}

/* ---- Replacing the file ---------------------------------------------------------------------- */

static bool may_replace(const char *path)
{
    struct stat info;

    if (lstat(path, &info) != 0)
        return errno == ENOENT;
    errno = S_ISDIR(info.st_mode) ? EISDIR : EEXIST;
    return S_ISREG(info.st_mode);
}

static bool write_all_bytes(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t wrote = write(fd, text, length);

        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            text += wrote;
            length -= (size_t)wrote;
        }
    }
    return true;
}

/* Replaces the file by a temporary one. The name of the temporary file must not end with ".prom",
 * because the collector reads all such files in the folder. False: errno has the reason. */
static bool replace_file(const char *path, const char *text, size_t length)
{
    char *temporary = string_format("%s.XXXXXX", path);
    int fd = mkostemp(temporary, O_CLOEXEC), why;
    bool good = fd >= 0 && write_all_bytes(fd, text, length) && fchmod(fd, 0644) == 0;

    why = errno;
    if (fd >= 0 && close(fd) != 0 && good) { /* NFS reports a full disk when the file is closed */
        why = errno;
        good = false;
    }
    if (good && rename(temporary, path) != 0) {
        why = errno;
        good = false;
    }
    if (fd >= 0 && !good)
        unlink(temporary);
    free(temporary);
    errno = why;
    return good;
}

bool textfile_replace(const char *path, const char *text, size_t length)
{
    sigset_t ends, before;
    bool good;
    int why;

    if (!may_replace(path))
        return false;
    /* A signal that ends leaktop here would leave the temporary file in the folder. */
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, &before);
    good = replace_file(path, text, length);
    why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return good;
}
