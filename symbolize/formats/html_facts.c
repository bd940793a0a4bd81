/* html_facts.c - writes the headline and the facts of a process in the HTML page; described in
 * html.h.
 */
#include "symbolize/formats/html.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"

/* Appends the total of one verdict to a text: "248 bytes in 8 blocks lost". */
static void append_total(char *text, size_t size, const struct process *process,
                         enum verdict verdict)
{
    const struct verdict_total *total = &process->totals.of[verdict];
    size_t used = strlen(text);

    if (total->records)
        snprintf(text + used, size - used, "%s%.40s in %.40s %s", used ? ", " : "",
                 term_size(total->bytes).text, term_count(total->blocks, "block").text,
                 verdict_words[verdict]);
}

static void write_html_headline(struct json_writer *json, const struct process *process)
{
    static const enum verdict bad[] = {VERDICT_LOST, VERDICT_INDIRECT, VERDICT_POSSIBLE,
                                       VERDICT_HIDDEN, VERDICT_UNFREED};
    char worst[1024] = "", rest[256] = "", line[300] = "";

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        append_total(worst, sizeof(worst), process, bad[i]);
    append_total(rest, sizeof(rest), process, VERDICT_REACHABLE);
    if (!*worst)
        snprintf(worst, sizeof(worst), "%s",
                 process->allocations == 0 && !process->older_blocks ? "0 allocations seen"
                 : process->look && process->look->made              ? "No leaks"
                                                                     : "No unfreed blocks");
    if (process->totals.growing)
        snprintf(worst + strlen(worst), sizeof(worst) - strlen(worst), "; %.40s %s",
                 term_count(process->totals.growing, "allocation site").text,
                 process->how == END_RUNNING ? "growing" : "grew");
    if (process->totals.errors)
        snprintf(worst + strlen(worst), sizeof(worst) - strlen(worst), "; %.40s",
                 term_count(process->totals.errors, "error").text);
    if (*rest)
        snprintf(line, sizeof(line), "; %s", rest);
    json_open(json, "headline", '[');
    json_put_text(json, NULL, worst);
    json_put_text(json, NULL, line);
    json_close(json, ']');
}

static void write_html_command(struct json_writer *json, const struct process *process)
{
    char command[4096] = "";
    size_t used = 0;

    for (size_t i = 0; i < process->argc && used < sizeof(command); i++)
        used += (size_t)snprintf(command + used, sizeof(command) - used, "%s%s", i ? " " : "",
                                 process->argv[i]);
    html_put_fact(json, "command", "%s", command);
}

static void write_run(struct json_writer *json, const struct process *process)
{
    char time[TIME_TEXT_SIZE];

    if (process->exe)
        html_put_fact(json, "program", "%s", process->exe);
    write_html_command(json, process);
    if (process->host)
        html_put_fact(json, "host", "%s", process->host);
    if (process->pid)
        html_put_fact(json, "process", "%" PRId32 ", started by %" PRId32, process->pid,
                      process->ppid);
    if (process->started_ns)
        html_put_fact(json, "started", "%s", time_format_iso(process->started_ns, time));
    if (process->ended_ns)
        html_put_fact(json, "ended", "%s", time_format_iso(process->ended_ns, time));
    if (process->has_end_value)
        html_put_fact(json, "end", "%s %" PRId32, end_word[process->how], process->end_value);
    else
        html_put_fact(json, "end", "%s", end_word[process->how]);
}

static void write_html_coverage(struct json_writer *json, const struct process *process)
{
    for (size_t i = 0; i < process->untracked_count; i++)
        html_put_fact(json, "not tracked", "%s %s", term_number(process->untracked[i].count).text,
                      process->untracked[i].words);
    for (size_t i = 0; i < process->blind_count; i++)
        if (!process->blind[i].runtime)
            html_put_fact(json, "without names or lines", "%s: %s%s%s", process->blind[i].path,
                          process->blind[i].why, process->blind[i].remedy ? ": " : "",
                          process->blind[i].remedy ? process->blind[i].remedy : "");
    for (size_t i = 0; i < process->note_count; i++)
        html_put_fact(json, "note", "%s", process->notes[i]);
}

void html_facts(struct json_writer *json, const struct process *process)
{
    const char *name = process->argc ? base_name(process->argv[0]) : base_name(process->exe);
    char title[256];

    if (process->pid)
        snprintf(title, sizeof(title), "%.200s (pid %" PRId32 ")", name ? name : "a program",
                 process->pid);
    else
        snprintf(title, sizeof(title), "%.200s", name ? name : "a program");
    json_put_text(json, "name", title);
    json_put_bool(json, "running", process->how == END_RUNNING);
    write_html_headline(json, process);
    json_open(json, "facts", '[');
    write_run(json, process);
    html_put_fact(json, "allocations", "%s, of %s", term_number(process->allocations).text,
                  term_size(process->bytes_allocated).text);
    html_put_fact(json, "frees", "%s", term_number(process->frees).text);
    html_put_fact(json, "peak", "%s", term_size(process->peak_bytes).text);
    if (process->look && process->look->made && process->look->timed)
        html_put_fact(json, "leak check", "%s; paused %.1f ms, analysed in %.1f ms",
                      process->look->occasion ? process->look->occasion : "",
                      (double)process->look->pause_ns / 1e6, (double)process->look->check_ns / 1e6);
    write_html_coverage(json, process);
    json_close(json, ']');
}
