/* sarif.c - see sarif.h.
 *
 * Results come in the order of the text report, errors first. Each is made in memory and goes out
 * when the whole, compressed, stays below what hosts take; a first one that does not ends the list.
 */
#include "symbolize/formats/sarif.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "symbolize/records/sampling_error.h"
#include "common/encode/encode.h"
#include "common/view/format_api.h"
#include "symbolize/formats/sarif_place.h"
#include "symbolize/formats/sarif_rules.h"
#include "symbolize/formats/sarif_run.h"
#include "symbolize/formats/sarif_state.h"
#include "symbolize/text/text_bad_frees.h"
#include "symbolize/text/text_resources.h"

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"
#define FINGERPRINT "libleakSignature/v1"
#define RESULTS_MOST 25000
#define BYTES_MOST                                                                                 \
    (9u << 20) /* compressed as usual; hosts take 10 MB, and some is not counted yet */

struct writing {
    struct json json;
    const struct view *view;
    const struct process *process;
    struct sarif_states states;
    uint64_t *times;   /* by process: how many show the same */
    struct gzip *gzip; /* what has been written, to know its size */
    FILE *stream, *words;
    char *text, *said; /* one result; a message */
    size_t text_size, said_size;
    uint64_t given, left;
    bool full;
};

/* A result: what all kinds of them say. */
struct result {
    const struct sarif_rule *rule;
    enum report_set_class class;
    uint64_t fingerprint;
    struct stack stack;
    size_t user;
    const char *stack_words;
};

/* ---- Room ----------------------------------------------------------------------------------- */

/* Counted from here on is what goes to the text instead of the stream. */
static bool begin_result(struct writing *writing)
{
    writing->full |= writing->given == RESULTS_MOST;
    if (writing->full) {
        writing->left++;
        return false;
    }
    rewind(writing->json.stream);
    rewind(writing->words);
    json_open(&writing->json, NULL, '{');
    return true;
}

static void end_result(struct writing *writing)
{
    long length;

    json_close(&writing->json, '}');
    length = ftell(writing->json.stream);
    fflush(writing->json.stream);
    gzip_write(writing->gzip, writing->text, (size_t)length);
    writing->full = gzip_size(writing->gzip) > BYTES_MOST;
    if (writing->full) {
        writing->left++;
        return;
    }
    fwrite(writing->text, 1, (size_t)length, writing->stream);
    writing->given++;
}

/* ---- Parts of a result ---------------------------------------------------------------------- */

/* The message is what stands in writing->words. */
static void write_message(struct writing *writing)
{
    char *words;

    putc(0, writing->words);
    fflush(writing->words);
    words = sarif_words(writing->said);
    json_open(&writing->json, "message", '{');
    json_put_text(&writing->json, "text", words);
    json_close(&writing->json, '}');
    free(words);
}

static void write_head(struct writing *writing, const struct result *result)
{
    struct json *json = &writing->json;
    const struct process *process = writing->process; /* NULL: it is in none any more */
    const char *state =
        process ? sarif_state(&writing->states, result->class, result->fingerprint) : "absent";
    const struct frame *title =
        sarif_title(result->stack.frames, result->stack.count, result->user);
    static const struct frame nowhere = {.function = "[no stack]"};
    struct frame program = nowhere;

    program.module = process ? process->exe : NULL;
    json_put_text(json, "ruleId", result->rule->id);
    json_put_number(json, "ruleIndex", sarif_rule_index(result->rule));
    json_put_text(json, "level", result->rule->level);
    write_message(writing);
    json_open(json, "locations", '[');
    sarif_location(json, NULL, title ? title : &program, 0, NULL, writing->view);
    json_close(json, ']');
    json_open(json, "partialFingerprints", '{');
    json_put_id(json, FINGERPRINT, result->fingerprint);
    json_close(json, '}');
    if (process)
        json_put_number(json, "occurrenceCount", writing->times[process->alike]);
    if (state)
        json_put_text(json, "baselineState", state);
    sarif_flow(json, result->stack.frames, result->stack.count, result->user, writing->view);
}

