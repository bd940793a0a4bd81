/* text_suppressed.c - how much is suppressed, and by which rules; see text.h. */
#include "symbolize/text/text.h"

#include <string.h>

#include "symbolize/records/sampling_error.h"

#define EXPIRED_SHOWN 5 /* without -v */

/* The sampling error of suppressed records was not recorded: it is estimated. */
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

void text_suppressed(const struct process *process, const struct view *view, FILE *stream)
{
    if (!process->suppressed.records)
        return;
    fputs("Suppressed: ", stream);
    write_total(process, &process->suppressed, stream);
    fprintf(stream, " by %s%s%s\n", term_count(process->rule_count, "rule").text,
            view->suppressed ? "" : " (--show-suppressed)", view->verbose ? ":" : ".");
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
