/* text_suppressed.c - writes how much is suppressed, and by which rules; described in text.h. */
#include "symbolize/text/text.h"

#include <string.h>

#include "symbolize/records/sampling_error.h"

#define EXPIRED_SHOWN 5 /* expired rules that are shown without -v */

/* Writes a total of suppressed blocks. Their sampling error is not recorded, so it is assumed. */
static void write_total(const struct process *process, const struct verdict_total *total,
                        FILE *stream)
{
    bool sampled = process->sample > 1;

    fprintf(stream, "%s in ",
            estimate_bytes(total->bytes, sampled ? ESTIMATE_ROUGH_ERROR(total->bytes) : 0).text);
    fputs(estimate_count(total->blocks, sampled ? ESTIMATE_ROUGH_ERROR(total->blocks) : 0, "block")
              .text,
          stream);
}

static void write_rule(const struct rule *rule, FILE *stream)
{
    fprintf(stream, "%s (%s)", term_text(rule->text, strlen(rule->text), 0).text,
            term_text(rule->where, strlen(rule->where), 0).text);
}

static void write_reason(const struct rule *rule, FILE *stream)
{
    if (rule->reason)
        fprintf(stream, ": %s", term_text(rule->reason, strlen(rule->reason), 0).text);
}

/* The classes of rules; each has one line. */
enum rule_class { RULES_OF_USER, RULES_BUILT_IN, RULES_MANAGED };

static enum rule_class class_of(const struct rule *rule)
{
    return rule->managed ? RULES_MANAGED : rule->built_in ? RULES_BUILT_IN : RULES_OF_USER;
}

static struct verdict_total total_of(const struct process *process, enum rule_class class,
                                     size_t *rules)
{
    struct verdict_total total = {0};

    *rules = 0;
    for (size_t i = 0; i < process->rule_count; i++)
        if (class_of(process->rules[i].rule) == class) {
            verdict_total_add(&total, &process->rules[i].total);
            ++*rules;
        }
    return total;
}

uint64_t text_managed_blocks(const struct process *process)
{
    size_t rules;

    return total_of(process, RULES_MANAGED, &rules).blocks;
}

static void write_of_user(const struct process *process, const struct view *view, FILE *stream)
{
    size_t rules;
    struct verdict_total total = total_of(process, RULES_OF_USER, &rules);

    if (!rules)
        return;
    fputs("Suppressed: ", stream);
    write_total(process, &total, stream);
    fprintf(stream, " by %s%s.\n", term_count(rules, "rule").text,
            view->suppressed ? "" : " (--show-suppressed)");
}

/* Returns how many blocks all built-in rules with the name of rule `at` suppressed; 0 if it is not
 * the first rule of this name. */
static uint64_t blocks_of_name(const struct process *process, size_t at)
{
    const struct rule *rule = process->rules[at].rule;
    uint64_t blocks = 0;

    for (size_t i = 0; i < process->rule_count; i++) {
        const struct rule *other = process->rules[i].rule;

        if (class_of(other) != RULES_BUILT_IN || strcmp(other->text, rule->text) != 0)
            continue;
        if (i < at)
            return 0;
        blocks = add_saturating(blocks, process->rules[i].total.blocks);
    }
    return blocks;
}

static void write_built_in(const struct process *process, const struct view *view, FILE *stream)
{
    size_t rules;
    struct verdict_total total = total_of(process, RULES_BUILT_IN, &rules);
    const char *join = "";

    if (!rules)
        return;
    fprintf(stream, "%s suppressed by built-in rules: ", term_count(total.blocks, "block").text);
    for (size_t i = 0; i < process->rule_count; i++) {
        const struct rule *rule = process->rules[i].rule;
        uint64_t blocks = class_of(rule) == RULES_BUILT_IN ? blocks_of_name(process, i) : 0;

        if (!blocks)
            continue;
        fprintf(stream, "%s%s %s", join, rule->text, term_number(blocks).text);
        join = ", ";
    }
    fprintf(stream, "%s.\n", view->suppressed ? "" : " (--show-suppressed)");
}

/* Writes one line for each runtime that manages blocks; only for the first of its rules. */
static void write_managed(const struct process *process, size_t at, FILE *stream)
{
    const char *managed = process->rules[at].rule->managed;
    struct verdict_total total = {0};

    for (size_t i = 0; i < process->rule_count; i++) {
        const char *other = process->rules[i].rule->managed;

        if (!other || strcmp(other, managed) != 0)
            continue;
        if (i < at)
            return;
        verdict_total_add(&total, &process->rules[i].total);
    }
    fprintf(stream, "Managed by %s: %s, ", term_text(managed, strlen(managed), 0).text,
            term_count(total.blocks, "block").text);
    fprintf(stream, "%s not judged.\n", term_size(total.bytes).text);
}

void text_suppressed(const struct process *process, const struct view *view, FILE *stream)
{
    if (!process->suppressed.records)
        return;
    write_of_user(process, view, stream);
    write_built_in(process, view, stream);
    for (size_t i = 0; i < process->rule_count; i++)
        if (class_of(process->rules[i].rule) == RULES_MANAGED)
            write_managed(process, i, stream);
    for (size_t i = 0; i < process->rule_count && view->verbose; i++) {
        fprintf(stream, "%*s", TEXT_INDENT, "");
        write_total(process, &process->rules[i].total, stream);
        fputs(": ", stream);
        write_rule(process->rules[i].rule, stream);
        write_reason(process->rules[i].rule, stream);
        putc('\n', stream);
    }
}

void text_suppressed_by(const struct record *record, FILE *stream)
{
    if (!record->suppressed_by)
        return;
    fprintf(stream, "%*ssuppressed by ", TEXT_INDENT, "");
    write_rule(record->suppressed_by, stream);
    write_reason(record->suppressed_by, stream);
    putc('\n', stream);
}

void text_unused_rules(const struct report *report, const struct view *view, FILE *stream)
{
    if (!report->unused_count || !view->verbose)
        return;
    fprintf(stream, "Unused suppressions: %s\n", term_count(report->unused_count, "rule").text);
    for (size_t i = 0; i < report->unused_count; i++) {
        fprintf(stream, "%*s", TEXT_INDENT, "");
        write_rule(report->unused[i], stream);
        putc('\n', stream);
    }
    putc('\n', stream);
}

void text_expired_rules(const struct report *report, const struct view *view, FILE *stream)
{
    size_t most = view->verbose ? SIZE_MAX : EXPIRED_SHOWN;

    for (size_t i = 0; i < report->expired_count && i < most; i++) {
        fputs("Suppression expired on ", stream);
        fprintf(stream, "%s: ", report->expired[i]->expires);
        write_rule(report->expired[i], stream);
        putc('\n', stream);
    }
    if (report->expired_count > most)
        fprintf(stream, "... and %s (-v).\n",
                term_count(report->expired_count - most, "more expired rule").text);
    if (report->expired_count)
        putc('\n', stream);
}
