/* html_page.c - writes the HTML page of a report; described in html.h. */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "common/encode/json_writer.h"
#include "symbolize/formats/html.h"
#include "symbolize/text/text.h"

struct writing {
    struct json_writer json;
    const struct view *view;
    const struct process *process;
    struct html_stacks stacks;
};

static void write_stack(struct writing *writing, const char *key, const char *user_key,
                        const struct frame *const *frames, size_t count, size_t user)
{
    html_put_stack(&writing->json, &writing->stacks, writing->view, key, user_key,
                   &(struct html_trace){frames, count, user});
}

/* ---- Writing records ------------------------------------------------------------------------- */

static void write_html_thread(struct writing *writing, const struct thread_ref *thread)
{
    char text[128];
    const char *name = thread->name;

    if (name && *name)
        snprintf(text, sizeof(text), "T%" PRIu32 " (%s)", thread->serial, name);
    else
        snprintf(text, sizeof(text), "T%" PRIu32, thread->serial);
    json_put_number(&writing->json, NULL, html_text_id(&writing->stacks, text));
}

/* Writes how many seconds before the end of the process the time `ns` was. */
static void write_age(struct writing *writing, const char *key, uint64_t ns)
{
    uint64_t end = writing->process->until_ns;

    if (!ns || !end)
        json_put_null(&writing->json, key);
    else
        json_put_fraction(&writing->json, key, end > ns ? (double)(end - ns) / 1e9 : 0);
}

static void write_html_path(struct writing *writing, const char *key, const struct path *path)
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
    json_put_text(&writing->json, key, text);
    free(text);
}

static void write_html_lines(struct writing *writing, const struct record *record)
{
    if (!record->line_count)
        return;
    if (record->lines_of != record->user)
        json_put_bool(&writing->json, "lc", true); /* lines of a caller */
    json_open(&writing->json, "l", '[');
    for (size_t i = 0; i < record->line_count; i++) {
        json_open(&writing->json, NULL, '[');
        json_put_number(&writing->json, NULL,
                        html_frame_id(&writing->stacks, record->lines[i].frame));
        json_put_number(&writing->json, NULL, record->lines[i].bytes);
        json_put_number(&writing->json, NULL, record->lines[i].blocks);
        json_close(&writing->json, ']');
    }
    json_close(&writing->json, ']');
}

static void write_html_tags(struct writing *writing, const struct record *record)
{
    if (!record->tag_count)
        return;
    json_open(&writing->json, "tg", '[');
    for (size_t i = 0; i < record->tag_count; i++) {
        json_open(&writing->json, NULL, '[');
        json_put_text(&writing->json, NULL, record->tags[i].name);
        json_put_number(&writing->json, NULL, record->tags[i].bytes);
        json_put_number(&writing->json, NULL, record->tags[i].blocks);
        json_close(&writing->json, ']');
    }
    json_close(&writing->json, ']');
}

/* Writes each type as name, layout ("[20]"), blocks, and the size of each block; 0 = their sizes
 * differ. */
static void write_html_types(struct writing *writing, const struct record *record)
{
    if (!record->type_count)
        return;
    json_open(&writing->json, "ty", '[');
    for (size_t i = 0; i < record->type_count; i++) {
        const struct type_sum *sum = &record->types[i];
        char layout[TEXT_LAYOUT_SIZE];

        text_type_layout(sum, layout);
        json_open(&writing->json, NULL, '[');
        json_put_text(&writing->json, NULL, sum->type->name);
        json_put_text(&writing->json, NULL, layout);
        json_put_number(&writing->json, NULL, sum->blocks);
        json_put_number(&writing->json, NULL, sum->block_size);
        json_close(&writing->json, ']');
    }
    json_close(&writing->json, ']');
}

static void write_html_freed(struct writing *writing, const struct freed *freed)
{
    if (!freed->places)
        return;
    json_open(&writing->json, "w", '[');
    json_put_number(&writing->json, NULL, html_frame_id(&writing->stacks, freed->place[0].frame));
    json_put_fraction(&writing->json, NULL,
                      freed->enough && !freed->other_path ? freed->place[0].share : 0);
    json_put_bool(&writing->json, NULL, freed->other_path);
    if (freed->place[0].common)
        json_put_number(&writing->json, NULL,
                        html_frame_id(&writing->stacks, freed->place[0].common));
    if (freed->place[0].common && freed->place[0].below)
        json_put_number(&writing->json, NULL,
                        html_frame_id(&writing->stacks, freed->place[0].below));
    json_close(&writing->json, ']');
}

