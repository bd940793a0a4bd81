/* model.c - the tables of words, the order of records and the sums of the report model
 * (model.h). */
#include "common/model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "leak_store.h"

const char *const verdict_word[VERDICT_MAX] = {
#define V(name, word, words) word,
    VERDICT_TABLE(V)
#undef V
};

const char *const verdict_words[VERDICT_MAX] = {
#define V(name, word, words) words,
    VERDICT_TABLE(V)
#undef V
};

const char *const type_source_word[] = {
#define T(name, word, words, percent) word,
    TYPE_SOURCE_TABLE(T)
#undef T
};

const char *const type_source_words[] = {
#define T(name, word, words, percent) words,
    TYPE_SOURCE_TABLE(T)
#undef T
};

const char *const kind_word[] = {
    [LEAK_KIND_NONE] = "unknown",
#define X(name, word) [LEAK_KIND_##name] = word,
    LEAK_KIND_TABLE(X)
#undef X
        [KIND_OLDER] = "before attach",
};

const char *const form_word[] = {[LEAK_FORM_NONE] = NULL,
#define F(name, word) [LEAK_FORM_##name] = word,
                                 LEAK_FORM_TABLE(F)
#undef F
};

const char *const bad_free_word[] = {[LEAK_EVENT_NONE] = NULL,
#define T(name, word) [LEAK_EVENT_##name] = word,
                                     LEAK_EVENT_TABLE(T)
#undef T
};

const char *const resource_word[] = {[LEAK_RESOURCE_NONE] = NULL,
#define X(name, word, ...) [LEAK_RESOURCE_##name] = word,
                                     LEAK_RESOURCE_TABLE(X)
#undef X
};

const char *const root_class_word[] = {[LEAK_ROOT_CLASS_NONE] = NULL,
#define X(name, word) [LEAK_ROOT_CLASS_##name] = word,
                                       LEAK_ROOT_CLASS_TABLE(X)
#undef X
};

const char *const held_word[HELD_MAX] = {[HELD_TO_EXIT] = "exit", [HELD_FOR_GOOD] = "never"};

const char *const end_word[] = {"exit", "signal", "exec", "running", "lost"};

const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path;
}

const char *process_name(const struct process *process)
{
    const char *name = process->argc ? process->argv[0] : NULL;

    if (!name || !strstr(name, ": "))
        name = base_name(name);
    if (!name || !*name)
        name = base_name(process->exe);
    return name ? name : "a program";
}

size_t frame_first_user(const struct frame *const *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (frames[i]->role == FRAME_USER && (frames[i]->module || frames[i]->function))
            return i;
    return count;
}

const char *frame_name(const struct frame *frame, char buffer[FRAME_NAME_SIZE])
{
    const char *module = frame->module ? base_name(frame->module) : "[no module]";

    if (frame->function)
        return frame->function;
    if (frame->has_offset)
        snprintf(buffer, FRAME_NAME_SIZE, "%s+0x%" PRIx64, module, frame->offset);
    else
        snprintf(buffer, FRAME_NAME_SIZE, "%s", module);
    return buffer;
}

size_t frame_first_caller(const struct frame *const *frames, size_t count)
{
    size_t i = 0;

    while (i < count && frames[i]->role == FRAME_ALLOCATOR)
        i++;
    return i < count ? i : 0;
}

const struct frame *record_title_frame(const struct record *record)
{
    if (record->user < record->frame_count)
        return record->frames[record->user];
    for (size_t i = 0; i < record->frame_count; i++)
        if (record->frames[i]->role != FRAME_ALLOCATOR)
            return record->frames[i];
    return record->frame_count ? record->frames[0] : NULL;
}

bool record_is_growing(const struct record *record)
{
    return record->growth && growth_is_growing(record->growth->verdict);
}

void process_link_owned(struct process *process)
{
    for (size_t i = process->record_count; i > 0; i--) {
        struct record *record = &process->records[i - 1];
        struct record *owner = record->owner ? &process->records[record->owner - 1] : NULL;

        if (!owner)
            continue;
        record->next_owned = owner->owned;
        owner->owned = i;
    }
}

bool process_has_leaks(const struct process *process)
{
    for (int v = 0; v < VERDICT_MAX; v++)
        if (v != VERDICT_REACHABLE && v != VERDICT_RUNTIME && process->totals.of[v].records)
            return true;
    return false;
}

static bool has_resource_leaks(const struct process *process)
{
    for (size_t i = 0; i < process->resource_count; i++)
        if (resource_is_reportable(&process->resources[i]))
            return true;
    return false;
}

bool process_has_findings(const struct process *process)
{
    static const enum verdict verdicts[] = {VERDICT_LOST, VERDICT_INDIRECT, VERDICT_POSSIBLE,
                                            VERDICT_HIDDEN};

    for (size_t i = 0; i < sizeof(verdicts) / sizeof(*verdicts); i++)
        if (process->totals.of[verdicts[i]].records)
            return true;
    return process->totals.errors || process->totals.growing || process->damaged ||
           has_resource_leaks(process);
}

/* Open resources do not count as findings here: descriptors stay open across exec on purpose as
 * often as by mistake. */
bool process_only_called_exec(const struct process *process)
{
    struct process without = *process;

    without.resource_count = 0;
    return process->how == END_EXEC && !process_has_findings(&without);
}

bool resource_is_reportable(const struct resource *resource)
{
    return resource->bad_close ? resource->taken : !resource->once;
}

const char *crash_type_name(const struct crash *crash)
{
    return crash->overflow ? "stack-overflow" : "crash";
}

uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void verdict_total_add(struct verdict_total *sum, const struct verdict_total *one)
{
    sum->bytes = add_saturating(sum->bytes, one->bytes);
    sum->blocks = add_saturating(sum->blocks, one->blocks);
    sum->records = add_saturating(sum->records, one->records);
}

struct totals report_totals(const struct report *report)
{
    struct totals sum = {0};

    for (size_t i = 0; i < report->process_count; i++) {
        const struct totals *one = &report->processes[i].totals;

        for (int v = 0; v < VERDICT_MAX; v++)
            verdict_total_add(&sum.of[v], &one->of[v]);
        sum.growing = add_saturating(sum.growing, one->growing);
        sum.errors = add_saturating(sum.errors, one->errors);
        sum.resources = add_saturating(sum.resources, one->resources);
    }
    return sum;
}

struct record record_from_stack(const struct stack *stack)
{
    return (struct record){.frames = stack->frames,
                           .frame_count = stack->count,
                           .user = frame_first_user(stack->frames, stack->count),
                           .ending = stack->ending};
}

static bool on_one_host(const struct process *a, const struct process *b)
{
    return a->host == b->host || (a->host && b->host && strcmp(a->host, b->host) == 0);
}

/* Returns the index of the program that this process executed next; process_count = it is not in
 * the report. */
static size_t next_program(const struct report *report, size_t at)
{
    const struct process *process = &report->processes[at];
    size_t found = report->process_count;

    for (size_t i = 0; process->how == END_EXEC && i < report->process_count; i++) {
        const struct process *other = &report->processes[i];

        if (i != at && other->pid == process->pid && on_one_host(process, other) &&
            other->started_ns > process->started_ns &&
            (found == report->process_count ||
             other->started_ns < report->processes[found].started_ns))
            found = i;
    }
    return found;
}

/* Returns the index of the process that started this one; process_count = it is not in the
 * report. */
static size_t parent_of(const struct report *report, size_t at)
{
    const struct process *process = &report->processes[at];
    size_t i = 0;

    for (; i < report->process_count; i++) {
        const struct process *other = &report->processes[i];

        if (process->ppid && other->pid == process->ppid && on_one_host(process, other) &&
            other->started_ns < process->started_ns &&
            (!other->ended_ns || other->ended_ns > process->started_ns))
            break;
    }
    return i;
}

static size_t find_lead(const struct report *report)
{
    size_t lead = 0, count = report->process_count;

    /* This loop ends, because a parent started earlier than its child. */
    for (size_t i = 0; (i = parent_of(report, lead)) < count;)
        lead = i;
    /* This loop ends, because the next program started later. */
    for (size_t i = 0; (i = next_program(report, lead)) < count;)
        lead = i;
    return lead;
}

void report_put_lead_first(struct report *report)
{
    struct process lead;
    size_t at;

    if (report->process_count < 2)
        return;
    for (size_t i = 0; i < report->process_count; i++)
        report->processes[i].replaced = next_program(report, i) < report->process_count;
    at = find_lead(report);
    lead = report->processes[at];
    memmove(report->processes + 1, report->processes, at * sizeof(lead));
    report->processes[0] = lead;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static const int rank_of_verdict[VERDICT_MAX] = {
    [VERDICT_LOST] = 0,    [VERDICT_INDIRECT] = 1,  [VERDICT_POSSIBLE] = 2, [VERDICT_HIDDEN] = 3,
    [VERDICT_UNFREED] = 4, [VERDICT_REACHABLE] = 5, [VERDICT_RUNTIME] = 6};

int verdict_rank(enum verdict verdict)
{
    return rank_of_verdict[verdict];
}

static int descending(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

/* Returns the bytes or blocks that fixing a leak releases. `retained` includes the record's own
 * ones, but is 0 if it is unknown. */
static uint64_t released_by_fix(uint64_t own, uint64_t retained)
{
    return retained > own ? retained : own;
}

static int by_retained(const struct record *a, const struct record *b)
{
    int order = descending(released_by_fix(a->bytes, a->retained.bytes),
                           released_by_fix(b->bytes, b->retained.bytes))
                    ?: descending(a->bytes, b->bytes)
                    ?: descending(a->blocks, b->blocks)
                    ?: descending(a->signature ^ a->kind, b->signature ^ b->kind);

    if (!order)
        order = a->cycle - b->cycle + 2 * (a->dropped - b->dropped) + 4 * (a->ignored - b->ignored);
    return order ? order : descending(b->owner, a->owner);
}

static int by_count(const struct record *a, const struct record *b)
{
    return descending(released_by_fix(a->blocks, a->retained.blocks),
                      released_by_fix(b->blocks, b->retained.blocks));
}

/* Compares ages, the oldest first; records of unknown age come last. */
static int by_age(const struct record *a, const struct record *b)
{
    return -descending(a->first_ns ? a->first_ns : UINT64_MAX,
                       b->first_ns ? b->first_ns : UINT64_MAX);
}

static uint64_t rate_of(const struct record *record)
{
    return record->growth ? record->growth->bytes_per_second : 0;
}

int record_compare(const struct record *a, const struct record *b, enum sort_order sort)
{
    int order = rank_of_verdict[a->verdict] - rank_of_verdict[b->verdict];

    if (!order && sort == SORT_BYTES)
        order = descending(a->bytes, b->bytes);
    if (!order && sort == SORT_COUNT)
        order = by_count(a, b);
    if (!order && sort == SORT_AGE)
        order = by_age(a, b);
    if (!order && sort == SORT_GROWTH)
        order = descending(rate_of(a), rate_of(b));
    return order ? order : by_retained(a, b);
}
