/* json_process.c - a process without its records, errors and resources; see json.h. */
#include "symbolize/json/json.h"

#include "common/view/json_parts.h"

void json_total(struct json_writer *json, const struct verdict_total *total)
{
    json_put_number(json, "bytes", total->bytes);
    json_put_number(json, "blocks", total->blocks);
    json_put_number(json, "records", total->records);
}

void json_tool(struct json_writer *json)
{
    json_open(json, "tool", '{');
    json_put_text(json, "name", "libleak");
    json_put_text(json, "version", LEAK_VERSION);
    json_close(json, '}');
}

static void write_json_rules(struct json_writer *json, const char *key,
                             const struct rule *const *rules, size_t count)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < count; i++) {
        json_open(json, NULL, '{');
        json_put_text(json, "rule", rules[i]->text);
        json_put_text(json, "where", rules[i]->where);
        json_put_text(json, "expires", rules[i]->expires);
        json_put_text(json, "reason", rules[i]->reason);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void json_suppressions(struct json_writer *json, const struct report *report)
{
    json_open(json, "suppressions", '{');
    write_json_rules(json, "unused", report->unused, report->unused_count);
    write_json_rules(json, "expired", report->expired, report->expired_count);
    json_close(json, '}');
}

static void write_end(struct json_writer *json, const struct process *process)
{
    json_put_bool(json, "forked", process->forked);
    json_open(json, "end", '{');
    json_put_text(json, "how", end_word[process->how]);
    if (process->has_end_value)
        json_put_signed(json, "value", process->end_value);
    else
        json_put_null(json, "value");
    json_close(json, '}');
}

static void write_json_stacks(struct json_writer *json, const struct stacks *stacks)
{
    json_open(json, "stacks", '{');
    json_put_number(json, "captures", stacks->captures);
    json_put_number(json, "leaf_cache_hits", stacks->leaf_cache_hits);
    json_put_number(json, "walks", stacks->walks);
    json_put_number(json, "frames_walked", stacks->frames_walked);
    json_put_number(json, "frames_shared", stacks->frames_shared);
    json_close(json, '}');
}

static void write_json_coverage(struct json_writer *json, const struct process *process)
{
    json_open(json, "coverage", '{');
    json_put_number(json, "allocations", process->allocations);
    json_put_number(json, "unknown_frees", process->unknown_frees);
    json_put_number(json, "truncated_stacks", process->truncated_stacks);
    json_put_number(json, "unwind_checks", process->unwind_checks);
    json_put_number(json, "unwind_mismatches", process->unwind_mismatches);
    json_put_number(json, "unwind_stops", process->unwind_stops);
    write_json_stacks(json, &process->stacks);
    json_open(json, "modules_without_debuginfo", '[');
    for (size_t i = 0; i < process->blind_count; i++) {
        json_open(json, NULL, '{');
        json_put_text(json, "module", process->blind[i].path);
        json_put_text(json, "build_id", process->blind[i].build_id);
        json_put_text(json, "why", process->blind[i].why);
        json_put_text(json, "remedy", process->blind[i].remedy);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json, "untracked", '[');
    for (size_t i = 0; i < process->untracked_count; i++) {
        json_open(json, NULL, '{');
        json_put_text(json, "what", process->untracked[i].name);
        json_put_text(json, "why", process->untracked[i].words);
        json_put_number(json, "count", process->untracked[i].count);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void write_sampled(struct json_writer *json, const struct process *process)
{
    if (!process->sample) {
        json_put_null(json, "sampled");
        return;
    }
    json_open(json, "sampled", '{');
    json_put_number(json, "bytes", process->sample);
    json_close(json, '}');
}

static void write_json_totals(struct json_writer *json, const struct process *process)
{
    json_open(json, "totals", '{');
    json_put_number(json, "allocations", process->allocations);
    json_put_number(json, "frees", process->frees);
    json_put_number(json, "bytes_allocated", process->bytes_allocated);
    json_put_number(json, "live_bytes", process->live_bytes);
    json_put_number(json, "live_blocks", process->live_blocks);
    json_put_number(json, "peak_bytes", process->peak_bytes);
    json_put_time(json, "peak_at", process->peak_ns);
    json_error(json, process, &process->live_error);
    json_close(json, '}');
}

void json_summary(struct json_writer *json, const struct process *process)
{
    json_open(json, "summary", '{');
    for (int v = 0; v < VERDICT_MAX; v++) {
        json_open(json, verdict_word[v], '{');
        json_total(json, &process->totals.of[v]);
        json_error(json, process, &process->errors[v]);
        json_close(json, '}');
    }
    json_close(json, '}');
}

/* The suppressed records, which the summary leaves out. */
static void write_suppressed(struct json_writer *json, const struct process *process)
{
    json_open(json, "suppressed", '{');
    json_total(json, &process->suppressed);
    json_open(json, "rules", '[');
    for (size_t i = 0; i < process->rule_count; i++) {
        const struct rule_use *use = &process->rules[i];

        json_open(json, NULL, '{');
        json_put_text(json, "rule", use->rule->text);
        json_put_text(json, "where", use->rule->where);
        json_put_text(json, "reason", use->rule->reason);
        json_total(json, &use->total);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void write_seen_threads(struct json_writer *json, const struct process *process)
{
    json_open(json, "threads", '[');
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct seen_thread *thread = &process->threads[i];

        json_open(json, NULL, '{');
        json_put_known(json, "serial", thread->thread.serial != 0, thread->thread.serial);
        json_put_known(json, "tid", thread->tid > 0, (uint64_t)thread->tid);
        json_put_text(json, "name", thread->thread.name);
        json_stack(json, "frames", &thread->stack);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void json_process_head(struct json_writer *json, const struct process *process)
{
    json_put_signed(json, "pid", process->pid);
    json_put_signed(json, "ppid", process->ppid);
    json_put_text(json, "exe", process->exe);
    json_open(json, "argv", '[');
    for (size_t i = 0; i < process->argc; i++)
        json_put_text(json, NULL, process->argv[i]);
    json_close(json, ']');
    json_put_time(json, "started", process->started_ns);
    json_put_time(json, "ended", process->ended_ns);
    write_end(json, process);
    write_sampled(json, process);
    write_json_coverage(json, process);
    write_json_totals(json, process);
    json_leak_check(json, "snapshot", process->look);
    write_seen_threads(json, process);
    json_summary(json, process);
    write_suppressed(json, process);
}

static void write_resource_totals(struct json_writer *json, const struct process *process)
{
    json_open(json, "resource_totals", '[');
    for (size_t i = 0; i < process->resource_total_count; i++) {
        json_open(json, NULL, '{');
        json_put_text(json, "type", process->resource_totals[i].type);
        json_put_number(json, "opened", process->resource_totals[i].opened);
        json_put_number(json, "open", process->resource_totals[i].open);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_put_number(json, "resources_missed", process->resources_missed);
    json_open(json, "inherited", '[');
    for (size_t i = 0; i < process->inherited_count; i++) {
        json_open(json, NULL, '{');
        json_put_number(json, "descriptor", process->inherited[i].number);
        json_put_text(json, "name", process->inherited[i].name);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_json_recent(struct json_writer *json, const struct recent_free *recent)
{
    json_open(json, NULL, '{');
    json_put_address(json, "address", recent->address);
    json_put_text(json, "kind", kind_word[recent->kind]);
    json_thread(json, "thread", &recent->thread);
    json_put_time(json, "time", recent->time_ns);
    json_put_bool(json, "whole_stack", recent->whole);
    json_stack(json, "freed", &recent->freed);
    json_stack(json, "allocated", &recent->allocated);
    json_close(json, '}');
}

static void write_json_history(struct json_writer *json, const struct process *process)
{
    json_open(json, "history", '[');
    for (size_t i = 0; i < process->history_count; i++) {
        json_open(json, NULL, '{');
        json_put_time(json, "t", process->history[i].time_ns);
        json_put_number(json, "live_bytes", process->history[i].bytes);
        json_put_number(json, "live_blocks", process->history[i].blocks);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_json_peak(struct json_writer *json, const struct process *process)
{
    if (!process->peak.bytes) {
        json_put_null(json, "peak");
        return;
    }
    json_open(json, "peak", '{');
    json_put_time(json, "t", process->peak.time_ns);
    json_put_number(json, "bytes", process->peak.bytes);
    json_put_number(json, "blocks", process->peak.blocks);
    json_open(json, "parts", '[');
    for (size_t i = 0; i < process->peak_part_count; i++) {
        const struct peak_part *part = &process->peak_parts[i];

        json_open(json, NULL, '{');
        json_put_id(json, "signature", part->signature);
        json_put_text(json, "kind", kind_word[part->kind]);
        json_put_number(json, "bytes", part->bytes);
        json_put_number(json, "blocks", part->blocks);
        json_stack(json, "frames", &part->stack);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

void json_process_tail(struct json_writer *json, const struct process *process)
{
    write_resource_totals(json, process);
    json_owners(json, process);
    json_milestones(json, process);
    write_json_history(json, process);
    write_json_peak(json, process);
    json_open(json, "recent_frees", '[');
    for (size_t i = 0; i < process->recent_count; i++)
        write_json_recent(json, &process->recent[i]);
    json_close(json, ']');
    json_open(json, "notes", '[');
    for (size_t i = 0; i < process->note_count; i++)
        json_put_text(json, NULL, process->notes[i]);
    json_close(json, ']');
}