/* Writes the function that frees other allocations of the record's function. The text report has it
 * only where other blocks of the record's line are not freed, too. */
static void write_html_beside(struct writing *writing, const struct record *record)
{
    if (!record->freed.places && record->beside.places)
        json_put_number(&writing->json, "wb",
                        html_frame_id(&writing->stacks, record->beside.place[0].frame));
}

/* Writes where the owner of the record's blocks was freed, and where the owner before that one. */
static void write_html_orphaned(struct writing *writing, const struct record *record)
{
    const struct orphaned *orphaned = &record->orphaned, *earlier = &record->earlier;

    if (!orphaned->blocks)
        return;
    if (earlier->blocks)
        json_put_number(&writing->json, "he",
                        html_frame_id(&writing->stacks, earlier->frames[earlier->user]));
    json_open(&writing->json, "h", '[');
    json_put_number(&writing->json, NULL,
                    html_frame_id(&writing->stacks, orphaned->frames[orphaned->user]));
    if (orphaned->holder)
        json_put_number(&writing->json, NULL, html_frame_id(&writing->stacks, orphaned->holder));
    json_close(&writing->json, ']');
}

static void write_html_counterparts(struct writing *writing, const struct record *record)
{
    if (!record->counterpart_count)
        return;
    json_open(&writing->json, "cp", '[');
    for (size_t i = 0; i < record->counterpart_count; i++) {
        const struct counterpart *counterpart = &record->counterparts[i];

        json_open(&writing->json, NULL, '[');
        json_put_number(&writing->json, NULL, html_frame_id(&writing->stacks, counterpart->frame));
        json_put_number(&writing->json, NULL, html_frame_id(&writing->stacks, counterpart->of));
        json_close(&writing->json, ']');
    }
    json_close(&writing->json, ']');
}

static void write_html_handovers(struct writing *writing, const struct record *record)
{
    if (!record->handover_count)
        return;
    json_open(&writing->json, "ho", '[');
    for (size_t i = 0; i < record->handover_count; i++) {
        const struct handover *handover = &record->handovers[i];

        json_open(&writing->json, NULL, '[');
        json_put_number(&writing->json, NULL, html_frame_id(&writing->stacks, handover->frame));
        json_put_number(&writing->json, NULL, html_frame_id(&writing->stacks, handover->in));
        json_put_number(&writing->json, NULL, html_frame_id(&writing->stacks, handover->of));
        json_close(&writing->json, ']');
    }
    json_close(&writing->json, ']');
}

static void write_html_interior(struct writing *writing, const struct record *record)
{
    char *text = NULL;
    size_t size;
    FILE *stream = record->interior_count ? open_memstream(&text, &size) : NULL;

    if (!stream)
        return;
    text_interior_words(record, writing->view, stream);
    fclose(stream);
    json_put_text(&writing->json, "i", text);
    free(text);
}

static void write_html_lost_between(struct writing *writing, const struct record *record)
{
    char *text = NULL;
    size_t size;
    FILE *stream = record->first_lost.by_ns ? open_memstream(&text, &size) : NULL;

    if (!stream)
        return;
    text_lost_between_words(writing->process, record, ", ", stream);
    fclose(stream);
    json_put_text(&writing->json, "lb", text);
    free(text);
}

/* Writes how much fixing the record releases; nothing if that is only the record's own blocks. */
static void write_html_retained(struct json_writer *json, const struct record *record)
{
    if (record->retained.blocks <= record->blocks && record->retained.bytes <= record->bytes)
        return;
    json_put_number(json, "rb", record->retained.bytes);
    json_put_number(json, "rn", record->retained.blocks);
}

