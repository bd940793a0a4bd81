/* html_data.c - see html_data.h. */
#include "symbolize/formats/html_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "common/encode/json_writer.h"
#include "symbolize/formats/html_facts.h"
#include "symbolize/formats/html_frames.h"
#include "symbolize/text/text_bad_frees.h"
#include "symbolize/text/text_path.h"

#define RECORDS_MOST 10000 /* of a process */
#define PEAK_PARTS_MOST 25

struct writing {
    struct emit emit;
    const struct view *view;
    const struct process *process;
    struct html_frames frames;
};

/* ---- Stacks --------------------------------------------------------------------------------- */

/* Allocators say nothing, unless there is nothing else. */
static size_t first_of(const struct frame *const *frames, size_t count, const struct view *view)
{
    return view->all_frames ? 0 : frame_first(frames, count);
}

static void write_ids(struct writing *writing, const char *key, const struct frame *const *frames,
                      size_t count)
{
    emit_open(&writing->emit, key, '[');
    for (size_t i = first_of(frames, count, writing->view); i < count; i++)
        emit_number(&writing->emit, NULL, html_frames_id(&writing->frames, frames[i]));
    emit_close(&writing->emit, ']');
}

/* The stack, and which of its frames matters. */
static void write_stack(struct writing *writing, const struct frame *const *frames, size_t count,
                        size_t user)
{
    write_ids(writing, "f", frames, count);
    emit_number(&writing->emit, "u", user - first_of(frames, count, writing->view));
}

/* ---- Records -------------------------------------------------------------------------------- */

static void write_thread(struct emit *emit, const struct thread_ref *thread)
{
    char text[128];
    const char *name = thread->name;

    if (name && *name)
        snprintf(text, sizeof(text), "T%" PRIu32 " (%s)", thread->serial, name);
    else
        snprintf(text, sizeof(text), "T%" PRIu32, thread->serial);
    emit_text(emit, NULL, text);
}

/* Seconds from then to the end. */
static void write_age(struct writing *writing, const char *key, uint64_t ns)
{
    uint64_t end = writing->process->until_ns;

    if (!ns || !end)
        emit_null(&writing->emit, key);
    else
        emit_fraction(&writing->emit, key, end > ns ? (double)(end - ns) / 1e9 : 0);
}

