/* sarif_report.c - writes a SARIF report; described in sarif.h.
 *
 * Results are in the order of the text report, errors first. Each result is made in memory. It is
 * written if the compressed report stays below the size that hosts accept; the first result that is
 * too large ends the list.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "common/base/term_text.h"
#include "common/encode/encode.h"
#include "symbolize/formats/sarif.h"
#include "symbolize/records/sampling_error.h"
#include "symbolize/text/text.h"
#include "common/view/format_api.h"

/* ---- Comparing with the baseline ------------------------------------------------------------- */

/* Compares the results with those of a baseline, an earlier report: each present result is new,
 * unchanged or updated, and a result that only the baseline has is absent. A result stands for all
 * records of its signature: the sums over all processes are compared. */
struct sarif_states {
    struct arena *mem;
    const struct report_set *then; /* the baseline; NULL = there is none */
    struct report_set now;
};

static struct sarif_states begin_states(const struct report *report,
                                        const struct report_set *baseline)
{
    struct sarif_states states = {.then = baseline};

    if (!baseline)
        return states;
    states.mem = arena_begin();
    states.now = report_set_begin(states.mem, baseline->shows);
    /* keep suppressed records, because the baseline suppresses most records */
    states.now.suppressed = true;
    for (size_t i = 0; i < report->process_count; i++)
        report_set_add_process(&states.now, &report->processes[i]);
    return states;
}

static void end_states(struct sarif_states *states)
{
    if (!states->then)
        return;
    report_set_end(&states->now);
    arena_end(states->mem);
}

/* Returns the state of a result in the spelling of SARIF; NULL: unknown. */
static const char *baseline_state(const struct sarif_states *states, enum report_set_class class,
                                  uint64_t signature)
{
    const struct report_set_entry *old, *now;

    if (!states->then)
        return NULL;
    old = report_set_find(states->then, class, signature);
    now = report_set_find(&states->now, class, signature);
    if (!now) /* the baseline was made without records of this verdict, so this set has none */
        return NULL;
    if (!old)
        return "new";
    return old->record.bytes == now->record.bytes && old->record.blocks == now->record.blocks
               ? "unchanged"
               : "updated";
}

/* Returns the next entry of the baseline that the present report does not have; NULL = there are no
 * more. *at must be 0 at first. */
static const struct report_set_entry *next_absent_entry(const struct sarif_states *states,
                                                        size_t *at)
{
    while (states->then && *at < states->then->count) {
        const struct report_set_entry *entry = &states->then->entries[(*at)++];

        if (!report_set_find(&states->now, entry->class, entry->record.signature))
            return entry;
    }
    return NULL;
}

/* ---- Writing the run without its results ----------------------------------------------------- */

static void write_tool(struct json_writer *json)
{
    json_open(json, "tool", '{');
    json_open(json, "driver", '{');
    json_put_text(json, "name", "libleak");
    json_put_text(json, "semanticVersion", LEAK_VERSION);
    sarif_rules(json);
    json_close(json, '}');
    json_close(json, '}');
}

/* Writes the directory to which paths are relative, if there is one. */
static void write_base_uri(struct json_writer *json, const struct view *view)
{
    char *uri = NULL;
    size_t size;
    FILE *stream;

    if (!view->relative)
        return;
    stream = open_memstream(&uri, &size);
    fputs("file://", stream);
    escape_uri_path(view->relative, stream);
    fputs("/", stream);
    fclose(stream);
    json_open(json, "originalUriBaseIds", '{');
    json_open(json, SARIF_BASE, '{');
    json_put_text(json, "uri", uri);
    json_close(json, '}');
    json_close(json, '}');
    free(uri);
}

static void write_notification(struct json_writer *json, const char *level, const char *text)
{
    char *words = sarif_escape(text);

    json_open(json, NULL, '{');
    json_put_text(json, "level", level);
    json_open(json, "message", '{');
    json_put_text(json, "text", words);
    json_close(json, '}');
    json_close(json, '}');
    free(words);
}

/* Writes the notes of the report. left: the number of SARIF results that were left out. */
static void write_invocation(struct json_writer *json, const struct report *report, uint64_t left)
{
    char text[160];

    json_open(json, "invocations", '[');
    json_open(json, NULL, '{');
    json_put_bool(json, "executionSuccessful", true);
    json_open(json, "toolExecutionNotifications", '[');
    if (left) {
        snprintf(text, sizeof(text),
                 "%.60s more, the smallest, left out: hosts accept 25,000 results and 10 MB a run.",
                 term_count(left, "result").text);
        write_notification(json, "warning", text);
    }
    for (size_t i = 0; i < report->process_count; i++)
        for (size_t k = 0; k < report->processes[i].note_count; k++)
            write_notification(json, "note", report->processes[i].notes[k]);
    json_close(json, ']');
    json_close(json, '}');
    json_close(json, ']');
}

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"
#define FINGERPRINT "libleakSignature/v1"
#define RESULTS_MOST 25000
/* limit, in bytes, of the compressed results. Hosts accept reports of 10 MB; the parts of the
 * report before and after the results are not counted. */
