/* json.c - writes the model as JSON; see json.h and docs/schema.json.
 *
 * One function per object of the schema. Nothing is left out for being unknown: that is null, or an
 * empty list where no such thing was looked for.
 */
#include "symbolize/json.h"

#include "symbolize/emit.h"
#include "symbolize/json_crash.h"
#include "symbolize/json_look.h"
#include "symbolize/json_mistakes.h"

static void empty_list(struct emit *emit, const char *key)
{
    emit_open(emit, key, '[');
    emit_close(emit, ']');
}

static void number_or_null(struct emit *emit, const char *key, uint32_t number)
{
    if (number)
        emit_number(emit, key, number);
    else
        emit_null(emit, key);
}

static void write_end(struct emit *emit, const struct process *process)
{
    emit_open(emit, "end", '{');
    emit_text(emit, "how", end_word[process->how]);
    if (process->has_end_value)
        emit_signed(emit, "value", process->end_value);
    else
        emit_null(emit, "value");
    emit_close(emit, '}');
}

static void write_stacks(struct emit *emit, const struct stacks *stacks)
{
    emit_open(emit, "stacks", '{');
    emit_number(emit, "captures", stacks->captures);
    emit_number(emit, "leaf_cache_hits", stacks->leaf_cache_hits);
    emit_number(emit, "walks", stacks->walks);
    emit_number(emit, "frames_walked", stacks->frames_walked);
    emit_number(emit, "frames_shared", stacks->frames_shared);
    emit_close(emit, '}');
}

