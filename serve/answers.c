/* answers.c - answers requests; described in answers.h. */
#include "serve/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/encode/encode.h"
#include "top/metrics.h"

enum { OK = 200, SEE_OTHER = 303, BAD_REQUEST = 400, FORBIDDEN = 403, NOT_FOUND = 404 };
enum { BAD_METHOD = 405, FAILED = 500, BUSY = 503 };

/* Content-Security-Policy: pages have no scripts; reports have one, which may neither load nor send
 * anything. */
#define POLICY_END "; frame-ancestors 'none'; base-uri 'none'; form-action "
#define POLICY_PAGE "default-src 'none'; style-src 'self'" POLICY_END "'self'"
#define POLICY_REPORT                                                                              \
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'" POLICY_END "'none" \
    "'"

#define TYPE_PAGE "text/html; charset=utf-8"
#define FILTER_MOST 256

/* ---- Addresses of pages and reports ---------------------------------------------------------- */

static const struct {
    const char *path;
    enum route route;
} fixed[] = {
    {"/", ROUTE_PROCESSES},
    {"/style.css", ROUTE_STYLE},
    {"/metrics", ROUTE_METRICS},
    {"/debug/pprof/", ROUTE_PROCESSES},
    {"/debug/pprof/symbol", ROUTE_SYMBOLS},
};

static const struct {
    const char *below;
    enum route route;
} of_process[] = {
    {"", ROUTE_GROWTH},
    {"/diff", ROUTE_DIFFERENCE},
    {"/look", ROUTE_LOOK},
    {"/mark", ROUTE_MARK},
    {"/debug/pprof/symbol", ROUTE_SYMBOLS},
};

static struct address find_report(const char *below, pid_t pid)
{
    for (size_t i = 0; *below == '/' && i < REPORT_KINDS; i++)
        if (strcmp(below + 1, report_form[i].path) == 0)
            return (struct address){ROUTE_REPORT, pid, (enum job_kind)i};
    return (struct address){ROUTE_NONE, 0, 0};
}

/* Parses "PID" and the part of the path that follows it. */
static struct address find_in_process(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    const char *below = text + digits;
    pid_t pid;

    if (!digits || digits > 9 || *text == '0')
        return (struct address){ROUTE_NONE, 0, 0};
    pid = (pid_t)atoi(text);
    for (size_t i = 0; i < sizeof(of_process) / sizeof(*of_process); i++)
        if (strcmp(below, of_process[i].below) == 0)
            return (struct address){of_process[i].route, pid, 0};
    return find_report(below, pid);
}

struct address address_of_path(const char *path)
{
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        if (strcmp(path, fixed[i].path) == 0)
            return (struct address){fixed[i].route, 0, 0};
    if (strncmp(path, "/process/", 9) == 0)
        return find_in_process(path + 9);
    /* Only profiles can be about all processes: they have the process as a label. */
    return strncmp(path, "/debug/", 7) == 0 ? find_report(path, 0)
                                            : (struct address){ROUTE_NONE, 0, 0};
}

/* ---- Arguments of an address (?name=value) --------------------------------------------------- */

static const char *argument_of(const struct question *question, const char *name)
{
    return question->argument(question->context, name);
}

/* Finds a word in a list; *at: set to the word's index, or to `standard` if the word is NULL.
 * False: the word is not in the list. */
static bool read_word(const char *word, const char *const *words, int standard, int *at)
{
    *at = standard;
    for (int i = 0; word && words[i]; i++)
        if (strcmp(word, words[i]) == 0) {
            *at = i;
            return true;
        }
    return !word;
}