#define BYTES_MOST (9u << 20)

struct writing {
    struct json_writer json;
    const struct view *view;
    const struct process *process;
    struct sarif_states states;
    uint64_t *times;   /* index of a process -> number of processes whose reports are equal to that
                        * of this process */
    struct gzip *gzip; /* compresses the written part, to know its compressed size */
    FILE *stream, *words;
    char *text, *message; /* memory for one SARIF result and for its message */
    size_t text_size, message_size;
    uint64_t given, left;
    bool full;
};

/* What every SARIF result has. A result is one finding: a record, an error or a resource. */
struct result {
    const struct sarif_rule *rule;
    enum report_set_class class;
    uint64_t fingerprint;
    struct stack stack;
    size_t user;
    const char *stack_words;
};

/* ---- Limiting the size of the report --------------------------------------------------------- */

/* Begins a SARIF result in memory. False: the report has reached its limit. */
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

/* ---- Writing the parts of a result ----------------------------------------------------------- */

/* Writes the message of a SARIF result, whose text is in writing->words. */
static void write_sarif_message(struct writing *writing)
{
    char *words;

    putc(0, writing->words);
    fflush(writing->words);
    words = sarif_escape(writing->message);
    json_open(&writing->json, "message", '{');
    json_put_text(&writing->json, "text", words);
    json_close(&writing->json, '}');
    free(words);
}

