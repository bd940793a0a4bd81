/* findings.c - see findings.h.
 *
 * Places count through the parts of a process: the crash, mistakes, records, resources.
 */
#include "symbolize/formats/findings.h"

#include "symbolize/records/sampling_error.h"
#include "symbolize/text/text_crash.h"
#include "symbolize/text/text_bad_frees.h"
#include "symbolize/text/text_record.h"
#include "symbolize/text/text_resources.h"

static const enum finding_level levels[VERDICT_MAX] = {
    [VERDICT_LOST] = FINDING_ERROR,       [VERDICT_INDIRECT] = FINDING_NOTICE,
    [VERDICT_POSSIBLE] = FINDING_WARNING, [VERDICT_HIDDEN] = FINDING_WARNING,
    [VERDICT_REACHABLE] = FINDING_NOTICE, [VERDICT_RUNTIME] = FINDING_NOTICE,
    [VERDICT_UNFREED] = FINDING_WARNING,
};

static size_t crashes(const struct process *process)
{
    return process->crash ? 1 : 0;
}

/* What a place is: one of these is set. */
struct thing {
    const struct crash *crash;
    const struct mistake *mistake;
    const struct record *record;
    const struct resource *resource;
};

static bool thing_at(const struct process *process, size_t place, struct thing *thing)
{
    *thing = (struct thing){.crash = NULL};
    if (place < crashes(process))
        thing->crash = process->crash;
    else if ((place -= crashes(process)) < process->mistake_count)
        thing->mistake = &process->mistakes[place];
    else if ((place -= process->mistake_count) < process->record_count)
        thing->record = &process->records[place];
    else if ((place -= process->record_count) < process->resource_count)
        thing->resource = &process->resources[place];
    else
        return false;
    return true;
}

/* Without one of the user's the first frame that is no allocator. */
static const struct frame *title_of(const struct stack *stack)
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

static bool is_found(const struct thing *thing, const struct view *view)
{
    if (thing->record)
        return view->show[thing->record->verdict];
    if (thing->resource)
        return thing->resource->bad_close ? thing->resource->taken : !thing->resource->once;
    return true;
}

/* Without its number and what comes after it. */
static struct finding found(const struct thing *thing)
{
    struct finding finding = {.level = FINDING_ERROR, .group = "error"};

    if (thing->crash) {
        finding.type = thing->crash->name;
        finding.frame = title_of(&thing->crash->stack);
    } else if (thing->mistake) {
        finding.type = bad_free_word[thing->mistake->type];
        finding.frame = title_of(&thing->mistake->released);
    } else if (thing->record) {
        finding.level = levels[thing->record->verdict];
        finding.group = "leak";
        finding.type = verdict_word[thing->record->verdict];
        find_record(thing->record, &finding);
    } else {
        finding.level = FINDING_WARNING;
        finding.group = "resource";
        finding.type = thing->resource->type;
        find_record(&thing->resource->record, &finding);
    }
    return finding;
}

bool finding_next(const struct process *process, const struct view *view, struct finding *finding)
{
    struct finding before = *finding;
    size_t place = finding->next;
    struct thing thing;

    do
        if (!thing_at(process, place++, &thing))
            return false;
    while (!is_found(&thing, view));
    *finding = found(&thing);
    finding->next = place;
    /* Behind a crash, which is one of its own, mistakes count from 1. */
    if (before.group && before.group[0] == finding->group[0] && before.next != crashes(process))
        finding->number = before.number;
    finding->number += !finding->suppressed_by || view->suppressed;
    return true;
}

static void write_record_words(const struct record *record, FILE *stream)
{
    fprintf(stream, "%s in ", estimate_bytes(record->bytes, record->error.bytes).text);
    fprintf(stream, "%s", estimate_count(record->blocks, record->error.blocks, "block").text);
    fprintf(stream, " %s (%s)", verdict_words[record->verdict], kind_word[record->kind]);
    if (record_is_growing(record))
        fprintf(stream, " and growing %s/s", term_size(record->growth->bytes_per_second).text);
}

void finding_words(const struct process *process, const struct finding *finding, FILE *stream)
{
    struct thing thing;

    if (!thing_at(process, finding->next - 1, &thing))
        return;
    if (thing.crash) {
        fprintf(stream, "crash by %s: %s", thing.crash->name,
                thing.crash->overflow ? "stack overflow" : thing.crash->words);
    } else if (thing.mistake) {
        fprintf(stream, "%s: ", bad_free_word[thing.mistake->type]);
        text_mistake_words(thing.mistake, stream);
        if (thing.mistake->count > 1)
            fprintf(stream, " (%s times)", term_number(thing.mistake->count).text);
    } else if (thing.record) {
        write_record_words(thing.record, stream);
    } else {
        text_resource_words(thing.resource, stream);
    }
}

void finding_text(const struct process *process, const struct finding *finding,
                  const struct view *view, FILE *stream)
{
    struct view plain = *view;
    struct thing thing;

    plain.colour = plain.links = false;
    if (!thing_at(process, finding->next - 1, &thing))
        return;
    if (thing.crash)
        text_crash(process, &plain, stream);
    else if (thing.mistake)
        text_mistake(process, thing.mistake, finding->number, &plain, stream);
    else if (thing.record)
        text_record(process, thing.record, finding->number, &plain, stream);
    else
        text_resource(process, thing.resource, &plain, stream);
}

bool finding_process(const struct report *report, size_t i, const struct view *view)
{
    const struct process *process = &report->processes[i];

    return process->alike == i && !report_omits_process(process, view);
}