static void write_path(struct writing *writing, const char *key, const struct path *path)
{
    char *text = NULL;
    size_t size;
    FILE *stream;

    if (!path || !(stream = open_memstream(&text, &size)))
        return;
    text_path(path, 0, writing->view, stream);
    fclose(stream);
    for (char *at = text; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    emit_text(&writing->emit, key, text);
    free(text);
}

static void write_lines(struct writing *writing, const struct record *record)
{
    if (!record->line_count)
        return;
    emit_open(&writing->emit, "l", '[');
    for (size_t i = 0; i < record->line_count; i++) {
        emit_open(&writing->emit, NULL, '[');
        emit_number(&writing->emit, NULL, html_frames_id(&writing->frames, record->lines[i].frame));
        emit_number(&writing->emit, NULL, record->lines[i].bytes);
        emit_number(&writing->emit, NULL, record->lines[i].blocks);
        emit_close(&writing->emit, ']');
    }
    emit_close(&writing->emit, ']');
}

static void write_tags(struct writing *writing, const struct record *record)
{
    if (!record->tag_count)
        return;
    emit_open(&writing->emit, "tg", '[');
    for (size_t i = 0; i < record->tag_count; i++) {
        emit_open(&writing->emit, NULL, '[');
        emit_text(&writing->emit, NULL, record->tags[i].name);
        emit_number(&writing->emit, NULL, record->tags[i].bytes);
        emit_number(&writing->emit, NULL, record->tags[i].blocks);
        emit_close(&writing->emit, ']');
    }
    emit_close(&writing->emit, ']');
}

static void write_freed(struct writing *writing, const struct freed *freed)
{
    if (!freed->places)
        return;
    emit_open(&writing->emit, "w", '[');
    emit_number(&writing->emit, NULL, html_frames_id(&writing->frames, freed->place[0].frame));
    emit_fraction(&writing->emit, NULL,
                  freed->enough && !freed->other_path ? freed->place[0].share : 0);
    emit_bool(&writing->emit, NULL, freed->other_path);
    emit_close(&writing->emit, ']');
}

static void write_orphaned(struct writing *writing, const struct orphaned *orphaned)
{
    if (!orphaned->blocks)
        return;
    emit_open(&writing->emit, "h", '[');
    emit_number(&writing->emit, NULL,
                html_frames_id(&writing->frames, orphaned->frames[orphaned->user]));
    if (orphaned->holder)
        emit_number(&writing->emit, NULL, html_frames_id(&writing->frames, orphaned->holder));
    emit_close(&writing->emit, ']');
}

static void write_record(struct writing *writing, const struct record *record, size_t end)
{
    struct emit *emit = &writing->emit;
    char signature[24];

    snprintf(signature, sizeof(signature), "%016" PRIx64, record->signature);
    emit_open(emit, NULL, '{');
    emit->flat = true;
    emit_text(emit, "s", signature);
    emit_number(emit, "v", record->verdict);
    emit_text(emit, "k", kind_word[record->kind]);
    emit_number(emit, "b", record->bytes);
    emit_number(emit, "n", record->blocks);
    emit_number(emit, "rb", record->retained.bytes);
    emit_number(emit, "rn", record->retained.blocks);
    write_stack(writing, record->frames, record->frame_count, record->user);
    write_age(writing, "a", record->first_ns);
    write_age(writing, "z", record->last_ns);
    emit_open(emit, "t", '[');
    for (size_t i = 0; i < record->thread_count; i++)
        write_thread(emit, &record->threads[i]);
    emit_close(emit, ']');
    emit_number(emit, "o", record->owner <= end ? record->owner : 0);
    if (record->cycle)
        emit_bool(emit, "c", true);
    write_path(writing, "p", record->path);
    write_lines(writing, record);
    write_tags(writing, record);
    write_freed(writing, &record->freed);
    write_orphaned(writing, &record->orphaned);
    if (record_grows(record)) {
        emit_text(emit, "g", record->growth->reason);
        emit_number(emit, "gr", (uint64_t)record->growth->bytes_per_second);
        emit_number(emit, "gp", record->growth->peak_bytes);
    }
    if (record->suppressed_by)
        emit_text(emit, "x", record->suppressed_by->text);
    emit_close(emit, '}');
    emit->flat = false;
}

static void write_entries(struct writing *writing, size_t end)
{
    const struct process *process = writing->process;

    emit_open(&writing->emit, "entries", '[');
    writing->emit.flat = true;
    for (size_t i = 0; i < process->entry_count; i++) {
        const struct entry *entry = &process->entries[i];

        if (entry->parts[0] >= end)
            continue;
        emit_open(&writing->emit, NULL, '[');
        for (size_t k = 0; k < entry->count; k++)
            if (entry->parts[k] < end)
                emit_number(&writing->emit, NULL, entry->parts[k]);
        emit_close(&writing->emit, ']');
    }
    emit_close(&writing->emit, ']');
    writing->emit.flat = false;
}

static void write_other(struct writing *writing, size_t end)
{
    const struct process *process = writing->process;
    struct verdict_total other[VERDICT_MAX] = {{0}};

    for (size_t i = end; i < process->record_count; i++) {
        struct verdict_total *total = &other[process->records[i].verdict];

        total->records++;
        total->bytes = add_saturating(total->bytes, process->records[i].bytes);
        total->blocks = add_saturating(total->blocks, process->records[i].blocks);
    }
    emit_open(&writing->emit, "other", '[');
    for (int v = 0; v < VERDICT_MAX; v++) {
        if (!other[v].records)
            continue;
        emit_open(&writing->emit, NULL, '[');
        emit_text(&writing->emit, NULL, verdict_word[v]);
        emit_number(&writing->emit, NULL, other[v].records);
        emit_number(&writing->emit, NULL, other[v].bytes);
        emit_number(&writing->emit, NULL, other[v].blocks);
        emit_close(&writing->emit, ']');
    }
    emit_close(&writing->emit, ']');
}

static void write_records(struct writing *writing)
{
    const struct process *process = writing->process;
    size_t end = process->record_count < RECORDS_MOST ? process->record_count : RECORDS_MOST;

    if (writing->view->quiet || report_passes(process, writing->view))
        end = 0;

    emit_open(&writing->emit, "records", '[');
    for (size_t i = 0; i < end; i++)
        write_record(writing, &process->records[i], end);
    emit_close(&writing->emit, ']');
    write_entries(writing, end);
    write_other(writing, end);
}

/* ---- What else went wrong -------------------------------------------------------------------- */

/* [words, ids, which of them matters] */
static void write_trace(struct writing *writing, const char *words, const struct stack *stack)
{
    size_t user = frame_user(stack->frames, stack->count);

    if (!stack->count)
        return;
    emit_open(&writing->emit, NULL, '[');
    emit_text(&writing->emit, NULL, words);
    write_ids(writing, NULL, stack->frames, stack->count);
    emit_number(&writing->emit, NULL, user - first_of(stack->frames, stack->count, writing->view));
    emit_close(&writing->emit, ']');
}

static void write_mistake(struct writing *writing, const struct mistake *mistake)
{
    struct emit *emit = &writing->emit;
    char *words = NULL;
    size_t size;
    FILE *stream = open_memstream(&words, &size);

    if (!stream)
        return;
    text_mistake_words(mistake, stream);
    fclose(stream);
    emit_open(emit, NULL, '{');
    emit_text(emit, "type", mistake_word[mistake->type]);
    emit_text(emit, "words", words);
    emit_number(emit, "count", mistake->count);
    emit_open(emit, "stacks", '[');
    write_trace(writing, "Released", &mistake->released);
    write_trace(writing, "Allocated", &mistake->allocated);
    write_trace(writing, "Freed before", &mistake->first);
    emit_close(emit, ']');
    emit_close(emit, '}');
    free(words);
}

static void write_crash(struct writing *writing, const struct crash *crash)
{
    struct emit *emit = &writing->emit;
    char words[512];

    snprintf(words, sizeof(words), "%s: %s%s%s", crash->name, crash->words, crash->near ? "; " : "",
             crash->near ? crash->near : "");
    emit_open(emit, NULL, '{');
    emit_text(emit, "type", crash_type(crash));
    emit_text(emit, "words", words);
    emit_number(emit, "count", 1);
    emit_open(emit, "stacks", '[');
    write_trace(writing, "Where", &crash->stack);
    for (size_t i = 0; i < crash->block_count; i++) {
        write_trace(writing, "The block near the address was allocated",
                    &crash->blocks[i].allocated);
        write_trace(writing, "and freed", &crash->blocks[i].freed);
    }
    emit_close(emit, ']');
    emit_close(emit, '}');
}

static void write_errors(struct writing *writing)
{
    const struct process *process = writing->process;

    emit_open(&writing->emit, "errors", '[');
    if (process->crash && !writing->view->quiet)
        write_crash(writing, process->crash);
    for (size_t i = 0; i < process->mistake_count && !writing->view->quiet; i++)
        write_mistake(writing, &process->mistakes[i]);
    emit_close(&writing->emit, ']');
}

static void write_resources(struct writing *writing)
{
    struct emit *emit = &writing->emit;

    emit_open(emit, "resources", '[');
    for (size_t i = 0; i < writing->process->resource_count && !writing->view->quiet; i++) {
        const struct resource *resource = &writing->process->resources[i];

        emit_open(emit, NULL, '{');
        emit_text(emit, "type", resource->type);
        emit_number(emit, "count", resource->record.blocks);
        emit_open(emit, "names", '[');
        for (size_t k = 0; k < resource->name_count; k++)
            emit_text(emit, NULL, resource->names[k]);
        emit_close(emit, ']');
        write_stack(writing, resource->record.frames, resource->record.frame_count,
                    resource->record.user);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

static void write_owners(struct writing *writing)
{
    struct emit *emit = &writing->emit;
    const struct process *process = writing->process;

    emit_open(emit, "owners", '[');
    for (size_t i = 0; i < process->owner_count && i < RECORDS_MOST && !writing->view->quiet; i++) {
        emit_open(emit, NULL, '{');
        emit_text(emit, "root", process->owners[i].root->words);
        emit_number(emit, "b", process->owners[i].bytes);
        emit_number(emit, "n", process->owners[i].blocks);
        write_path(writing, "path", process->owners[i].path);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

/* ---- Over time ------------------------------------------------------------------------------ */

/* What grew, and of which nothing is left. */
static void write_grown(struct writing *writing)
{
    const struct process *process = writing->process;

    emit_open(&writing->emit, "grown", '[');
    for (size_t i = 0; i < process->grown_count && !writing->view->quiet; i++)
        write_record(writing, &process->grown[i], 0);
    emit_close(&writing->emit, ']');
}

static double seconds_since_start(const struct process *process, uint64_t time_ns)
{
    return time_ns > process->started_ns ? (double)(time_ns - process->started_ns) / 1e9 : 0;
}

static void write_moment(struct writing *writing, const struct moment *moment)
{
    emit_open(&writing->emit, NULL, '[');
    emit_fraction(&writing->emit, NULL, seconds_since_start(writing->process, moment->time_ns));
    emit_number(&writing->emit, NULL, moment->bytes);
    emit_number(&writing->emit, NULL, moment->blocks);
    emit_close(&writing->emit, ']');
}

/* [[when, bytes, blocks], [bytes, blocks, frame] …], nothing when it is not known. */
static void write_peak(struct writing *writing)
{
    const struct process *process = writing->process;
    struct emit *emit = &writing->emit;

    emit_open(emit, "peak", '[');
    if (process->peak.bytes)
        write_moment(writing, &process->peak);
    for (size_t i = 0; i < process->peak_part_count && i < PEAK_PARTS_MOST; i++) {
        const struct peak_part *part = &process->peak_parts[i];
        size_t user = frame_user(part->stack.frames, part->stack.count);

        if (user == part->stack.count)
            user = frame_first(part->stack.frames, part->stack.count);
        emit_open(emit, NULL, '[');
        emit_number(emit, NULL, part->bytes);
        emit_number(emit, NULL, part->blocks);
        if (user < part->stack.count)
            emit_number(emit, NULL, html_frames_id(&writing->frames, part->stack.frames[user]));
        else
            emit_null(emit, NULL);
        emit_close(emit, ']');
    }
    emit_close(emit, ']');
}

static void write_history(struct writing *writing)
{
    const struct process *process = writing->process;

    writing->emit.flat = true;
    emit_open(&writing->emit, "history", '[');
    for (size_t i = 0; i < process->history_count; i++)
        write_moment(writing, &process->history[i]);
    emit_close(&writing->emit, ']');
    write_peak(writing);
    writing->emit.flat = false;
}

/* ---- All of it ------------------------------------------------------------------------------ */

static void write_process(struct writing *writing, const struct process *process)
{
    writing->process = process;
    emit_open(&writing->emit, NULL, '{');
    html_facts(&writing->emit, process);
    write_records(writing);
    write_errors(writing);
    write_resources(writing);
    write_owners(writing);
    write_grown(writing);
    write_history(writing);
    emit_close(&writing->emit, '}');
}

/* There is always one, or the page would say nothing. */
static bool is_told(const struct report *report, size_t i, const struct view *view)
{
    const struct process *process = &report->processes[i];

    return i == 0 || (process->alike == i && !report_passes(process, view));
}

static void write_words(struct emit *emit, const char *key, const char *const words[VERDICT_MAX])
{
    emit_open(emit, key, '[');
    for (int v = 0; v < VERDICT_MAX; v++)
        emit_text(emit, NULL, words[v]);
    emit_close(emit, ']');
}

void html_data(const struct report *report, const struct view *view, FILE *stream)
{
    struct writing writing = {.emit = {.stream = stream, .markup = true}, .view = view};
    struct emit *emit = &writing.emit;

    emit_open(emit, NULL, '{');
    write_words(emit, "verdicts", verdict_word);
    write_words(emit, "words", verdict_words);
    emit_open(emit, "shown", '[');
    for (int v = 0; v < VERDICT_MAX; v++)
        emit_bool(emit, NULL, view->show[v]);
    emit_close(emit, ']');
    emit_open(emit, "processes", '[');
    for (size_t i = 0; i < report->process_count; i++)
        if (is_told(report, i, view))
            write_process(&writing, &report->processes[i]);
    emit_close(emit, ']');
    html_frames_write(emit, &writing.frames, view);
    emit_close(emit, '}');
    html_frames_end(&writing.frames);
}