static void write_sarif_head(struct writing *writing, const struct result *result)
{
    struct json_writer *json = &writing->json;
    const struct process *process = writing->process; /* NULL: only the baseline has the result */
    const char *state =
        process ? baseline_state(&writing->states, result->class, result->fingerprint) : "absent";
    const struct frame *title =
        sarif_title_frame(result->stack.frames, result->stack.count, result->user);
    static const struct frame nowhere = {.function = "[no stack]"};
    struct frame program = nowhere;

    program.module = process ? process->exe : NULL;
    json_put_text(json, "ruleId", result->rule->id);
    json_put_number(json, "ruleIndex", sarif_rule_index(result->rule));
    json_put_text(json, "level", result->rule->level);
    write_sarif_message(writing);
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

static void write_sarif_stack(struct writing *writing, const char *words, const struct stack *stack)
{
    if (stack->count)
        sarif_stack(&writing->json, words, stack, writing->view);
}

static void write_related(struct writing *writing, uint64_t id, const struct stack *stack,
                          const char *words)
{
    const struct frame *title = sarif_title_frame(stack->frames, stack->count,
                                                  frame_first_user(stack->frames, stack->count));

    if (title)
        sarif_location(&writing->json, NULL, title, id, words, writing->view);
}

static void write_suppressions(struct writing *writing, const char *why)
{
    struct json_writer *json = &writing->json;

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

/* ---- Writing records as results -------------------------------------------------------------- */

static void write_record_sentence(const struct record *record, FILE *words)
{
    const struct frame *title = record_title_frame(record);
    const struct verdict_total *retained = &record->retained;
    char buffer[FRAME_NAME_SIZE];

    fprintf(words, "%s in %s %s", estimate_bytes(record->bytes, record->error.bytes).text,
            estimate_count(record->blocks, record->error.blocks, "block").text,
            verdict_words[record->verdict]);
    if (kind_word[record->kind])
        fprintf(words, " (%s)", kind_word[record->kind]);
    if (title)
        fprintf(words, ", allocated in %s", frame_name(title, buffer));
    if (record->cycle)
        fputs("; reference cycle", words);
    if (record->verdict == VERDICT_LOST && retained->blocks > record->blocks) {
        fprintf(words, "; fixing this leak releases %s in %s", term_size(retained->bytes).text,
                term_count(retained->blocks, "block").text);
    }
    if (record->dropped)
        fputs("; dropped by exit code", words);
    putc('.', words);
}

/* Writes the innermost counterpart, as the text report does in a full screen. */
static void write_counterpart(struct writing *writing, const struct record *record)
{
    const struct counterpart *counterpart = record->counterparts;
    char words[FRAME_NAME_SIZE + 32], buffer[FRAME_NAME_SIZE];

    if (!record->counterpart_count)
        return;
    snprintf(words, sizeof(words), "by its name, this function undoes %s",
             frame_name(counterpart->of, buffer));
    sarif_location(&writing->json, NULL, counterpart->frame, 5, words, writing->view);
}

static void write_record_related(struct writing *writing, const struct record *record)
{
    const struct process *process = writing->process;
    struct json_writer *json = &writing->json;
    const struct freed *freed = &record->freed;

    json_open(json, "relatedLocations", '[');
    if (record->owner) {
        const struct record *owner = &process->records[record->owner - 1];

        write_related(writing, 1, &(struct stack){owner->frames, owner->frame_count, 0},
                      "owned by a block allocated here");
    }
    if (freed->places)
        sarif_location(
            json, NULL, freed->place[0].common ? freed->place[0].common : freed->place[0].frame, 2,
            freed->other_path
                ? "never freed when allocated here; other blocks from this line are freed here"
                : "others are freed here",
            writing->view);
    else if (record->beside.places)
        sarif_location(json, NULL, record->beside.place[0].frame, 6,
                       "other allocations of the same function are freed here", writing->view);
    if (record->orphaned.blocks)
        sarif_location(json, NULL, record->orphaned.frames[record->orphaned.user], 4,
                       "its owner was freed here", writing->view);
    if (record->orphaned.blocks && record->earlier.blocks)
        sarif_location(json, NULL, record->earlier.frames[record->earlier.user], 7,
                       "before, a block that was freed here owned it", writing->view);
    write_counterpart(writing, record);
    if (record->path && record->path->root->file)
        sarif_file(json, record->path->root->file, record->path->root->line, 3,
                   record->path->root->words, writing->view);
    json_close(json, ']');
}

static void write_numbers(struct json_writer *json, const struct record *record)
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

static void write_sarif_record(struct writing *writing, const struct record *record)
{
    struct result result = {.rule = sarif_rule(verdict_word[record->verdict]),
                            .class = REPORT_SET_RECORD,
                            .fingerprint = record->signature,
                            .stack = {record->frames, record->frame_count, record->ending},
                            .user = record->user};

    if (!begin_result(writing))
        return;
    write_record_sentence(record, writing->words);
    write_sarif_head(writing, &result);
    json_open(&writing->json, "stacks", '[');
    write_sarif_stack(writing, "allocated", &result.stack);
    json_close(&writing->json, ']');
    write_record_related(writing, record);
    write_suppressions(writing, record->suppressed_by ? record->suppressed_by->text : NULL);
    write_numbers(&writing->json, record);
    end_result(writing);
}

/* ---- Writing errors and resources as results ------------------------------------------------- */

/* A further stack of a SARIF result, with its words, like "allocated". */
struct side {
    const char *words;
    const struct stack *stack; /* NULL or no frames: the result has no such stack */
};

/* Writes a SARIF result whose message is in writing->words. words: describes the stack of the
 * result. sides: further stacks. */
static void write_result(struct writing *writing, const struct result *result, const char *words,
                         const struct side sides[2])
{
    char here[64];

    write_sarif_head(writing, result);
    json_open(&writing->json, "stacks", '[');
    write_sarif_stack(writing, words, &result->stack);
    for (size_t i = 0; i < 2; i++)
        if (sides[i].stack)
            write_sarif_stack(writing, sides[i].words, sides[i].stack);
    json_close(&writing->json, ']');
    json_open(&writing->json, "relatedLocations", '[');
    for (size_t i = 0; i < 2; i++)
        if (sides[i].stack) {
            snprintf(here, sizeof(here), "%s here", sides[i].words);
            write_related(writing, i + 1, sides[i].stack, here);
        }
    json_close(&writing->json, ']');
    write_suppressions(writing, NULL);
    end_result(writing);
}

static void write_sarif_crash(struct writing *writing, const struct crash *crash)
{
    const struct crash_block *block = crash->block_count ? &crash->blocks[0] : NULL;
    struct result result = {.rule = sarif_rule(crash_type_name(crash)),
                            .class = REPORT_SET_ERROR,
                            .fingerprint = crash->signature,
                            .stack = crash->stack,
                            .user = frame_first_user(crash->stack.frames, crash->stack.count)};
    struct side sides[] = {
        {"the block was allocated", block ? &block->allocated : NULL},
        {"the block was freed", block && block->was_freed ? &block->freed : NULL},
    };

    if (!begin_result(writing))
        return;
    fprintf(writing->words, "%s%s%s.", crash->name, crash->words == crash->name ? "" : ": ",
            crash->words == crash->name ? "" : crash->words);
    write_result(writing, &result, "killed", sides);
}

static void write_sarif_bad_free(struct writing *writing, const struct bad_free *mistake)
{
    struct result result = {
        .rule = sarif_rule(bad_free_word[mistake->type]),
        .class = REPORT_SET_ERROR,
        .fingerprint = mistake->signature,
        .stack = mistake->released,
        .user = frame_first_user(mistake->released.frames, mistake->released.count)};
    struct side sides[] = {{"allocated", &mistake->allocated}, {"freed before", &mistake->first}};

    if (!begin_result(writing))
        return;
    text_bad_free_words(mistake, writing->words);
    if (mistake->count > 1)
        fprintf(writing->words, " (%s times)", term_number(mistake->count).text);
    putc('.', writing->words);
    write_result(writing, &result, "released", sides);
}

static void write_resource(struct writing *writing, const struct resource *resource)
{
    const struct record *record = &resource->record;
    struct result result = {.rule = sarif_rule(resource->type),
                            .class = REPORT_SET_RESOURCE,
                            .fingerprint = record->signature,
                            .stack = {record->frames, record->frame_count, record->ending},
                            .user = record->user};
    struct side sides[] = {{"opened", &resource->opened}, {"closed first", &resource->closed}};

    if (!begin_result(writing))
        return;
    text_resource_words(resource, writing->words);
    for (size_t i = 0; i < resource->name_count; i++)
        fprintf(writing->words, "%s%s", i ? ", " : ": ", resource->names[i]);
    putc('.', writing->words);
    write_result(writing, &result, resource->bad_close ? "closed" : "opened", sides);
}

/* ---- Writing results that only the baseline has ---------------------------------------------- */

/* Writes a SARIF result that only the baseline has, marked as suppressed, so that hosts without
 * support for baselines do not count it. */
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
    fputs("Fixed: ", writing->words);
    if (entry->class == REPORT_SET_RECORD)
        fprintf(writing->words, "%s in ", term_count(record->bytes, "byte").text);
    fprintf(writing->words, "%s %s.", term_count(record->blocks, entry->unit).text, entry->words);
    write_sarif_head(writing, &result);
    json_open(&writing->json, "stacks", '[');
    write_sarif_stack(writing, "was", &result.stack);
    json_close(&writing->json, ']');
    write_suppressions(writing, "in the baseline, fixed since");
    end_result(writing);
}

static void write_all_absent(struct writing *writing)
{
    const struct report_set_entry *entry;
    size_t at = 0;

    writing->process = NULL;
    while (!writing->view->quiet && (entry = next_absent_entry(&writing->states, &at)))
        write_absent(writing, entry);
}

/* ---- Writing the run ------------------------------------------------------------------------- */

static void write_sarif_process(struct writing *writing, const struct process *process)
{
    const struct view *view = writing->view;
    struct listing listing = {.process = process, .view = view, .owners = true, .suppressed = true};
    const struct record *record;

    writing->process = process;
    if (view->quiet)
        return;
    if (process->crash)
        write_sarif_crash(writing, process->crash);
    for (size_t i = 0; i < process->mistake_count && (!view->top || i < view->top); i++)
        write_sarif_bad_free(writing, &process->mistakes[i]);
    while ((record = listing_next(&listing)))
        write_sarif_record(writing, record);
    for (size_t i = 0; i < process->resource_count && (!view->top || i < view->top); i++)
        write_resource(writing, &process->resources[i]);
}

static void write_results(struct writing *writing, const struct report *report)
{
    struct json_writer *json = &writing->json;
    FILE *stream = json->stream;

    writing->states = begin_states(report, writing->view->baseline);
    writing->times = calloc(report->process_count + 1, sizeof(*writing->times));
    for (size_t i = 0; i < report->process_count; i++)
        writing->times[report->processes[i].alike]++;
    writing->gzip = gzip_begin(NULL, GZIP_USUAL);
    writing->words = open_memstream(&writing->message, &writing->message_size);
    json_open(json, "results", '[');
    json->stream = open_memstream(&writing->text, &writing->text_size);
    for (size_t i = 0; i < report->process_count; i++)
        if (report->processes[i].alike == i &&
            !report_omits_process(&report->processes[i], writing->view))
            write_sarif_process(writing, &report->processes[i]);
    write_all_absent(writing);
    fclose(json->stream);
    fclose(writing->words);
    gzip_end(writing->gzip);
    json->stream = stream;
    json_close(json, ']');
    free(writing->text);
    free(writing->message);
    free(writing->times);
    end_states(&writing->states);
}

void sarif_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct writing writing = {.json = {.stream = stream}, .view = view, .stream = stream};
    struct json_writer *json = &writing.json;

    json_open(json, NULL, '{');
    json_put_text(json, "$schema", SCHEMA);
    json_put_text(json, "version", "2.1.0");
    json_open(json, "runs", '[');
    json_open(json, NULL, '{');
    write_tool(json);
    write_base_uri(json, view);
    write_results(&writing, report);
    write_invocation(json, report, writing.left);
    json_put_text(json, "columnKind", "unicodeCodePoints");
    json_close(json, '}');
    json_close(json, ']');
    json_close(json, '}');
}
