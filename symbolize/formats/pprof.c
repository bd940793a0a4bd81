/* pprof.c - writes a heap profile; described in formats.h and pprof_tables.h.
 *
 * A sample of the profile is either a record, with its live and its leaked blocks, or a stack with
 * all its allocations. These are separate samples, because the verdicts of all that a stack
 * allocated are unknown; programs that read the profile add up samples of equal stacks.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <stdio.h>

#include "symbolize/formats/pprof_tables.h"

enum { VALUE_ALLOCATED, VALUE_LIVING = 2, VALUE_LEAKED = 4, VALUES = 6 };
static const char *const types[VALUES][2] = {
    {"alloc_objects", "count"}, {"alloc_space", "bytes"},    {"inuse_objects", "count"},
    {"inuse_space", "bytes"},   {"leaked_objects", "count"}, {"leaked_space", "bytes"},
};

/* For each weight, the type of value that pprof shows first (--weight). NULL: no sample has this
 * weight. */
static const char *const first_type[WEIGHT_MAX] = {
    [WEIGHT_LISTED] = "inuse_space",
    [WEIGHT_LIVE] = "inuse_space",
    [WEIGHT_LEAKED] = "leaked_space",
    [WEIGHT_ALLOCATED] = "alloc_space",
};

/* Numbers of the fields of the messages inside of a Profile. */
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER, LABEL_UNIT };

struct writing {
    struct profile profile;
    const struct view *view;
    const struct process *process;
    bool many; /* the report has several processes */
    struct protobuf sample, list, label;
};

/* Limits a number to INT64_MAX, because readers parse numbers as signed. */
static uint64_t clamp_to_signed(uint64_t number)
{
    return number < INT64_MAX ? number : INT64_MAX;
}

/* ---- Labels of a sample ---------------------------------------------------------------------- */

static void add_label(struct writing *writing, const char *key, const char *text)
{
    struct protobuf *label = &writing->label;

    if (!text)
        return;
    label->length = 0;
    protobuf_number(label, LABEL_KEY, pprof_string(&writing->profile, key));
    protobuf_number(label, LABEL_TEXT, pprof_string(&writing->profile, text));
    protobuf_message(&writing->sample, SAMPLE_LABEL, label);
}

static void add_number(struct writing *writing, const char *key, uint64_t number, const char *unit)
{
    struct protobuf *label = &writing->label;

    label->length = 0;
    protobuf_number(label, LABEL_KEY, pprof_string(&writing->profile, key));
    protobuf_number(label, LABEL_NUMBER, clamp_to_signed(number));
    protobuf_number(label, LABEL_UNIT, pprof_string(&writing->profile, unit));
    protobuf_message(&writing->sample, SAMPLE_LABEL, label);
}

/* Adds a label with the process, if the report has several processes. */
static void add_process(struct writing *writing)
{
    if (!writing->many)
        return;
    add_label(writing, "process", base_name(writing->process->exe));
    if (writing->process->pid)
        add_number(writing, "pid", (uint64_t)writing->process->pid, NULL);
}

static void add_threads(struct writing *writing, const struct record *record)
{
    for (size_t i = 0; i < record->thread_count; i++) {
        const struct thread_ref *thread = &record->threads[i];
        char text[64];

        snprintf(text, sizeof(text), "T%" PRIu32 "%s%.40s", thread->serial, thread->name ? " " : "",
                 thread->name ? thread->name : "");
        add_label(writing, "thread", text);
    }
}

/* ---- Writing samples ------------------------------------------------------------------------- */

static void add_values(struct writing *writing, const uint64_t values[VALUES])
{
    writing->list.length = 0;
    for (int i = 0; i < VALUES; i++)
        protobuf_varint(&writing->list, clamp_to_signed(values[i]));
    protobuf_message(&writing->sample, SAMPLE_VALUE, &writing->list);
}

static void begin_sample(struct writing *writing, const struct frame *const *frames, size_t count)
{
    size_t first = writing->view->all_frames ? 0 : frame_first_caller(frames, count);

    writing->list.length = writing->sample.length = 0;
    pprof_stack(&writing->profile, frames + first, count - first, &writing->list);
    protobuf_message(&writing->sample, SAMPLE_LOCATION, &writing->list);
}

static void end_sample(struct writing *writing)
{
    pprof_message(&writing->profile, PROFILE_SAMPLE, &writing->sample);
}