static bool read_number(const char *word, size_t standard, size_t most, size_t *number)
{
    char *end;

    *number = standard;
    if (!word)
        return true;
    *number = strtoul(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && *number <= most;
}

static bool read_choice(const struct answers *answers, const struct question *question,
                        struct page_choice *choice)
{
    const struct options *options = answers->options;
    bool is_list = address_of_path(question->path).route == ROUTE_PROCESSES;
    size_t renew;
    int order, since;

    if (!read_word(argument_of(question, "sort"), order_word, options->listing.ordering.order,
                   &order) ||
        !read_word(argument_of(question, "since"), mark_word, MARK_FIRST, &since) ||
        !read_number(argument_of(question, "top"), options->listing.top, 1000000, &choice->top) ||
        !read_number(argument_of(question, "renew"), is_list, 1, &renew))
        return false;
    choice->order = (enum order)order;
    choice->since = (enum mark)since;
    choice->renew = renew;
    choice->filter = argument_of(question, "filter");
    if (!choice->filter)
        choice->filter = options->listing.ordering.filter;
    choice->interval = options->interval;
    choice->allow_actions = options->allow_actions;
    return !choice->filter || strlen(choice->filter) <= FILTER_MOST;
}

/* ---- Answers that are texts ------------------------------------------------------------------ */

static FILE *begin_text(struct answer *answer, unsigned status, const char *type,
                        const char *policy)
{
    *answer = (struct answer){.status = status, .type = type, .policy = policy, .fd = -1};
    return open_memstream(&answer->text, &answer->length);
}

static void end_text(struct answer *answer, FILE *stream)
{
    if (stream && fclose(stream) == 0)
        return;
    free(answer->text);
    *answer = (struct answer){.status = FAILED, .type = "text/plain", .fd = -1};
    answer->policy = POLICY_PAGE;
}

void answer_message(struct answer *answer, unsigned status, const char *title, const char *text)
{
    FILE *stream = begin_text(answer, status, TYPE_PAGE, POLICY_PAGE);

    if (stream)
        page_write_message(title, text, stream);
    end_text(answer, stream);
}

static void answer_no_process(struct answer *answer)
{
    answer_message(answer, NOT_FOUND, "No such process",
                   "It has ended, or it does not run under libleak.");
}

static void answer_style(struct answer *answer)
{
    FILE *stream = begin_text(answer, OK, "text/css; charset=utf-8", POLICY_PAGE);

    if (stream)
        fwrite(page_style, 1, (size_t)(page_style_end - page_style), stream);
    end_text(answer, stream);
}

static void compress_answer(struct answer *answer)
{
    char *plain = answer->text;
    size_t length = answer->length;
    FILE *stream = open_memstream(&answer->text, &answer->length);
    struct gzip *gzip = stream ? gzip_begin(stream, GZIP_FAST) : NULL;

    if (gzip) {
        gzip_write(gzip, plain, length);
        gzip_end(gzip);
        answer->is_gzip = true;
    }
    free(plain);
    end_text(answer, stream);
}

static void answer_metrics(struct answers *answers, bool takes_gzip, struct answer *answer)
{
    FILE *stream = begin_text(answer, OK, "text/plain; version=0.0.4; charset=utf-8", POLICY_PAGE);

    if (stream) {
        heaps_lock(answers->heaps);
        metrics_write(&answers->heaps->fleet, &answers->options->metrics, stream);
        heaps_unlock(answers->heaps);
    }
    end_text(answer, stream);
    if (takes_gzip && answer->status == OK)
        compress_answer(answer);
}

/* Answers go tool pprof, which posts the addresses of functions without a name, that there are no
 * more names. Without an answer it would refuse the profile. */
static void answer_symbols(struct answer *answer)
{
    FILE *stream = begin_text(answer, OK, "text/plain; charset=utf-8", POLICY_PAGE);

    if (stream)
        fputs("num_symbols: 0\n", stream);
    end_text(answer, stream);
}

static void (*const page_writer[])(struct heaps *, const struct fleet_member *,
                                   const struct page_choice *, FILE *) = {
    [ROUTE_GROWTH] = page_write_growth,
    [ROUTE_DIFFERENCE] = page_write_difference,
    [ROUTE_LOOK] = page_write_look,
};

static void answer_page(struct answers *answers, const struct question *question,
                        const struct address *address, struct answer *answer)
{
    struct heaps *heaps = answers->heaps;
    const struct fleet_member *member = NULL;
    struct page_choice choice;
    FILE *stream;

    if (!read_choice(answers, question, &choice)) {
        answer_message(answer, BAD_REQUEST, "Bad request", "A value in the address is unknown.");
        return;
    }
    heaps_lock(heaps);
    if (address->route != ROUTE_PROCESSES)
        member = heaps_find(heaps, address->pid);
    stream = begin_text(answer, OK, TYPE_PAGE, POLICY_PAGE);
    if (stream && address->route == ROUTE_PROCESSES)
        page_write_processes(heaps, &choice, stream);
    else if (stream && member)
        page_writer[address->route](heaps, member, &choice, stream);
    heaps_unlock(heaps);
    end_text(answer, stream);
    if (address->route != ROUTE_PROCESSES && !member) {
        answer_free(answer);
        answer_no_process(answer);
    }
}

/* ---- Answers that are reports ---------------------------------------------------------------- */

/* Fills in the job that makes a report. False: there is no such process. */
static bool fill_report_job(struct answers *answers, const struct address *address, struct job *job)
{
    struct heaps *heaps = answers->heaps;

    *job = (struct job){.kind = address->report, .fd = -1};
    heaps_lock(heaps);
    for (size_t i = 0; i < heaps->fleet.count; i++) {
        const struct fleet_member *member = &heaps->fleet.at[i];

        if (!member->snapshot || (address->pid && member->found.pid != address->pid))
            continue;
        string_list_add(&job->recordings, member->found.path);
        job->looked_ns += member->snapshot->leak_check_ns;
    }
    heaps_unlock(heaps);
    return job->recordings.count > 0;
}

static bool begin_report(struct answers *answers, const struct address *address,
                         struct answer *answer, struct job *job)
{
    if (!fill_report_job(answers, address, job)) {
        answer_no_process(answer);
        return true;
    }
    if (!reports_take(answers->reports, job))
        return false;
    answer_finish(answers, job, answer);
    return true;
}

void answer_finish(struct answers *answers, const struct job *job, struct answer *answer)
{
    if (job->kind == JOB_LOOK) {
        heaps_update(answers->heaps); /* reads the result of the leak check */
        heaps_note_action(answers->heaps, job->recordings.at[0],
                          *job->message ? job->message : "The leak check was made.");
        *answer = (struct answer){.status = SEE_OTHER, .policy = POLICY_PAGE, .fd = -1};
        answer->location = string_format("/process/%s/look", job->pid);
    } else if (job->good) {
        const struct report_form *form = &report_form[job->kind];

        *answer = (struct answer){.status = OK, .type = form->type, .fd = job->fd};
        answer->policy = job->kind == REPORT_HTML ? POLICY_REPORT : POLICY_PAGE;
        answer->size = job->size;
    } else {
        answer_message(answer, BUSY, "No report",
                       *job->message ? job->message : "leakreport failed without a message.");
    }
}

/* ---- Actions: requests with POST ------------------------------------------------------------- */

static bool begin_action(struct answers *answers, const struct address *address,
                         struct answer *answer, struct job *job)
{
    struct heaps *heaps = answers->heaps;
    const struct fleet_member *member;
    bool is_mark = address->route == ROUTE_MARK;

    if (!answers->options->allow_actions) {
        answer_message(answer, FORBIDDEN, "Read only", "leaktop runs without --allow-actions.");
        return true;
    }
    *job = (struct job){.kind = JOB_LOOK, .fd = -1};
    heaps_lock(heaps);
    member = heaps_find(heaps, address->pid);
    if (member && is_mark) {
        const struct heap_snapshot *snapshot = member->snapshot;

        marks_set_user(&heaps_notes(heaps, member)->marks, snapshot->time, snapshot->total,
                       snapshot->counts, snapshot->count);
    } else if (member) {
        const char *path = member->found.path, *slash = strrchr(path, '/');

        string_list_add(&job->recordings, path);
        job->dir = slash ? strndup(path, (size_t)(slash - path) + !(slash - path)) : strdup(".");
        job->pid = string_format("%d", (int)address->pid);
    }
    heaps_unlock(heaps);
    if (!member) {
        answer_no_process(answer);
        return true;
    }
    if (!is_mark)
        return false;
    *answer = (struct answer){.status = SEE_OTHER, .policy = POLICY_PAGE, .fd = -1};
    answer->location = string_format("/process/%d/diff?since=mark", (int)address->pid);
    return true;
}

/* ---- Answering any request ------------------------------------------------------------------- */

static bool takes_post(enum route route)
{
    return route == ROUTE_LOOK || route == ROUTE_MARK || route == ROUTE_SYMBOLS;
}

static const char *allowed_methods(enum route route)
{
    return route == ROUTE_MARK ? "POST" : takes_post(route) ? "GET, HEAD, POST" : "GET, HEAD";
}

static bool allows_method(enum route route, const char *method)
{
    if (strcmp(method, "POST") == 0)
        return takes_post(route);
    return (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0) && route != ROUTE_MARK;
}

bool answer_begin(struct answers *answers, const struct question *question, struct answer *answer,
                  struct job *job)
{
    struct address address = address_of_path(question->path);

    *job = (struct job){.fd = -1};
    if (address.route == ROUTE_NONE) {
        answer_message(answer, NOT_FOUND, "No such page", "There is nothing at this address.");
        return true;
    }
    if (!allows_method(address.route, question->method)) {
        answer_message(answer, BAD_METHOD, "Wrong method", "This address has other methods.");
        answer->allow = allowed_methods(address.route);
        return true;
    }
    if (address.route == ROUTE_SYMBOLS) {
        answer_symbols(answer);
        return true;
    }
    if (strcmp(question->method, "POST") == 0)
        return begin_action(answers, &address, answer, job);
    if (address.route == ROUTE_REPORT)
        return begin_report(answers, &address, answer, job);
    if (address.route == ROUTE_STYLE)
        answer_style(answer);
    else if (address.route == ROUTE_METRICS)
        answer_metrics(answers, question->takes_gzip, answer);
    else
        answer_page(answers, question, &address, answer);
    return true;
}

void answer_free(struct answer *answer)
{
    free(answer->text);
    free(answer->location);
    if (answer->fd >= 0)
        close(answer->fd);
    *answer = (struct answer){.fd = -1};
}
