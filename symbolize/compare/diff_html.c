/* diff_html.c - writes the HTML page of a comparison; described in compare.h and html.h. */
#include "symbolize/compare/compare.h"

#include <inttypes.h>
#include <string.h>

#include "symbolize/formats/html.h"

struct diff_page {
    struct json_writer json;
    const struct view *view;
    struct html_stacks stacks;
};

/* Writes an entry. If it is an error or a resource, the key "w" has its words and "u" its unit. */
static void write_diff_record(struct diff_page *page, const struct diff_line *line)
{
    struct json_writer *json = &page->json;
    const struct report_set_entry *entry = line->new ? line->new : line->old;
    const struct record *record = &entry->record;

    json_open(json, NULL, '{');
    json->flat = true;
    json_put_id(json, "s", record->signature);
    json_put_number(json, "ch", line->change);
    json_put_number(json, "v", entry->class == REPORT_SET_RECORD ? record->verdict : VERDICT_LOST);
    if (entry->class != REPORT_SET_RECORD) {
        json_put_text(json, "w", entry->words);
        json_put_text(json, "unit", entry->unit);
    }
    json_put_number(json, "k", html_text_id(&page->stacks, kind_word[record->kind]));
    json_put_number(json, "b", line->new ? line->new->record.bytes : 0);
    json_put_number(json, "n", line->new ? line->new->record.blocks : 0);
    json_put_number(json, "ob", line->old ? line->old->record.bytes : 0);
    json_put_number(json, "on", line->old ? line->old->record.blocks : 0);
    html_put_stack(json, &page->stacks, page->view, "f", "u",
                   &(struct html_trace){record->frames, record->frame_count, record->user});
    json_open(json, "t", '[');
    json_close(json, ']');
    json_close(json, '}');
    json->flat = false;
}

/* Writes the headline, like "3 new, 1 grown; 2 fixed". */
static void write_diff_headline(struct json_writer *json, const struct diff *diff)
{
    char text[2][200] = {"", ""};

    for (int change = 0; change < CHANGE_MAX; change++) {
        bool rest = change != CHANGE_NEW && change != CHANGE_GROWN;
        size_t used = strlen(text[rest]);

        if (diff->of[change])
            snprintf(text[rest] + used, sizeof(text[rest]) - used, "%s%" PRIu64 " %s",
                     used   ? ", "
                     : rest ? "; "
                            : "",
                     diff->of[change], change_word[change]);
    }
    json_open(json, "headline", '[');
    json_put_text(json, NULL, *text[0] ? text[0] : "Nothing new or grown");
    json_put_text(json, NULL, text[1]);
    json_close(json, ']');
}

static size_t written_lines(const struct diff *diff)
{
    return diff->count < HTML_RECORDS_MOST ? diff->count : HTML_RECORDS_MOST;
}

/* Writes the sums of the records that the page does not contain: [change, records, bytes,
 * blocks]. */
static void write_others(struct json_writer *json, const struct diff *diff)
{
    struct verdict_total other[CHANGE_MAX] = {{0}};

    for (size_t i = written_lines(diff); i < diff->count; i++) {
        const struct diff_line *line = &diff->lines[i];
        const struct report_set_entry *entry = line->new ? line->new : line->old;

        other[line->change].records++;
        other[line->change].bytes = add_saturating(other[line->change].bytes, entry->record.bytes);
        other[line->change].blocks =
            add_saturating(other[line->change].blocks, entry->record.blocks);
    }
    json_open(json, "other", '[');
    for (int change = 0; change < CHANGE_MAX; change++) {
        if (!other[change].records)
            continue;
        json_open(json, NULL, '[');
        json_put_text(json, NULL, change_word[change]);
        json_put_number(json, NULL, other[change].records);
        json_put_number(json, NULL, other[change].bytes);
        json_put_number(json, NULL, other[change].blocks);
        json_close(json, ']');
    }
    json_close(json, ']');
}

static void write_lists(struct json_writer *json, const struct diff *diff)
{
    static const char *const empty[] = {"errors", "resources", "owners",    "grown",    "history",
                                        "peak",   "at_peak",   "allocated", "temporary"};

    json->flat = true;
    write_others(json, diff);
    json_open(json, "entries", '[');
    for (size_t i = 0; i < written_lines(diff); i++) {
        json_open(json, NULL, '[');
        json_put_number(json, NULL, i);
        json_close(json, ']');
    }
    json_close(json, ']');
    for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
        json_open(json, empty[i], '[');
        json_close(json, ']');
    }
    json->flat = false;
}

static void write_diff_process(struct diff_page *page, const struct diff *diff, const char *old,
                               const char *new)
{
    struct json_writer *json = &page->json;
    char title[300];

    snprintf(title, sizeof(title), "%.140s compared with %.140s", base_name(new), base_name(old));
    json_open(json, NULL, '{');
    json_put_text(json, "name", title);
    json_put_bool(json, "running", false);
    json_put_number(json, "length", 0);
    write_diff_headline(json, diff);
    json_open(json, "facts", '[');
    html_put_fact(json, "before", "%s", old);
    html_put_fact(json, "after", "%s", new);
    json_close(json, ']');
    json_open(json, "records", '[');
    for (size_t i = 0; i < written_lines(diff); i++)
        write_diff_record(page, &diff->lines[i]);
    json_close(json, ']');
    write_lists(json, diff);
    json_close(json, '}');
}

void diff_write_html(const struct diff *diff, const char *old, const char *new,
                     const struct view *view, FILE *stream)
{
    struct diff_page page = {.json = {.stream = stream, .markup = true, .dense = true},
                             .view = view};
    struct json_writer *json = &page.json;

    html_page_begin(stream);
    json_open(json, NULL, '{');
    html_put_verdicts(json);
    json_open(json, "changes", '[');
    for (int change = 0; change < CHANGE_MAX; change++)
        json_put_text(json, NULL, change_word[change]);
    json_close(json, ']');
    /* for each kind of change: does the page show its records at first? */
    json_open(json, "shown", '[');
    for (int change = 0; change < CHANGE_MAX; change++)
        json_put_bool(json, NULL, change != CHANGE_UNCHANGED || view->verbose);
    json_close(json, ']');
    json_open(json, "processes", '[');
    write_diff_process(&page, diff, old, new);
    json_close(json, ']');
    html_stacks_write(json, &page.stacks, view);
    json_close(json, '}');
    html_stacks_end(&page.stacks);
    html_page_end(stream);
}