static void write_pprof_record(struct writing *writing, const struct record *record)
{
    uint64_t values[VALUES] = {0};
    bool leaked = record->verdict == VERDICT_LOST || record->verdict == VERDICT_INDIRECT;

    values[VALUE_LIVING] = record->blocks;
    values[VALUE_LIVING + 1] = record->bytes;
    if (leaked && !record->suppressed_by) {
        values[VALUE_LEAKED] = record->blocks;
        values[VALUE_LEAKED + 1] = record->bytes;
    }
    begin_sample(writing, record->frames, record->frame_count);
    add_values(writing, values);
    add_label(writing, "verdict", verdict_word[record->verdict]);
    add_label(writing, "kind", kind_word[record->kind]);
    add_threads(writing, record);
    if (record->blocks)
        add_number(writing, "bytes", record->bytes / record->blocks, "bytes");
    if (record->suppressed_by)
        add_label(writing, "suppressed", record->suppressed_by->text);
    add_process(writing);
    end_sample(writing);
}

static void write_allocated(struct writing *writing, const struct allocated *allocated)
{
    uint64_t values[VALUES] = {[VALUE_ALLOCATED] = allocated->blocks, allocated->bytes};

    begin_sample(writing, allocated->stack.frames, allocated->stack.count);
    add_values(writing, values);
    add_label(writing, "kind", kind_word[allocated->kind]);
    add_process(writing);
    end_sample(writing);
}

static void write_pprof_process(struct writing *writing, const struct process *process)
{
    const struct view *view = writing->view;

    writing->process = process;
    for (size_t i = 0; i < process->record_count && (!view->top || i < view->top); i++)
        write_pprof_record(writing, &process->records[i]);
    for (size_t i = 0; i < process->allocated_count; i++)
        write_allocated(writing, &process->allocated[i]);
}

/* ---- Writing the profile --------------------------------------------------------------------- */

static void write_type(struct profile *profile, enum pprof_field field, const char *type,
                       const char *unit)
{
    uint64_t type_number = pprof_string(profile, type);
    uint64_t unit_number = pprof_string(profile, unit);
    struct protobuf made = {0};

    protobuf_number(&made, TYPE_TYPE, type_number);
    protobuf_number(&made, TYPE_UNIT, unit_number);
    pprof_message(profile, field, &made);
    protobuf_end(&made);
}

static void write_pprof_comment(struct profile *profile, const char *text)
{
    pprof_number(profile, PROFILE_COMMENT, pprof_string(profile, text));
}

static void write_pprof_head(struct profile *profile, const struct report *report,
                             const struct view *view)
{
    const struct process *first = report->processes;
    uint64_t period = 1;

    for (int i = 0; i < VALUES; i++)
        write_type(profile, PROFILE_SAMPLE_TYPE, types[i][0], types[i][1]);
    write_type(profile, PROFILE_PERIOD_TYPE, "space", "bytes");
    if (report->process_count && first->sample)
        period = first->sample;
    pprof_number(profile, PROFILE_PERIOD, period);
    pprof_number(profile, PROFILE_DEFAULT_TYPE, pprof_string(profile, first_type[view->weight]));
    if (report->process_count && first->until_ns > first->started_ns) {
        pprof_number(profile, PROFILE_TIME, first->until_ns);
        pprof_number(profile, PROFILE_DURATION, first->until_ns - first->started_ns);
    }
    write_pprof_comment(profile, "libleak " LEAK_VERSION);
    for (size_t i = 0; i < report->process_count; i++)
        for (size_t k = 0; k < report->processes[i].note_count; k++)
            write_pprof_comment(profile, report->processes[i].notes[k]);
}

bool pprof_has_weight(enum weight weight)
{
    return first_type[weight] != NULL;
}

void pprof_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct writing writing = {.view = view, .many = report->process_count > 1};

    writing.profile =
        pprof_tables_begin(stream, report->process_count ? report->processes[0].exe : NULL);
    write_pprof_head(&writing.profile, report, view);
    for (size_t i = 0; i < report->process_count && !view->quiet; i++)
        write_pprof_process(&writing, &report->processes[i]);
    pprof_tables_end(&writing.profile);
    protobuf_end(&writing.sample);
    protobuf_end(&writing.list);
    protobuf_end(&writing.label);
}
