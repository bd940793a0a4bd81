/* json_process.c - writes a process without its records, errors and resources; described in
 * json.h. */
#include "symbolize/json/json.h"

#include "leak_store.h"
#include "common/view/json_parts.h"

/* ---- Coverage -------------------------------------------------------------------------------- */

static const struct json_field sampled_fields[] = {
    JSON_COUNT(process, "bytes", sample, JSON_LIMITS("'minimum': 1")),
};

static const struct json_table sampled_table =
    JSON_TABLE("sampled", sampled_fields,
               JSON_ABOUT("The option sample=: one sample for so many allocated bytes, and every "
                          "number of blocks and bytes is an estimate. A leak of L bytes is missed "
                          "with probability exp(-L / bytes). unknown_frees is then 0: they are "
                          "unknown"));

static const struct json_field stacks_fields[] = {
    JSON_COUNT(stacks, "captures", captures),
    JSON_COUNT(stacks, "leaf_cache_hits", leaf_cache_hits),
    JSON_COUNT(stacks, "walks", walks),
    JSON_COUNT(stacks, "frames_walked", frames_walked),
    JSON_COUNT(stacks, "frames_shared", frames_shared),
};

static const struct json_table stacks_table = JSON_TABLE(
    NULL, stacks_fields,
    JSON_ABOUT("How the stacks of allocations, and of recorded frees, were captured. captures = "
               "leaf_cache_hits + walks. The frames of the walks were unwound one by one (walked), "
               "or verified to be those of the thread's walk before (shared)."));

static const struct json_field module_fields[] = {
    JSON_TEXT(blind_module, "module", path),
    JSON_TEXT(blind_module, "build_id", build_id, JSON_MAY_BE_NULL),
    JSON_TEXT(blind_module, "why", why),
    JSON_TEXT(blind_module, "remedy", remedy, JSON_MAY_BE_NULL),
    JSON_TEXT(blind_module, "package", package, JSON_MAY_BE_NULL,
              JSON_ABOUT("of the system, that has the file")),
};

static const struct json_table module_table = JSON_TABLE("module", module_fields);

static const struct json_field untracked_fields[] = {
    JSON_TEXT(untracked, "what", name),
    JSON_TEXT(untracked, "why", words),
    JSON_COUNT(untracked, "count", count),
};

static const struct json_table untracked_table = JSON_TABLE(NULL, untracked_fields);

static const struct json_field coverage_fields[] = {
    JSON_COUNT(process, "allocations", allocations),
    JSON_COUNT(process, "unknown_frees", unknown_frees),
    JSON_COUNT(process, "older_blocks", older_blocks),
    JSON_COUNT(process, "older_bytes", older_bytes),
    JSON_COUNT(process, "truncated_stacks", truncated_stacks),
    JSON_COUNT(process, "unwind_checks", unwind_checks),
    JSON_COUNT(process, "unwind_mismatches", unwind_mismatches),
    JSON_COUNT(process, "unwind_stops", unwind_stops),
    JSON_PART(process, "stacks", stacks, stacks_table),
    JSON_LIST(process, "modules_without_debuginfo", blind, blind_count, module_table),
    JSON_LIST(process, "untracked", untracked, untracked_count, untracked_table),
};

static const struct json_table coverage_table = JSON_TABLE("coverage", coverage_fields);

/* ---- Sums ------------------------------------------------------------------------------------ */

static const struct json_field totals_fields[] = {
    JSON_COUNT(process, "allocations", allocations),
    JSON_COUNT(process, "frees", frees),
    JSON_COUNT(process, "bytes_allocated", bytes_allocated),
    JSON_COUNT(process, "live_bytes", live_bytes),
    JSON_COUNT(process, "live_blocks", live_blocks),
    JSON_COUNT(process, "peak_bytes", peak_bytes),
    JSON_TIME(process, "peak_at", peak_ns),
    JSON_ESTIMATE(process, live_error, JSON_ABOUT("of live_bytes and live_blocks")),
};

static const struct json_table totals_table = JSON_TABLE("totals", totals_fields);

static const struct json_field total_fields[] = {
    JSON_COUNT(verdict_total, "bytes", bytes),
    JSON_COUNT(verdict_total, "blocks", blocks),
    JSON_COUNT(verdict_total, "records", records),
};