static void write_html_record(struct writing *writing, const struct record *record, size_t end)
{
    struct json_writer *json = &writing->json;
    char signature[24];

    snprintf(signature, sizeof(signature), "%016" PRIx64, record->signature);
    json_open(json, NULL, '{');
    json->flat = true;
    json_put_text(json, "s", signature);
    json_put_number(json, "v", record->verdict);
    json_put_number(json, "k", html_text_id(&writing->stacks, kind_word[record->kind]));
    json_put_number(json, "b", record->bytes);
    json_put_number(json, "n", record->blocks);
    write_html_retained(json, record);
    write_stack(writing, "f", "u", record->frames, record->frame_count, record->user);
    write_age(writing, "a", record->first_ns);
    if (record->last_ns != record->first_ns)
        write_age(writing, "z", record->last_ns);
    json_open(json, "t", '[');
    for (size_t i = 0; i < record->thread_count; i++)
        write_html_thread(writing, &record->threads[i]);
    json_close(json, ']');
    if (record->owner && record->owner <= end)
        json_put_number(json, "o", record->owner);
    if (record->cycle)
        json_put_bool(json, "c", true);
    write_html_interior(writing, record);
    write_html_lost_between(writing, record);
    write_html_path(writing, "p", record->path);
    write_html_lines(writing, record);
    write_html_tags(writing, record);
    write_html_types(writing, record);
    write_html_freed(writing, &record->freed);
    write_html_beside(writing, record);
    write_html_orphaned(writing, record);
    write_html_counterparts(writing, record);
    write_html_handovers(writing, record);
    if (record_is_growing(record)) {
        json_put_text(json, "g", record->growth->reason);
        json_put_number(json, "gr", (uint64_t)record->growth->bytes_per_second);
        json_put_number(json, "gp", record->growth->peak_bytes);
    }
    if (record->suppressed_by)
        json_put_text(json, "x", record->suppressed_by->text);
    json_close(json, '}');
    json->flat = false;
}

static void write_entries(struct writing *writing, size_t end)
{
    const struct process *process = writing->process;

    json_open(&writing->json, "entries", '[');
    writing->json.flat = true;
    for (size_t i = 0; i < process->entry_count; i++) {
        const struct entry *entry = &process->entries[i];

        if (entry->parts[0] >= end)
            continue;
        json_open(&writing->json, NULL, '[');
        for (size_t k = 0; k < entry->count; k++)
            if (entry->parts[k] < end)
                json_put_number(&writing->json, NULL, entry->parts[k]);
        json_close(&writing->json, ']');
    }
    json_close(&writing->json, ']');
    writing->json.flat = false;
}

static void write_html_other(struct writing *writing, size_t end)
{
    const struct process *process = writing->process;
    struct verdict_total other[VERDICT_MAX] = {{0}};

    for (size_t i = end; i < process->record_count; i++) {
        struct verdict_total *total = &other[process->records[i].verdict];

        total->records++;
        total->bytes = add_saturating(total->bytes, process->records[i].bytes);
        total->blocks = add_saturating(total->blocks, process->records[i].blocks);
    }
    json_open(&writing->json, "other", '[');
    for (int v = 0; v < VERDICT_MAX; v++) {
        if (!other[v].records)
            continue;
        json_open(&writing->json, NULL, '[');
        json_put_text(&writing->json, NULL, verdict_word[v]);
        json_put_number(&writing->json, NULL, other[v].records);
        json_put_number(&writing->json, NULL, other[v].bytes);
        json_put_number(&writing->json, NULL, other[v].blocks);
        json_close(&writing->json, ']');
    }
    json_close(&writing->json, ']');
}

static void write_html_records(struct writing *writing)
{
    const struct process *process = writing->process;
    size_t end =
        process->record_count < HTML_RECORDS_MOST ? process->record_count : HTML_RECORDS_MOST;

    if (writing->view->quiet || report_omits_process(process, writing->view))
        end = 0;

    json_open(&writing->json, "records", '[');
    for (size_t i = 0; i < end; i++)
        write_html_record(writing, &process->records[i], end);
    json_close(&writing->json, ']');
    write_entries(writing, end);
    write_html_other(writing, end);
}

/* ---- Writing errors and resources ------------------------------------------------------------ */

/* Writes a stack of an error: [words, stack, index of the user frame]. */
static void write_trace(struct writing *writing, const char *words, const struct stack *stack)
{
    size_t user = frame_first_user(stack->frames, stack->count);

    if (!stack->count)
        return;
    json_open(&writing->json, NULL, '[');
    json_put_text(&writing->json, NULL, words);
    write_stack(writing, NULL, NULL, stack->frames, stack->count, user);
    json_close(&writing->json, ']');
}