static void write_coverage(struct emit *emit, const struct process *process)
{
    emit_open(emit, "coverage", '{');
    emit_number(emit, "allocations", process->allocations);
    emit_number(emit, "unknown_frees", process->unknown_frees);
    emit_number(emit, "truncated_stacks", process->truncated_stacks);
    emit_number(emit, "unwind_checks", process->unwind_checks);
    emit_number(emit, "unwind_mismatches", process->unwind_mismatches);
    emit_number(emit, "unwind_stops", process->unwind_stops);
    write_stacks(emit, &process->stacks);
    emit_open(emit, "modules_without_debuginfo", '[');
    for (size_t i = 0; i < process->blind_count; i++) {
        emit_open(emit, NULL, '{');
        emit_text(emit, "module", process->blind[i].path);
        emit_text(emit, "build_id", process->blind[i].build_id);
        emit_text(emit, "why", process->blind[i].why);
        emit_text(emit, "remedy", process->blind[i].remedy);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
    emit_open(emit, "untracked", '[');
    for (size_t i = 0; i < process->untracked_count; i++) {
        emit_open(emit, NULL, '{');
        emit_text(emit, "what", process->untracked[i].name);
        emit_text(emit, "why", process->untracked[i].words);
        emit_number(emit, "count", process->untracked[i].count);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
    emit_close(emit, '}');
}

static void write_error(struct emit *emit, const struct process *process, const struct error *error)
{
    if (!process->sample) {
        emit_null(emit, "error");
        return;
    }
    emit_open(emit, "error", '{');
    emit_number(emit, "bytes", error->bytes);
    emit_number(emit, "blocks", error->blocks);
    emit_number(emit, "samples", error->samples);
    emit_close(emit, '}');
}

static void write_sampled(struct emit *emit, const struct process *process)
{
    if (!process->sample) {
        emit_null(emit, "sampled");
        return;
    }
    emit_open(emit, "sampled", '{');
    emit_number(emit, "bytes", process->sample);
    emit_close(emit, '}');
}

static void write_totals(struct emit *emit, const struct process *process)
{
    emit_open(emit, "totals", '{');
    emit_number(emit, "allocations", process->allocations);
    emit_number(emit, "frees", process->frees);
    emit_number(emit, "bytes_allocated", process->bytes_allocated);
    emit_number(emit, "live_bytes", process->live_bytes);
    emit_number(emit, "live_blocks", process->live_blocks);
    emit_number(emit, "peak_bytes", process->peak_bytes);
    emit_time(emit, "peak_at", process->peak_ns);
    write_error(emit, process, &process->live_error);
    emit_close(emit, '}');
}

static void write_summary(struct emit *emit, const struct process *process)
{
    emit_open(emit, "summary", '{');
    for (int v = 0; v < VERDICT_MAX; v++) {
        emit_open(emit, verdict_word[v], '{');
        emit_number(emit, "bytes", process->totals.of[v].bytes);
        emit_number(emit, "blocks", process->totals.of[v].blocks);
        emit_number(emit, "records", process->totals.of[v].records);
        write_error(emit, process, &process->errors[v]);
        emit_close(emit, '}');
    }
    emit_close(emit, '}');
}

/* What is in no sum of the summary. */
static void write_suppressed(struct emit *emit, const struct process *process)
{
    emit_open(emit, "suppressed", '{');
    emit_number(emit, "bytes", process->suppressed.bytes);
    emit_number(emit, "blocks", process->suppressed.blocks);
    emit_number(emit, "records", process->suppressed.records);
    emit_open(emit, "rules", '[');
    for (size_t i = 0; i < process->rule_count; i++) {
        const struct rule_use *use = &process->rules[i];

        emit_open(emit, NULL, '{');
        emit_text(emit, "rule", use->rule->text);
        emit_text(emit, "where", use->rule->where);
        emit_number(emit, "bytes", use->total.bytes);
        emit_number(emit, "blocks", use->total.blocks);
        emit_number(emit, "records", use->total.records);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
    emit_close(emit, '}');
}

static void write_frame(struct emit *emit, const struct frame *frame, bool user)
{
    emit_open(emit, NULL, '{');
    emit->flat = true;
    emit_text(emit, "function", frame->function);
    emit_text(emit, "file", frame->file);
    number_or_null(emit, "line", frame->line);
    number_or_null(emit, "column", frame->column);
    emit_text(emit, "module", frame->module);
    emit_text(emit, "build_id", frame->build_id);
    if (frame->has_offset)
        emit_number(emit, "offset", frame->offset);
    else
        emit_null(emit, "offset");
    emit_bool(emit, "inlined", frame->inlined);
    emit_bool(emit, "user", user);
    emit_close(emit, '}');
    emit->flat = false;
}

/* user: index of the user frame; count = none is marked. */
static void write_frames(struct emit *emit, const char *key, const struct frame *const *frames,
                         size_t count, size_t user)
{
    emit_open(emit, key, '[');
    for (size_t i = 0; i < count; i++)
        write_frame(emit, frames[i], i == user);
    emit_close(emit, ']');
}

static void write_thread(struct emit *emit, const char *key, const struct thread_ref *thread)
{
    emit_open(emit, key, '{');
    emit_number(emit, "serial", thread->serial);
    emit_text(emit, "name", thread->name);
    emit_close(emit, '}');
}

static void write_threads(struct emit *emit, const struct record *record)
{
    emit_open(emit, "threads", '[');
    for (size_t i = 0; i < record->thread_count; i++)
        write_thread(emit, NULL, &record->threads[i]);
    if (record->more_threads) { /* there were others, and nobody kept count */
        emit_open(emit, NULL, '{');
        emit_null(emit, "serial");
        emit_null(emit, "name");
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

static void write_freed(struct emit *emit, const struct freed *freed)
{
    size_t user = 0;

    while (user < freed->frame_count && freed->frames[user] != freed->place[0].frame)
        user++;
    if (freed->places)
        write_frames(emit, "freed_elsewhere", freed->frames, freed->frame_count, user);
    else
        emit_null(emit, "freed_elsewhere");
    if (freed->places && freed->enough)
        emit_fraction(emit, "freed_share", freed->place[0].share);
    else
        emit_null(emit, "freed_share");
    if (freed->places)
        emit_bool(emit, "freed_same_path", !freed->other_path);
    else
        emit_null(emit, "freed_same_path");
    emit_number(emit, "freed_blocks", freed->blocks);
}

static void write_retained(struct emit *emit, const struct record *record)
{
    if (!record->retained.blocks) {
        emit_null(emit, "retained");
        return;
    }
    emit_open(emit, "retained", '{');
    emit_number(emit, "bytes", record->retained.bytes);
    emit_number(emit, "blocks", record->retained.blocks);
    emit_close(emit, '}');
}

static void write_samples(struct emit *emit, const struct record *record)
{
    emit_open(emit, "samples", '[');
    for (size_t i = 0; i < record->sample_count; i++)
        json_sample(emit, &record->samples[i]);
    emit_close(emit, ']');
}

static void write_record(struct emit *emit, const struct process *process,
                         const struct record *record)
{
    emit_open(emit, NULL, '{');
    emit_id(emit, "signature", record->signature);
    emit_text(emit, "verdict", verdict_word[record->verdict]);
    emit_text(emit, "kind", kind_word[record->kind]);
    emit_number(emit, "bytes", record->bytes);
    emit_number(emit, "blocks", record->blocks);
    write_error(emit, process, &record->error);
    emit_time(emit, "first", record->first_ns);
    emit_time(emit, "last", record->last_ns);
    write_threads(emit, record);
    write_frames(emit, "frames", record->frames, record->frame_count, record->user);
    write_retained(emit, record);
    emit_bool(emit, "cycle", record->cycle);
    emit_bool(emit, "dropped", record->dropped);
    emit_bool(emit, "ignored", record->ignored);
    emit_bool(emit, "shared", record->shared);
    emit_bool(emit, "tagged", record->tagged);
    if (record->owner)
        emit_id(emit, "owner", process->records[record->owner - 1].signature);
    else
        emit_null(emit, "owner");
    json_path(emit, "path", record->path);
    write_samples(emit, record);
    emit_null(emit, "growth");
    write_freed(emit, &record->freed);
    empty_list(emit, "tags");
    emit_text(emit, "suppressed_by", record->suppressed_by ? record->suppressed_by->text : NULL);
    emit_close(emit, '}');
}

static void write_stack(struct emit *emit, const char *key, const struct stack *stack)
{
    write_frames(emit, key, stack->frames, stack->count, frame_user(stack->frames, stack->count));
}

static void write_recent(struct emit *emit, const struct recent_free *recent)
{
    emit_open(emit, NULL, '{');
    emit_address(emit, "address", recent->address);
    emit_text(emit, "kind", kind_word[recent->kind]);
    write_thread(emit, "thread", &recent->thread);
    emit_time(emit, "time", recent->time_ns);
    emit_bool(emit, "whole_stack", recent->whole);
    write_stack(emit, "freed", &recent->freed);
    write_stack(emit, "allocated", &recent->allocated);
    emit_close(emit, '}');
}

static void write_stack_or_null(struct emit *emit, const char *key, const struct stack *stack)
{
    if (stack->count)
        write_stack(emit, key, stack);
    else
        emit_null(emit, key);
}

static void write_resource(struct emit *emit, const struct resource *resource)
{
    const struct record *record = &resource->record;

    emit_open(emit, NULL, '{');
    emit_text(emit, "type", resource->type);
    emit_text(emit, "name", resource->name_count ? resource->names[0] : NULL);
    emit_open(emit, "names", '[');
    for (size_t i = 0; i < resource->name_count; i++)
        emit_text(emit, NULL, resource->names[i]);
    emit_close(emit, ']');
    emit_number(emit, "count", record->blocks);
    if (resource->has_bytes)
        emit_number(emit, "bytes", record->bytes);
    else
        emit_null(emit, "bytes");
    emit_bool(emit, "once", resource->once);
    emit_id(emit, "signature", record->signature);
    emit_time(emit, "first", record->first_ns);
    emit_time(emit, "last", record->last_ns);
    write_threads(emit, record);
    write_frames(emit, "frames", record->frames, record->frame_count, record->user);
    write_stack_or_null(emit, "opened", &resource->opened);
    write_stack_or_null(emit, "closed", &resource->closed);
    if (resource->closed.count)
        write_thread(emit, "closed_by", &resource->closed_by);
    else
        emit_null(emit, "closed_by");
    emit_bool(emit, "taken", resource->taken);
    emit_close(emit, '}');
}

static void write_resource_totals(struct emit *emit, const struct process *process)
{
    emit_open(emit, "resource_totals", '[');
    for (size_t i = 0; i < process->resource_total_count; i++) {
        emit_open(emit, NULL, '{');
        emit_text(emit, "type", process->resource_totals[i].type);
        emit_number(emit, "opened", process->resource_totals[i].opened);
        emit_number(emit, "open", process->resource_totals[i].open);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
    emit_number(emit, "resources_missed", process->resources_missed);
    emit_open(emit, "inherited", '[');
    for (size_t i = 0; i < process->inherited_count; i++) {
        emit_open(emit, NULL, '{');
        emit_number(emit, "descriptor", process->inherited[i].number);
        emit_text(emit, "name", process->inherited[i].name);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

static void write_seen_threads(struct emit *emit, const struct process *process)
{
    emit_open(emit, "threads", '[');
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct seen_thread *thread = &process->threads[i];

        emit_open(emit, NULL, '{');
        number_or_null(emit, "serial", thread->thread.serial);
        if (thread->tid > 0)
            emit_signed(emit, "tid", thread->tid);
        else
            emit_null(emit, "tid");
        emit_text(emit, "name", thread->thread.name);
        write_stack(emit, "frames", &thread->stack);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

static void write_process(struct emit *emit, const struct process *process, const struct view *view)
{
    emit_open(emit, NULL, '{');
    emit_signed(emit, "pid", process->pid);
    emit_signed(emit, "ppid", process->ppid);
    emit_text(emit, "exe", process->exe);
    emit_open(emit, "argv", '[');
    for (size_t i = 0; i < process->argc; i++)
        emit_text(emit, NULL, process->argv[i]);
    emit_close(emit, ']');
    emit_time(emit, "started", process->started_ns);
    emit_time(emit, "ended", process->ended_ns);
    write_end(emit, process);
    write_sampled(emit, process);
    write_coverage(emit, process);
    write_totals(emit, process);
    json_look(emit, "snapshot", process->look);
    write_seen_threads(emit, process);
    write_summary(emit, process);
    write_suppressed(emit, process);
    emit_open(emit, "records", '[');
    for (size_t i = 0; i < process->record_count && !view->quiet && (!view->top || i < view->top);
         i++)
        write_record(emit, process, &process->records[i]);
    emit_close(emit, ']');
    emit_open(emit, "errors", '[');
    if (!view->quiet) {
        json_crash(emit, process, write_stack);
        json_mistakes(emit, process, write_stack);
    }
    emit_close(emit, ']');
    emit_open(emit, "resources", '[');
    for (size_t i = 0;
         i < process->resource_count && !view->quiet && (!view->top || i < view->top); i++)
        write_resource(emit, &process->resources[i]);
    emit_close(emit, ']');
    write_resource_totals(emit, process);
    json_owners(emit, process);
    empty_list(emit, "history");
    emit_open(emit, "recent_frees", '[');
    for (size_t i = 0; i < process->recent_count; i++)
        write_recent(emit, &process->recent[i]);
    emit_close(emit, ']');
    emit_open(emit, "notes", '[');
    for (size_t i = 0; i < process->note_count; i++)
        emit_text(emit, NULL, process->notes[i]);
    emit_close(emit, ']');
    emit_close(emit, '}');
}

void json_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct emit emit = {.stream = stream};

    emit_open(&emit, NULL, '{');
    emit_text(&emit, "format", "libleak");
    emit_number(&emit, "version", 1);
    emit_open(&emit, "tool", '{');
    emit_text(&emit, "name", "libleak");
    emit_text(&emit, "version", LEAK_VERSION);
    emit_close(&emit, '}');
    emit_text(&emit, "host", report->host);
    emit_open(&emit, "processes", '[');
    for (size_t i = 0; i < report->process_count; i++)
        write_process(&emit, &report->processes[i], view);
    emit_close(&emit, ']');
    emit_bool(&emit, "bytes_escaped", emit.bytes_escaped); /* known only now */
    emit_close(&emit, '}');
}
