/* metrics.c - see metrics.h.
 *
 * The format wants all series of a metric together, so what is written is decided first: a plan, of
 * the processes and how many sites of each. Then each row of the three tables of measures is
 * written for all that have a value for it.
 */
#include "top/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/view/text_frame.h"
#include "top/measures.h"

#define FUNCTION_COLUMNS 120

/* A process of the plan. */
struct planned {
    struct measured measured;
    size_t *rows; /* of sites that may be shown, in order */
};

struct plan {
    const struct metrics_options *options;
    struct measured_file file;
    struct planned *at;
    size_t count;     /* of those that can be read */
    size_t taken;     /* the first of them */
    size_t left_over; /* series that are still free */
};

/* ---- The plan -------------------------------------------------------------------------------- */

static double growth_of(const struct glance *glance)
{
    double sum = 0;

    for (size_t i = 0; i < glance->count; i++)
        if (glance->rows[i].growth && growth_is_growing(glance->rows[i].growth->verdict))
            sum += (double)glance->rows[i].growth->bytes_per_second;
    return sum;
}

/* The fastest first, then the largest, then the oldest. */
static int compare(const void *left, const void *right)
{
    const struct measured *a = &((const struct planned *)left)->measured;
    const struct measured *b = &((const struct planned *)right)->measured;
    uint64_t more = a->glance->total.bytes, less = b->glance->total.bytes;

    if (a->growth != b->growth)
        return a->growth > b->growth ? -1 : 1;
    if (more != less)
        return more > less ? -1 : 1;
    return a->member < b->member ? -1 : a->member > b->member;
}

/* Is there room for so many series? Then they have it. */
static bool take(struct plan *plan, size_t series)
{
    if (series > plan->left_over)
        return false;
    plan->left_over -= series;
    return true;
}

static size_t series_of_process(const struct measured *process)
{
    size_t series = 0;

    for (size_t i = 0; i < MEASURES_OF_PROCESS; i++)
        series += !isnan(measures_of_process[i].value(process));
    return series;
}

static size_t series_of_site(const struct measured *process, size_t row)
{
    size_t series = 0;

    for (size_t i = 0; i < MEASURES_OF_SITE; i++)
        series += !isnan(measures_of_site[i].value(process, row));
    return series;
}

static void plan_processes(struct plan *plan, const struct fleet *fleet)
{
    plan->at = array_grow(NULL, &(size_t){0}, fleet->count + 1, sizeof(*plan->at));
    for (size_t i = 0; i < fleet->count; i++) {
        const struct glance *glance = fleet->at[i].glance;

        if (!glance)
            plan->file.unreadable++;
        else
            plan->at[plan->count++].measured = (struct measured){
                .member = &fleet->at[i], .glance = glance, .growth = growth_of(glance)};
    }
    if (plan->count)
        qsort(plan->at, plan->count, sizeof(*plan->at), compare);
    while (plan->taken < plan->count &&
           take(plan, series_of_process(&plan->at[plan->taken].measured)))
        plan->taken++;
    plan->file.left_out = plan->count - plan->taken;
}

static void plan_sites(struct plan *plan, struct planned *planned)
{
    struct measured *process = &planned->measured;

    planned->rows = order_rows(process->glance, &plan->options->ordering, &process->rows);
    while (process->shown < process->rows && process->shown < plan->options->sites &&
           take(plan, series_of_site(process, planned->rows[process->shown])))
        process->shown++;
}

static struct plan plan_begin(const struct fleet *fleet, const struct metrics_options *options)
{
    struct plan plan = {.options = options,
                        .file = {.processes = fleet->count, .time_ns = fleet->time_ns},
                        .left_over = options->series - MEASURES_OF_FILE};

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

/* ---- Writing --------------------------------------------------------------------------------- */

/* Above its first series. */
static void write_head(const struct measure *measure, bool *headed, FILE *stream)
{
    if (!*headed)
        fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", measure->name, measure->help, measure->name,
                measure->counter ? "counter" : "gauge");
    *headed = true;
}

static void write_value(double value, FILE *stream)
{
    fprintf(stream, " %.*f\n", value == floor(value) ? 0 : 3, value);
}

static void label_user(const struct plan *plan, bool first, FILE *stream)
{
    for (size_t i = 0; i < plan->options->labels; i++)
        label_write_word(plan->options->label[i], first && i == 0, stream);
}

static void label_process(const struct plan *plan, const struct measured *process, FILE *stream)
{
    label_write("comm", process->member->found.name, 0, true, stream);
    fprintf(stream, ",pid=\"%d\"", (int)process->member->found.pid);
    label_user(plan, false, stream);
}

static void label_site(const struct measured *process, size_t row, FILE *stream)
{
    static const struct view view;
    const struct name *name = process->glance->rows[row].name;

    fprintf(stream, ",signature=\"%016" PRIx64 "\"", name->signature);
    label_write("kind", kind_word[name->kind], 0, false, stream);
    label_write("function", name->title ? text_function_name(name->title, &view, 0).text : "",
                FUNCTION_COLUMNS, false, stream);
}

static void write_of_file(const struct plan *plan, FILE *stream)
{
    for (size_t i = 0; i < MEASURES_OF_FILE; i++) {
        write_head(&measures_of_file[i].measure, &(bool){false}, stream);
        fprintf(stream, "%s%s", measures_of_file[i].measure.name, plan->options->labels ? "{" : "");
        label_user(plan, true, stream);
        fputs(plan->options->labels ? "}" : "", stream);
        write_value(measures_of_file[i].value(&plan->file), stream);
    }
}

static void write_of_processes(const struct plan *plan, size_t i, FILE *stream)
{
    bool headed = false;

    for (size_t k = 0; k < plan->taken; k++) {
        const struct measured *process = &plan->at[k].measured;
        double value = measures_of_process[i].value(process);

        if (isnan(value))
            continue;
        write_head(&measures_of_process[i].measure, &headed, stream);
        fprintf(stream, "%s{", measures_of_process[i].measure.name);
        label_process(plan, process, stream);
        if (measures_of_process[i].labels)
            measures_of_process[i].labels(process, stream);
        putc('}', stream);
        write_value(value, stream);
    }
}

static void write_site(const struct plan *plan, const struct measured *process, size_t row,
                       size_t i, bool *headed, FILE *stream)
{
    double value = measures_of_site[i].value(process, row);

    if (isnan(value))
        return;
    write_head(&measures_of_site[i].measure, headed, stream);
    fprintf(stream, "%s{", measures_of_site[i].measure.name);
    label_process(plan, process, stream);
    label_site(process, row, stream);
    putc('}', stream);
    write_value(value, stream);
}

void metrics_write(const struct fleet *fleet, const struct metrics_options *options, FILE *stream)
{
    struct plan plan = plan_begin(fleet, options);

    write_of_file(&plan, stream);
    for (size_t i = 0; i < MEASURES_OF_PROCESS; i++)
        write_of_processes(&plan, i, stream);
    for (size_t i = 0; i < MEASURES_OF_SITE; i++) {
        bool headed = false;

        for (size_t k = 0; k < plan.taken; k++)
            for (size_t row = 0; row < plan.at[k].measured.shown; row++)
                write_site(&plan, &plan.at[k].measured, plan.at[k].rows[row], i, &headed, stream);
    }
    plan_end(&plan);
}