const struct json_table json_total = JSON_TABLE("part", total_fields);

/* Defines, for each verdict, the table of fields of its sum; the key of the sum is the word of the
 * verdict. */
#define V(name, word, words)                                                                       \
    static const struct json_field fields_of_##name[] = {                                          \
        JSON_INCLUDE(process, totals.of[VERDICT_##name], json_total),                              \
        JSON_ESTIMATE(process, errors[VERDICT_##name])};                                           \
    static const struct json_table sum_of_##name = JSON_TABLE("sum", fields_of_##name);
VERDICT_TABLE(V)
#undef V

static const struct json_field summary_fields[] = {
#define V(name, word, words) JSON_GROUP(word, sum_of_##name),
    VERDICT_TABLE(V)
#undef V
};

const struct json_table json_summary = JSON_TABLE("summary", summary_fields);

/* ---- Suppressions ---------------------------------------------------------------------------- */

static const struct json_field rule_fields[] = {
    JSON_TEXT(rule, "rule", text),
    JSON_TEXT(rule, "where", where, JSON_ABOUT("FILE:LINE")),
    JSON_TEXT(rule, "expires", expires, JSON_MAY_BE_NULL,
              JSON_ABOUT("the last day of its validity")),
    JSON_TEXT(rule, "reason", reason, JSON_MAY_BE_NULL),
};

const struct json_table json_rule = JSON_TABLE("rule", rule_fields);

static const struct json_field used_rule_fields[] = {
    JSON_TEXT(rule, "rule", text),
    JSON_TEXT(rule, "where", where,
              JSON_ABOUT("FILE:LINE, or the name of the program's own function and the line")),
    JSON_TEXT(rule, "reason", reason, JSON_MAY_BE_NULL),
    JSON_BOOLEAN(rule, "built_in", built_in),
    JSON_TEXT(rule, "managed_by", managed, JSON_MAY_BE_NULL,
              JSON_ABOUT("the garbage collector or interpreter that the blocks belong to: no leak "
                         "check can judge them")),
};

static const struct json_table used_rule_table = JSON_TABLE(NULL, used_rule_fields);

static const struct json_field rule_use_fields[] = {
    JSON_INCLUDE_POINTER(rule_use, rule, used_rule_table),
    JSON_INCLUDE(rule_use, total, json_total),
};

static const struct json_table rule_use_table = JSON_TABLE(NULL, rule_use_fields);

static const struct json_field suppressed_fields[] = {
    JSON_INCLUDE(process, suppressed, json_total),
    JSON_LIST(process, "rules", rules, rule_count, rule_use_table,
              JSON_ABOUT("those that match something")),
};

static const struct json_table suppressed_table =
    JSON_TABLE("suppressed", suppressed_fields,
               JSON_ABOUT("Known leaks, which the summary leaves out; their records have "
                          "suppressed_by"));

/* ---- Lists ----------------------------------------------------------------------------------- */

static bool has_tid(const struct json_writer *json, const void *object)
{
    (void)json;
    return ((const struct seen_thread *)object)->tid > 0;
}

static const struct json_field seen_thread_fields[] = {
    JSON_COUNT(seen_thread, "serial", thread.serial, JSON_NULL_IF_0,
               JSON_ABOUT("null: a thread that never allocated")),
    JSON_INTEGER(seen_thread, "tid", tid, JSON_KNOWN_IF(has_tid)),
    JSON_TEXT(seen_thread, "name", thread.name, JSON_MAY_BE_NULL),
    JSON_STACK(seen_thread, "frames", stack, JSON_INNERMOST_FIRST),
};

static const struct json_table seen_thread_table = JSON_TABLE("seen_thread", seen_thread_fields);

static const struct json_field resource_total_fields[] = {
    JSON_TEXT(resource_total, "type", type),
    JSON_COUNT(resource_total, "opened", opened,
               JSON_ABOUT("ever; the descriptors of streams and directories count there")),
    JSON_COUNT(resource_total, "open", open, JSON_ABOUT("at the end, including suppressed ones")),
};

static const struct json_table resource_total_table = JSON_TABLE(NULL, resource_total_fields);

static const struct json_field inherited_fields[] = {
    JSON_COUNT(inherited, "descriptor", number),
    JSON_TEXT(inherited, "name", name, JSON_MAY_BE_NULL),
};

static const struct json_table inherited_table = JSON_TABLE(NULL, inherited_fields);

static const struct json_field recent_free_fields[] = {
    JSON_ADDRESS(recent_free, "address", address, JSON_ABOUT("of the start of the block")),
    JSON_KIND(recent_free, "kind", kind),
    JSON_PART(recent_free, "thread", thread, json_thread),
    JSON_TIME(recent_free, "time", time_ns),
    JSON_BOOLEAN(
        recent_free, "whole_stack", whole,
        JSON_ABOUT("false: only the return address of the free is known, and freed has only "
                   "its frames")),
    JSON_STACK(recent_free, "freed", freed),
    JSON_STACK(recent_free, "allocated", allocated),
};

static const struct json_table recent_free_table = JSON_TABLE(
    "recent_free", recent_free_fields,
    JSON_ABOUT("One of the last frees of a thread: the last 123 of each thread, and those of a "
               "thread that ended until another thread takes its place."));

/* ---- JSON fields of the peak ----------------------------------------------------------------- */

static const struct json_field peak_part_fields[] = {
    JSON_ID(peak_part, "signature", signature),
    JSON_KIND(peak_part, "kind", kind),
    JSON_COUNT(peak_part, "bytes", bytes),
    JSON_COUNT(peak_part, "blocks", blocks),
    JSON_STACK(peak_part, "frames", stack, JSON_INNERMOST_FIRST),
};

static const struct json_table peak_part_table = JSON_TABLE(NULL, peak_part_fields);

static const struct json_field peak_fields[] = {
    JSON_TIME(process, "t", peak.time_ns),
    JSON_COUNT(
        process, "bytes", peak.bytes,
        JSON_ABOUT("within a hundredth of totals.peak_bytes, unless peaks followed each other "
                   "faster than they could be recorded")),
    JSON_COUNT(process, "blocks", peak.blocks),
    JSON_LIST(process, "parts", peak_parts, peak_part_count, peak_part_table,
              JSON_ABOUT("the largest first; small ones are left out")),
};

static const struct json_table peak_table =
    JSON_TABLE("peak", peak_fields, JSON_ABOUT("the live blocks when the heap was largest"));

/* ---- JSON fields of temporary blocks --------------------------------------------------------- */

static const struct json_field temporary_part_fields[] = {
    JSON_ID(temporary_part, "signature", signature),
    JSON_KIND(temporary_part, "kind", kind),
    JSON_COUNT(temporary_part, "bytes", bytes),
    JSON_COUNT(temporary_part, "blocks", blocks),
    JSON_COUNT(temporary_part, "of", of,
               JSON_ABOUT("blocks of these stacks that were freed, temporary or not")),
    JSON_COUNT(temporary_part, "grown", grown,
               JSON_ABOUT("of those, freed by the call that allocates: realloc, step by step")),
    JSON_STACK(temporary_part, "frames", stack, JSON_INNERMOST_FIRST),
};

static const struct json_table temporary_part_table = JSON_TABLE(NULL, temporary_part_fields);

static const struct json_field temporary_fields[] = {
    JSON_COUNT(process, "bytes", temporary_bytes),
    JSON_COUNT(process, "blocks", temporary_blocks),
    JSON_LIST(process, "parts", temporary, temporary_count, temporary_part_table,
              JSON_ABOUT("the most blocks first, a hundred sites at most")),
};

static const struct json_table temporary_table =
    JSON_TABLE("temporary", temporary_fields,
               JSON_ABOUT("Blocks that the thread that allocated them freed before it had "
                          "allocated four more; estimates, unless free_stacks=all"));

/* ---- Fields of a function whose blocks were all alive at one time ---------------------------- */

static void put_held_frame(struct json_writer *json, const char *key, const void *at)
{
    const struct frame *const *frame = at;

    json_frames(json, key, frame, *frame != NULL, 0);
}

static const struct json_field held_fields[] = {
    JSON_COUNT(held_at_once, "blocks", blocks, JSON_ABOUT("alive when the heap was largest")),
    JSON_COUNT(held_at_once, "bytes", bytes),
    JSON_COUNT(held_at_once, "of", of, JSON_ABOUT("blocks that were ever allocated")),
    JSON_PUT(held_at_once, "frames", LIST, frame, put_held_frame, .table = &json_frame_or_index,
             JSON_ABOUT("the function that allocated most of these bytes")),
    JSON_COUNT(held_at_once, "own_blocks", own_blocks, JSON_ABOUT("its blocks at that time")),
    JSON_COUNT(held_at_once, "own_bytes", own_bytes),
    JSON_COUNT(held_at_once, "own_of", own_of, JSON_ABOUT("blocks that it ever allocated")),
    JSON_WORD(held_at_once, "freed", until, held_word, HELD_MAX, JSON_MAY_BE_NULL,
              JSON_ABOUT("null: some time after, or not all")),
    JSON_PUT(held_at_once, "freed_in", LIST, freed_in, put_held_frame,
             .table = &json_frame_or_index,
             JSON_ABOUT("where most of its blocks were freed; empty: unknown, or not freed")),
};

static const struct json_table held_table =
    JSON_TABLE("held", held_fields,
               JSON_ABOUT("Nearly all blocks that one function ever allocated were alive at once, "
                          "and they were most of the heap. null: it was not so, or the heap was "
                          "small"));

/* ---- JSON fields of the process -------------------------------------------------------------- */

static const struct json_field end_fields[] = {
    JSON_END(process, JSON_KNOWN_BY(process, has_end_value)),
};

static const struct json_table end_table = JSON_TABLE("end", end_fields);

static const struct json_field head_fields[] = {
    JSON_INTEGER(process, "pid", pid),
    JSON_INTEGER(process, "ppid", ppid),
    JSON_TEXT(process, "exe", exe, JSON_MAY_BE_NULL),
    JSON_ARGV(process),
    JSON_TIME(process, "started", started_ns),
    JSON_TIME(process, "ended", ended_ns),
    JSON_BOOLEAN(process, "forked", forked,
                 JSON_ABOUT("by another process, and continued without exec: it began with the "
                            "blocks of its parent. With end.how = exec it only started another "
                            "program, and other formats leave it out")),
    JSON_GROUP("end", end_table),
    JSON_GROUP("sampled", sampled_table, JSON_KNOWN_BY(process, sample)),
    JSON_GROUP("coverage", coverage_table),
    JSON_GROUP("totals", totals_table),
    JSON_POINTER(process, "snapshot", look, json_leak_check, JSON_MAY_BE_NULL),
    JSON_LIST(process, "threads", threads, thread_count, seen_thread_table,
              JSON_ABOUT("the threads at the leak check, besides the thread that made it")),
    JSON_GROUP("summary", json_summary),
    JSON_GROUP("suppressed", suppressed_table),
};

const struct json_table json_process_head = JSON_TABLE(NULL, head_fields);

static const struct json_field tail_fields[] = {
    JSON_LIST(process, "resource_totals", resource_totals, resource_total_count,
              resource_total_table),
    JSON_COUNT(process, "resources_missed", resources_missed,
               JSON_ABOUT("there was no room for them")),
    JSON_LIST(
        process, "inherited", inherited, inherited_count, inherited_table,
        JSON_ABOUT("descriptors above 2 that were open when the process began, and still are")),
    JSON_LIST(process, "owners", owners, owner_count, json_owner),
    JSON_LIST(process, "milestones", milestones, milestone_count, json_milestone,
              JSON_ABOUT("times that --since and --until refer to, ascending")),
    JSON_HISTORY(process,
                 "The heap over time, ascending: up to eight times a second, fewer as they "
                 "get older; the last one is the end, or now. Empty for a process that "
                 "lived less than an eighth of a second"),
    JSON_GROUP("peak", peak_table, JSON_KNOWN_BY(process, peak.bytes)),
    JSON_GROUP("temporary", temporary_table),
    JSON_POINTER(process, "held", held, held_table, JSON_MAY_BE_NULL),
    JSON_LIST(process, "recent_frees", recent, recent_count, recent_free_table,
              JSON_ABOUT("newest first, to an eighth of a second; only with -v (all) or --freed "
                         "(those of one address)")),
    JSON_TEXTS(process, "notes", notes, note_count),
};

const struct json_table json_process_tail = JSON_TABLE(NULL, tail_fields);