static void write_html_bad_free(struct writing *writing, const struct bad_free *mistake)
{
    struct json_writer *json = &writing->json;
    char *words = NULL;
    size_t size;
    FILE *stream = open_memstream(&words, &size);

    if (!stream)
        return;
    text_bad_free_words(mistake, stream);
    fclose(stream);
    json_open(json, NULL, '{');
    json_put_text(json, "type", bad_free_word[mistake->type]);
    json_put_text(json, "words", words);
    json_put_number(json, "count", mistake->count);
    json_open(json, "stacks", '[');
    write_trace(writing, "Released", &mistake->released);
    write_trace(writing, "Allocated", &mistake->allocated);
    write_trace(writing, "Freed before", &mistake->first);
    json_close(json, ']');
    json_close(json, '}');
    free(words);
}

static void write_html_crash(struct writing *writing, const struct crash *crash)
{
    struct json_writer *json = &writing->json;
    char words[512];

    snprintf(words, sizeof(words), "%s: %s%s%s", crash->name, crash->words, crash->near ? "; " : "",
             crash->near ? crash->near : "");
    json_open(json, NULL, '{');
    json_put_text(json, "type", crash_type_name(crash));
    json_put_text(json, "words", words);
    json_put_number(json, "count", 1);
    json_open(json, "stacks", '[');
    write_trace(writing, "Where", &crash->stack);
    for (size_t i = 0; i < crash->block_count; i++) {
        write_trace(writing, "Block near the address: allocated", &crash->blocks[i].allocated);
        write_trace(writing, "Block near the address: freed", &crash->blocks[i].freed);
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void write_html_errors(struct writing *writing)
{
    const struct process *process = writing->process;

    json_open(&writing->json, "errors", '[');
    if (process->crash && !writing->view->quiet)
        write_html_crash(writing, process->crash);
    for (size_t i = 0; i < process->mistake_count && !writing->view->quiet; i++)
        write_html_bad_free(writing, &process->mistakes[i]);
    json_close(&writing->json, ']');
}

static void write_html_resources(struct writing *writing)
{
    struct json_writer *json = &writing->json;

    json_open(json, "resources", '[');
    for (size_t i = 0; i < writing->process->resource_count && !writing->view->quiet; i++) {
        const struct resource *resource = &writing->process->resources[i];

        json_open(json, NULL, '{');
        json_put_text(json, "type", resource->type);
        json_put_number(json, "count", resource->record.blocks);
        json_open(json, "names", '[');
        for (size_t k = 0; k < resource->name_count; k++)
            json_put_text(json, NULL, resource->names[k]);
        json_close(json, ']');
        write_stack(writing, "f", "u", resource->record.frames, resource->record.frame_count,
                    resource->record.user);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_owners(struct writing *writing)
{
    struct json_writer *json = &writing->json;
    const struct process *process = writing->process;

    json_open(json, "owners", '[');
    for (size_t i = 0; i < process->owner_count && i < HTML_RECORDS_MOST && !writing->view->quiet;
         i++) {
        json_open(json, NULL, '{');
        json_put_text(json, "root", process->owners[i].root->words);
        json_put_number(json, "b", process->owners[i].bytes);
        json_put_number(json, "n", process->owners[i].blocks);
        write_html_path(writing, "path", process->owners[i].path);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---- Writing the heap over time -------------------------------------------------------------- */

/* Writes the records that grew although all their blocks are freed by now. */
static void write_grown(struct writing *writing)
{
    const struct process *process = writing->process;

    json_open(&writing->json, "grown", '[');
    for (size_t i = 0; i < process->grown_count && !writing->view->quiet; i++)
        write_html_record(writing, &process->grown[i], 0);
    json_close(&writing->json, ']');
}

static double seconds_since_start(const struct process *process, uint64_t time_ns)
{
    return process->started_ns && time_ns > process->started_ns
               ? (double)(time_ns - process->started_ns) / 1e9
               : 0;
}

static void write_moment(struct writing *writing, const struct moment *moment)
{
    json_open(&writing->json, NULL, '[');
    json_put_fraction(&writing->json, NULL, seconds_since_start(writing->process, moment->time_ns));
    json_put_number(&writing->json, NULL, moment->bytes);
    json_put_number(&writing->json, NULL, moment->blocks);
    json_close(&writing->json, ']');
}

/* Writes an amount that a stack allocated: stack, index of the user frame, bytes, blocks. */
static void write_sum(struct writing *writing, const struct stack *stack, uint64_t bytes,
                      uint64_t blocks)
{
    write_stack(writing, NULL, NULL, stack->frames, stack->count,
                frame_first_user(stack->frames, stack->count));
    json_put_number(&writing->json, NULL, bytes);
    json_put_number(&writing->json, NULL, blocks);
}

/* Writes "peak": [time, bytes, blocks], which is empty if the peak is unknown; and "at_peak": the
 * blocks that were live at the peak, by stack, the largest first. */
static void write_html_peak(struct writing *writing)
{
    const struct process *process = writing->process;
    struct json_writer *json = &writing->json;

    json_open(json, "peak", '[');
    if (process->peak.bytes)
        write_moment(writing, &process->peak);
    json_close(json, ']');
    json_open(json, "at_peak", '[');
    for (size_t i = 0; i < process->peak_part_count && i < HTML_RECORDS_MOST; i++) {
        const struct peak_part *part = &process->peak_parts[i];

        write_sum(writing, &part->stack, part->bytes, part->blocks);
    }
    json_close(json, ']');
}

/* Writes "temporary": the blocks of each stack that were freed soon after they were allocated, the
 * most blocks first. */
static void write_html_temporary(struct writing *writing)
{
    const struct process *process = writing->process;

    json_open(&writing->json, "temporary", '[');
    for (size_t i = 0; i < process->temporary_count && !writing->view->quiet; i++) {
        const struct temporary_part *part = &process->temporary[i];

        write_sum(writing, &part->stack, part->bytes, part->blocks);
    }
    json_close(&writing->json, ']');
}

/* Writes "allocated": all that each stack allocated, freed or not. Stacks beyond a limit are summed
 * up as one entry without a stack. */
static void write_html_allocated(struct writing *writing)
{
    const struct process *process = writing->process;
    struct stack none = {0};
    uint64_t bytes = 0, blocks = 0;

    json_open(&writing->json, "allocated", '[');
    for (size_t i = 0; i < process->allocated_count && !writing->view->quiet; i++) {
        const struct allocated *allocated = &process->allocated[i];

        if (i < HTML_RECORDS_MOST) {
            write_sum(writing, &allocated->stack, allocated->bytes, allocated->blocks);
        } else {
            bytes = add_saturating(bytes, allocated->bytes);
            blocks = add_saturating(blocks, allocated->blocks);
        }
    }
    if (blocks)
        write_sum(writing, &none, bytes, blocks);
    json_close(&writing->json, ']');
}

static void write_html_history(struct writing *writing)
{
    const struct process *process = writing->process;

    writing->json.flat = true;
    json_put_fraction(&writing->json, "length", seconds_since_start(process, process->until_ns));
    json_open(&writing->json, "history", '[');
    for (size_t i = 0; i < process->history_count; i++)
        write_moment(writing, &process->history[i]);
    json_close(&writing->json, ']');
    write_html_peak(writing);
    write_html_allocated(writing);
    write_html_temporary(writing);
    writing->json.flat = false;
}

/* ---- Writing a process, and the page --------------------------------------------------------- */

static void write_html_process(struct writing *writing, const struct process *process)
{
    writing->process = process;
    json_open(&writing->json, NULL, '{');
    html_facts(&writing->json, process);
    write_html_records(writing);
    write_html_errors(writing);
    write_html_resources(writing);
    write_owners(writing);
    write_grown(writing);
    write_html_history(writing);
    json_close(&writing->json, '}');
}

/* Says whether the page shows process i. It always shows the first process, so that it is not
 * empty. */
static bool is_process_shown(const struct report *report, size_t i, const struct view *view)
{
    const struct process *process = &report->processes[i];

    return i == 0 || (process->alike == i && !report_omits_process(process, view));
}

static void write_html_data(const struct report *report, const struct view *view, FILE *stream)
{
    struct writing writing = {.json = {.stream = stream, .markup = true, .dense = true},
                              .view = view};
    struct json_writer *json = &writing.json;

    json_open(json, NULL, '{');
    html_put_verdicts(json);
    json_open(json, "shown", '[');
    for (int v = 0; v < VERDICT_MAX; v++)
        json_put_bool(json, NULL, view->show[v]);
    json_close(json, ']');
    json_open(json, "processes", '[');
    for (size_t i = 0; i < report->process_count; i++)
        if (is_process_shown(report, i, view))
            write_html_process(&writing, &report->processes[i]);
    json_close(json, ']');
    html_stacks_write(json, &writing.stacks, view);
    json_close(json, '}');
    html_stacks_end(&writing.stacks);
}

void html_write(const struct report *report, const struct view *view, FILE *stream)
{
    html_page_begin(stream);
    write_html_data(report, view, stream);
    html_put_heap(view, stream);
    html_page_end(stream);
}
