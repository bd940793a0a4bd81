/* findings.c - lists the findings of a process; described in findings.h.
 *
 * The index of a finding counts through the parts of a process: the crash, bad frees, records,
 * resources.
 */
#include "symbolize/formats/findings.h"

#include "symbolize/records/sampling_error.h"
#include "symbolize/text/text.h"

static const enum finding_level levels[VERDICT_MAX] = {
    [VERDICT_LOST] = FINDING_ERROR,       [VERDICT_INDIRECT] = FINDING_NOTICE,
    [VERDICT_POSSIBLE] = FINDING_WARNING, [VERDICT_HIDDEN] = FINDING_WARNING,
    [VERDICT_REACHABLE] = FINDING_NOTICE, [VERDICT_RUNTIME] = FINDING_NOTICE,
    [VERDICT_UNFREED] = FINDING_WARNING,
};

static size_t crash_count(const struct process *process)
{
    return process->crash ? 1 : 0;
}

/* The crash, bad free, record or resource that has an index among all findings of a process;
 * exactly one pointer is set. */
struct part {
    const struct crash *crash;
    const struct bad_free *mistake;
    const struct record *record;
    const struct resource *resource;
};

static bool part_at(const struct process *process, size_t place, struct part *part)
{
    *part = (struct part){.crash = NULL};
    if (place < crash_count(process))
        part->crash = process->crash;
    else if ((place -= crash_count(process)) < process->mistake_count)
        part->mistake = &process->mistakes[place];
    else if ((place -= process->mistake_count) < process->record_count)
        part->record = &process->records[place];
    else if ((place -= process->record_count) < process->resource_count)
        part->resource = &process->resources[place];
    else
        return false;
    return true;
}

/* Returns the title frame of a stack: a user frame, or else the first frame that is no allocation
 * function. */
static const struct frame *stack_title(const struct stack *stack)
{
    struct record record = record_from_stack(stack);

    return record_title_frame(&record);
}

static void find_record(const struct record *record, struct finding *finding)
{
    finding->frame = record_title_frame(record);
    finding->signature = record->signature;
    finding->has_signature = true;
    finding->suppressed_by = record->suppressed_by;
}

static bool is_found(const struct part *part, const struct view *view)
{
    if (part->record)
        return view->show[part->record->verdict];
    if (part->resource)
        return part->resource->bad_close ? part->resource->taken : !part->resource->once;
    return true;
}

/* Makes a finding of a part, without `number` and `next`. */
static struct finding make_finding(const struct part *part)
{
    struct finding finding = {.level = FINDING_ERROR, .group = "error"};

    if (part->crash) {
        finding.type = part->crash->name;
        finding.frame = stack_title(&part->crash->stack);
    } else if (part->mistake) {
        finding.type = bad_free_word[part->mistake->type];
        finding.frame = stack_title(&part->mistake->released);
    } else if (part->record) {
        finding.level = levels[part->record->verdict];
        finding.group = "leak";
        finding.type = verdict_word[part->record->verdict];
        find_record(part->record, &finding);
    } else {
        finding.level = FINDING_WARNING;
        finding.group = "resource";
        finding.type = part->resource->type;
        find_record(&part->resource->record, &finding);
    }
    return finding;
}

bool finding_next(const struct process *process, const struct view *view, struct finding *finding)
{
    struct finding before = *finding;
    size_t place = finding->next;
    struct part part;

    do
        if (!part_at(process, place++, &part))
            return false;
    while (!is_found(&part, view));
    *finding = make_finding(&part);
    finding->next = place;
    /* The crash is numbered by itself, so the bad frees after it are numbered from 1. */
    if (before.group && before.group[0] == finding->group[0] && before.next != crash_count(process))
        finding->number = before.number;
    finding->number += !finding->suppressed_by || view->suppressed;
    return true;
}

static void write_record_words(const struct record *record, FILE *stream)
{
    fprintf(stream, "%s in %s %s (%s)", estimate_bytes(record->bytes, record->error.bytes).text,
            estimate_count(record->blocks, record->error.blocks, "block").text,
            verdict_words[record->verdict], kind_word[record->kind]);
    if (record_is_growing(record))
        fprintf(stream, ", growing +%s/s", term_size(record->growth->bytes_per_second).text);
}

void finding_summary(const struct process *process, const struct finding *finding,
                     const struct view *view, FILE *stream)
{
    struct part part;

    (void)view;
    if (!part_at(process, finding->next - 1, &part))
        return;
    if (part.crash) {
        fprintf(stream, "crash by %s: %s", part.crash->name,
                part.crash->overflow ? "stack overflow" : part.crash->words);
    } else if (part.mistake) {
        fprintf(stream, "%s: ", bad_free_word[part.mistake->type]);
        text_bad_free_words(part.mistake, stream);
        if (part.mistake->count > 1)
            fprintf(stream, " (%s times)", term_number(part.mistake->count).text);
    } else if (part.record) {
        write_record_words(part.record, stream);
    } else {
        text_resource_words(part.resource, stream);
    }
}

void finding_text(const struct process *process, const struct finding *finding,
                  const struct view *view, FILE *stream)
{
    struct view plain = *view;
    struct part part;

    plain.colour = plain.links = false;
    if (!part_at(process, finding->next - 1, &part))
        return;
    if (part.crash)
        text_crash(process, &plain, stream);
    else if (part.mistake)
        text_bad_free(process, part.mistake, finding->number, &plain, stream);
    else if (part.record)
        text_record(process, part.record, finding->number, &plain, stream);
    else
        text_resource(process, part.resource, &plain, stream);
}

char *finding_string(finding_writer *write, const struct process *process,
                     const struct finding *finding, const struct view *view)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    write(process, finding, view, stream);
    return fclose(stream) == 0 ? text : NULL;
}

bool finding_process_is_listed(const struct report *report, size_t i, const struct view *view)
{
    const struct process *process = &report->processes[i];

    return process->alike == i && !report_omits_process(process, view);
}
