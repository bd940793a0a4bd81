/* json_process.c - see json_process.h and docs/schema.json. */
#include "symbolize/json/json_process.h"

#include "symbolize/json/json_leak_check.h"
#include "symbolize/json/json_record.h"
#include "common/view/json_stack.h"

void json_tool(struct emit *emit)
{
    emit_open(emit, "tool", '{');
    emit_text(emit, "name", "libleak");
    emit_text(emit, "version", LEAK_VERSION);
    emit_close(emit, '}');
}

static void write_rules(struct emit *emit, const char *key, const struct rule *const *rules,
                        size_t count)
{
    emit_open(emit, key, '[');
    for (size_t i = 0; i < count; i++) {
        emit_open(emit, NULL, '{');
        emit_text(emit, "rule", rules[i]->text);
        emit_text(emit, "where", rules[i]->where);
        emit_text(emit, "expires", rules[i]->expires);
        emit_text(emit, "reason", rules[i]->reason);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

void json_suppressions(struct emit *emit, const struct report *report)
{
    emit_open(emit, "suppressions", '{');
    write_rules(emit, "unused", report->unused, report->unused_count);
    write_rules(emit, "expired", report->expired, report->expired_count);
    emit_close(emit, '}');
}

static void write_end(struct emit *emit, const struct process *process)
{
    emit_bool(emit, "forked", process->forked);
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
    json_error(emit, process, &process->live_error);
    emit_close(emit, '}');
}

void json_summary(struct emit *emit, const struct process *process)
{
    emit_open(emit, "summary", '{');
    for (int v = 0; v < VERDICT_MAX; v++) {
        emit_open(emit, verdict_word[v], '{');
        emit_number(emit, "bytes", process->totals.of[v].bytes);
        emit_number(emit, "blocks", process->totals.of[v].blocks);
        emit_number(emit, "records", process->totals.of[v].records);
        json_error(emit, process, &process->errors[v]);
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
        emit_text(emit, "reason", use->rule->reason);
        emit_number(emit, "bytes", use->total.bytes);
        emit_number(emit, "blocks", use->total.blocks);
        emit_number(emit, "records", use->total.records);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
    emit_close(emit, '}');
}

static void write_seen_threads(struct emit *emit, const struct process *process)
{
    emit_open(emit, "threads", '[');
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct seen_thread *thread = &process->threads[i];

        emit_open(emit, NULL, '{');
        emit_known(emit, "serial", thread->thread.serial != 0, thread->thread.serial);
        emit_known(emit, "tid", thread->tid > 0, (uint64_t)thread->tid);
        emit_text(emit, "name", thread->thread.name);
        json_stack(emit, "frames", &thread->stack);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

void json_process_head(struct emit *emit, const struct process *process)
{
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
    json_summary(emit, process);
    write_suppressed(emit, process);
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

static void write_recent(struct emit *emit, const struct recent_free *recent)
{
    emit_open(emit, NULL, '{');
    emit_address(emit, "address", recent->address);
    emit_text(emit, "kind", kind_word[recent->kind]);
    json_thread(emit, "thread", &recent->thread);
    emit_time(emit, "time", recent->time_ns);
    emit_bool(emit, "whole_stack", recent->whole);
    json_stack(emit, "freed", &recent->freed);
    json_stack(emit, "allocated", &recent->allocated);
    emit_close(emit, '}');
}

static void write_history(struct emit *emit, const struct process *process)
{
    emit_open(emit, "history", '[');
    for (size_t i = 0; i < process->history_count; i++) {
        emit_open(emit, NULL, '{');
        emit_time(emit, "t", process->history[i].time_ns);
        emit_number(emit, "live_bytes", process->history[i].bytes);
        emit_number(emit, "live_blocks", process->history[i].blocks);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

static void write_peak(struct emit *emit, const struct process *process)
{
    if (!process->peak.bytes) {
        emit_null(emit, "peak");
        return;
    }
    emit_open(emit, "peak", '{');
    emit_time(emit, "t", process->peak.time_ns);
    emit_number(emit, "bytes", process->peak.bytes);
    emit_number(emit, "blocks", process->peak.blocks);
    emit_open(emit, "parts", '[');
    for (size_t i = 0; i < process->peak_part_count; i++) {
        const struct peak_part *part = &process->peak_parts[i];

        emit_open(emit, NULL, '{');
        emit_id(emit, "signature", part->signature);
        emit_text(emit, "kind", kind_word[part->kind]);
        emit_number(emit, "bytes", part->bytes);
        emit_number(emit, "blocks", part->blocks);
        json_stack(emit, "frames", &part->stack);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
    emit_close(emit, '}');
}

void json_process_rest(struct emit *emit, const struct process *process)
{
    write_resource_totals(emit, process);
    json_owners(emit, process);
    json_milestones(emit, process);
    write_history(emit, process);
    write_peak(emit, process);
    emit_open(emit, "recent_frees", '[');
    for (size_t i = 0; i < process->recent_count; i++)
        write_recent(emit, &process->recent[i]);
    emit_close(emit, ']');
    emit_open(emit, "notes", '[');
    for (size_t i = 0; i < process->note_count; i++)
        emit_text(emit, NULL, process->notes[i]);
    emit_close(emit, ']');
}