static void write_stack(struct writing *writing, const char *words, const struct stack *stack)
{
    if (stack->count)
        sarif_stack(&writing->json, words, stack, writing->view);
}

static void write_related(struct writing *writing, uint64_t id, const struct stack *stack,
                          const char *words)
{
    const struct frame *title =
        sarif_title(stack->frames, stack->count, frame_first_user(stack->frames, stack->count));

    if (title)
        sarif_location(&writing->json, NULL, title, id, words, writing->view);
}

static void write_suppressions(struct writing *writing, const char *why)
{
    struct json *json = &writing->json;

    json_open(json, "suppressions", '[');
    if (why) {
        json_open(json, NULL, '{');
        json_put_text(json, "kind", "external");
        json_put_text(json, "status", "accepted");
        json_put_text(json, "justification", why);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---- Records -------------------------------------------------------------------------------- */

static void say_record(const struct record *record, FILE *words)
{
    const struct frame *title = record_title_frame(record);
    const struct verdict_total *retained = &record->retained;
    char buffer[FRAME_NAME_SIZE];

    fprintf(words, "%s in ", estimate_bytes(record->bytes, record->error.bytes).text);
    fprintf(words, "%s %s", estimate_count(record->blocks, record->error.blocks, "block").text,
            verdict_words[record->verdict]);
    if (kind_word[record->kind])
        fprintf(words, " (%s)", kind_word[record->kind]);
    if (title)
        fprintf(words, ", allocated in %s", frame_name(title, buffer));
    if (record->cycle)
        fputs("; a ring of blocks that point at each other", words);
    if (record->verdict == VERDICT_LOST && retained->blocks > record->blocks) {
        fprintf(words, "; fix this one: %s, ", term_count(retained->blocks, "block").text);
        fprintf(words, "%s go away", term_size(retained->bytes).text);
    }
    if (record->dropped)
        fputs("; dropped by exit code", words);
    putc('.', words);
}

static void write_record_related(struct writing *writing, const struct record *record)
{
    const struct process *process = writing->process;
    struct json *json = &writing->json;
    const struct freed *freed = &record->freed;

    json_open(json, "relatedLocations", '[');
    if (record->owner) {
        const struct record *owner = &process->records[record->owner - 1];

        write_related(writing, 1, &(struct stack){owner->frames, owner->frame_count, 0},
                      "hangs under what is allocated here");
    }
    if (freed->places)
        sarif_location(json, NULL, freed->place[0].frame, 2,
                       freed->other_path ? "never freed on this path; others are freed here"
                                         : "others are freed here",
                       writing->view);
    if (record->orphaned.blocks)
        sarif_location(json, NULL, record->orphaned.frames[record->orphaned.user], 4,
                       "what held it was freed here", writing->view);
    if (record->path && record->path->root->file)
        sarif_file(json, record->path->root->file, record->path->root->line, 3,
                   record->path->root->words, writing->view);
    json_close(json, ']');
}

static void write_numbers(struct json *json, const struct record *record)
{
    json_open(json, "properties", '{');
    json_put_number(json, "bytes", record->bytes);
    json_put_number(json, "blocks", record->blocks);
    json_put_text(json, "kind", kind_word[record->kind]);
    if (record->retained.blocks) {
        json_put_number(json, "retainedBytes", record->retained.bytes);
        json_put_number(json, "retainedBlocks", record->retained.blocks);
    }
    json_close(json, '}');
}

static void write_record(struct writing *writing, const struct record *record)
{
    struct result result = {.rule = sarif_rule(verdict_word[record->verdict]),
                            .class = REPORT_SET_RECORD,
                            .fingerprint = record->signature,
                            .stack = {record->frames, record->frame_count, record->ending},
                            .user = record->user};

    if (!begin_result(writing))
        return;
    say_record(record, writing->words);
    write_head(writing, &result);
    json_open(&writing->json, "stacks", '[');
    write_stack(writing, "allocated", &result.stack);
    json_close(&writing->json, ']');
    write_record_related(writing, record);
    write_suppressions(writing, record->suppressed_by ? record->suppressed_by->text : NULL);
    write_numbers(&writing->json, record);
    end_result(writing);
}

/* ---- Errors --------------------------------------------------------------------------------- */

static void write_crash(struct writing *writing, const struct crash *crash)
{
    struct result result = {.rule = sarif_rule(crash_type_name(crash)),
                            .class = REPORT_SET_ERROR,
                            .stack = crash->stack,
                            .user = frame_first_user(crash->stack.frames, crash->stack.count)};
    const struct crash_block *block = crash->block_count ? &crash->blocks[0] : NULL;

    if (!begin_result(writing))
        return;
    result.fingerprint = crash->signature;
    fprintf(writing->words, "%s%s%s.", crash->name, crash->words == crash->name ? "" : ": ",
            crash->words == crash->name ? "" : crash->words);
    write_head(writing, &result);
    json_open(&writing->json, "stacks", '[');
    write_stack(writing, "killed", &crash->stack);
    if (block)
        write_stack(writing, "the block was allocated", &block->allocated);
    if (block && block->was_freed)
        write_stack(writing, "the block was freed", &block->freed);
    json_close(&writing->json, ']');
    json_open(&writing->json, "relatedLocations", '[');
    if (block)
        write_related(writing, 1, &block->allocated, "the block was allocated here");
    if (block && block->was_freed)
        write_related(writing, 2, &block->freed, "the block was freed here");
    json_close(&writing->json, ']');
    write_suppressions(writing, NULL);
    end_result(writing);
}

static void write_mistake(struct writing *writing, const struct mistake *mistake)
{
    struct result result = {.rule = sarif_rule(bad_free_word[mistake->type]),
                            .class = REPORT_SET_ERROR,
                            .stack = mistake->released,
                            .user = frame_first_user(mistake->released.frames, mistake->released.count)};

    if (!begin_result(writing))
        return;
    result.fingerprint = mistake->signature;
    text_mistake_words(mistake, writing->words);
    if (mistake->count > 1)
        fprintf(writing->words, " (%s times)", term_number(mistake->count).text);
    putc('.', writing->words);
    write_head(writing, &result);
    json_open(&writing->json, "stacks", '[');
    write_stack(writing, "released", &mistake->released);
    write_stack(writing, "allocated", &mistake->allocated);
    write_stack(writing, "freed before", &mistake->first);
    json_close(&writing->json, ']');
    json_open(&writing->json, "relatedLocations", '[');
    write_related(writing, 1, &mistake->allocated, "allocated here");
    write_related(writing, 2, &mistake->first, "freed before here");
    json_close(&writing->json, ']');
    write_suppressions(writing, NULL);
    end_result(writing);
}

/* ---- Resources ------------------------------------------------------------------------------ */

static void write_resource(struct writing *writing, const struct resource *resource)
{
    const struct record *record = &resource->record;
    struct result result = {.rule = sarif_rule(resource->type),
                            .class = REPORT_SET_RESOURCE,
                            .fingerprint = record->signature,
                            .stack = {record->frames, record->frame_count, record->ending},
                            .user = record->user};

    if (!begin_result(writing))
        return;
    text_resource_words(resource, writing->words);
    for (size_t i = 0; i < resource->name_count; i++)
        fprintf(writing->words, "%s%s", i ? ", " : ": ", resource->names[i]);
    putc('.', writing->words);
    write_head(writing, &result);
    json_open(&writing->json, "stacks", '[');
    write_stack(writing, resource->bad_close ? "closed" : "opened", &result.stack);
    write_stack(writing, "opened", &resource->opened);
    write_stack(writing, "closed first", &resource->closed);
    json_close(&writing->json, ']');
    json_open(&writing->json, "relatedLocations", '[');
    write_related(writing, 1, &resource->opened, "opened here");
    write_related(writing, 2, &resource->closed, "closed first here");
    json_close(&writing->json, ']');
    write_suppressions(writing, NULL);
    end_result(writing);
}

/* ---- What is there no more ------------------------------------------------------------------ */

/* Suppressed, too: a host that knows nothing of baselines must not count it. */
static void write_absent(struct writing *writing, const struct report_set_entry *entry)
{
    const struct record *record = &entry->record;
    struct result result = {.rule = sarif_rule(entry->sort),
                            .class = entry->class,
                            .fingerprint = record->signature,
                            .stack = {record->frames, record->frame_count, record->ending},
                            .user = record->user};

    if (!begin_result(writing))
        return;
    fputs("No longer there: ", writing->words);
    if (entry->class == REPORT_SET_RECORD)
        fprintf(writing->words, "%s in ", term_count(record->bytes, "byte").text);
    fprintf(writing->words, "%s %s.", term_count(record->blocks, entry->unit).text, entry->words);
    write_head(writing, &result);
    json_open(&writing->json, "stacks", '[');
    write_stack(writing, "was", &result.stack);
    json_close(&writing->json, ']');
    write_suppressions(writing, "in the baseline, and there no more");
    end_result(writing);
}

static void write_all_absent(struct writing *writing)
{
    const struct report_set_entry *entry;
    size_t at = 0;

    writing->process = NULL;
    while (!writing->view->quiet && (entry = sarif_absent(&writing->states, &at)))
        write_absent(writing, entry);
}

/* ---- The run -------------------------------------------------------------------------------- */

static void write_process(struct writing *writing, const struct process *process)
{
    const struct view *view = writing->view;
    struct listing listing = {.process = process, .view = view, .owners = true, .suppressed = true};
    const struct record *record;

    writing->process = process;
    if (view->quiet)
        return;
    if (process->crash)
        write_crash(writing, process->crash);
    for (size_t i = 0; i < process->mistake_count && (!view->top || i < view->top); i++)
        write_mistake(writing, &process->mistakes[i]);
    while ((record = listing_next(&listing)))
        write_record(writing, record);
    for (size_t i = 0; i < process->resource_count && (!view->top || i < view->top); i++)
        write_resource(writing, &process->resources[i]);
}

static void write_results(struct writing *writing, const struct report *report)
{
    struct json *json = &writing->json;
    FILE *stream = json->stream;

    writing->states = sarif_states_begin(report, writing->view->baseline);
    writing->times = calloc(report->process_count + 1, sizeof(*writing->times));
    for (size_t i = 0; i < report->process_count; i++)
        writing->times[report->processes[i].alike]++;
    writing->gzip = gzip_begin(NULL, GZIP_USUAL);
    writing->words = open_memstream(&writing->said, &writing->said_size);
    json_open(json, "results", '[');
    json->stream = open_memstream(&writing->text, &writing->text_size);
    for (size_t i = 0; i < report->process_count; i++)
        if (report->processes[i].alike == i &&
            !report_omits_process(&report->processes[i], writing->view))
            write_process(writing, &report->processes[i]);
    write_all_absent(writing);
    fclose(json->stream);
    fclose(writing->words);
    gzip_end(writing->gzip);
    json->stream = stream;
    json_close(json, ']');
    free(writing->text);
    free(writing->said);
    free(writing->times);
    sarif_states_end(&writing->states);
}

void sarif_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct writing writing = {.json = {.stream = stream}, .view = view, .stream = stream};
    struct json *json = &writing.json;

    json_open(json, NULL, '{');
    json_put_text(json, "$schema", SCHEMA);
    json_put_text(json, "version", "2.1.0");
    json_open(json, "runs", '[');
    json_open(json, NULL, '{');
    sarif_tool(json);
    sarif_base(json, view);
    write_results(&writing, report);
    sarif_invocation(json, report, writing.left);
    json_put_text(json, "columnKind", "unicodeCodePoints");
    json_close(json, '}');
    json_close(json, ']');
    json_close(json, '}');
}
