/* record_tabs.c - the tab with records, and the tab with sites that grow; described in
 * browser.h. */
#include "symbolize/browse/browser.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"
#include "symbolize/text/text.h"

/* ---- Functions that both tabs use ------------------------------------------------------------ */

static bool record_has(const struct record *record, const char *text)
{
    struct stack stack = {record->frames, record->frame_count, 0};

    for (size_t i = 0; i < record->type_count; i++)
        if (browse_text_has(record->types[i].type->name, text))
            return true;
    for (size_t i = 0; i < record->tag_count; i++)
        if (browse_text_has(record->tags[i].name, text))
            return true;
    for (size_t i = 0; i < record->thread_count; i++)
        if (browse_text_has(record->threads[i].name, text))
            return true;
    return browse_text_has(verdict_word[record->verdict], text) ||
           browse_text_has(kind_word[record->kind], text) || browse_stack_has(&stack, text);
}

static void write_title(const struct browser *browser, const struct record *record, size_t columns,
                        FILE *stream)
{
    const struct frame *title = record_title_frame(record);

    if (title)
        browse_write_frame(browser, title, columns, stream);
    else
        fputs("(no stack)", stream);
}

static struct stack stack_of_record(const struct record *record)
{
    return (struct stack){record->frames, record->frame_count, record->ending};
}

static void write_record(const struct browser *browser, const struct record *record, size_t number,
                         FILE *stream)
{
    text_record(browser_process(browser), record, number, &browser->view, stream);
}

/* ---- The tab with records -------------------------------------------------------------------- */

static const struct record *record_at(const struct browser *browser, size_t row)
{
    return &browser_process(browser)->records[browser->rows[row].index];
}

struct record_order {
    const struct record *records;
    enum sort_order sort;
};

static int compare_rows(const void *left, const void *right, void *given)
{
    const struct record_order *order = given;
    const struct browse_row *a = left, *b = right;

    return record_compare(&order->records[a->index], &order->records[b->index], order->sort);
}

static void fill_records(struct browser *browser)
{
    const struct process *process = browser_process(browser);
    struct record_order order = {process->records, browser->sort};

    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];

        if ((!record->suppressed_by || browser->view.suppressed) &&
            report_lists_record(record, &browser->view))
            browser_add_match(browser, i);
    }
    if (browser->count)
        qsort_r(browser->rows, browser->count, sizeof(*browser->rows), compare_rows, &order);
}

static const char *const sort_words[] = {
    [SORT_RETAINED] = "releases", [SORT_BYTES] = "bytes",   [SORT_COUNT] = "blocks",
    [SORT_AGE] = "age",           [SORT_GROWTH] = "growth",
};

/* Returns how many bytes a fix of the leak releases, with all that its blocks own; "-" for blocks
 * that are no leak. */
static struct term_text released_text(const struct record *record)
{
    if (record->verdict == VERDICT_REACHABLE || record->verdict == VERDICT_RUNTIME)
        return term_text("-", 1, 0);
    return term_size(record->retained.blocks ? record->retained.bytes : record->bytes);
}

static void write_records_heading(const struct browser *browser, FILE *stream)
{
    fprintf(stream, "%11s %8s %11s %-9s FUNCTION (by %s)", "BYTES", "BLOCKS", "RELEASES", "VERDICT",
            sort_words[browser->sort]);
}

static void write_records_row(const struct browser *browser, size_t row, size_t columns,
                              FILE *stream)
{
    const struct record *record = record_at(browser, row);

    fprintf(stream, "%11s %8s %11s %-9s ", term_size(record->bytes).text,
            term_number(record->blocks).text, released_text(record).text,
            verdict_word[record->verdict]);
    write_title(browser, record, columns > 54 ? columns - 43 : 10, stream);
}

static enum terminal_style style_records_row(const struct browser *browser, size_t row)
{
    switch (record_at(browser, row)->verdict) {
    case VERDICT_LOST:
    case VERDICT_INDIRECT:
        return STYLE_OF_ALARM;
    case VERDICT_POSSIBLE:
    case VERDICT_HIDDEN:
        return STYLE_OF_WARNING;
    default:
        return STYLE_OF_PLAIN;
    }
}

static void write_records_details(const struct browser *browser, size_t row, FILE *stream)
{
    write_record(browser, record_at(browser, row), row + 1, stream);
}

static struct stack stack_of_records_row(const struct browser *browser, size_t row)
{
    return stack_of_record(record_at(browser, row));
}

static bool records_row_has(const struct browser *browser, size_t row, const char *text)
{
    return record_has(record_at(browser, row), text);
}

static bool handle_records_key(struct browser *browser, int key)
{
    if (key != 's')
        return false;
    browser->sort = browser->sort == SORT_GROWTH ? SORT_RETAINED : browser->sort + 1;
    return true;
}

static const struct terminal_key records_keys[] = {
    {'\n', "Enter", "stack"}, {'s', "s", "sort"}, {'a', "a", "all verdicts"}, {0}};

const struct browse_tab browse_records = {
    .name = "records",
    .empty = "No record is listed. a: all verdicts, also what is still reachable.",
    .fill = fill_records,
    .write_heading = write_records_heading,
    .write_row = write_records_row,
    .style_row = style_records_row,
    .write_details = write_records_details,
    .stack_of = stack_of_records_row,
    .matches = records_row_has,
    .handle_key = handle_records_key,
    .keys = records_keys,
};

/* ---- The tab with sites that grow ------------------------------------------------------------ */

/* Returns a row's record. First come live records that grow, behind them records that grew and
 * whose blocks are all freed. */
static const struct record *grown_at(const struct browser *browser, size_t index)
{
    const struct process *process = browser_process(browser);

    return index < process->record_count ? &process->records[index]
                                         : &process->grown[index - process->record_count];
}

static int compare_growth(const void *left, const void *right, void *given)
{
    const struct browser *browser = given;
    const struct record *a = grown_at(browser, ((const struct browse_row *)left)->index);
    const struct record *b = grown_at(browser, ((const struct browse_row *)right)->index);
    int by = COMPARE(b->growth->bytes_per_second, a->growth->bytes_per_second);

    return by ? by : COMPARE(b->growth->peak_bytes, a->growth->peak_bytes);
}

static void fill_growth(struct browser *browser)
{
    const struct process *process = browser_process(browser);

    for (size_t i = 0; i < process->record_count + process->grown_count; i++) {
        const struct record *record = grown_at(browser, i);

        if (record->growth && (record_is_growing(record) || browser->all_verdicts))
            browser_add_match(browser, i);
    }
    if (browser->count)
        qsort_r(browser->rows, browser->count, sizeof(*browser->rows), compare_growth, browser);
}

static void write_growth_heading(const struct browser *browser, FILE *stream)
{
    (void)browser;
    fprintf(stream, "%14s %11s %8s %-8s %s", "RATE", "BYTES", "BLOCKS", "TREND", "FUNCTION");
}

static void write_growth_row(const struct browser *browser, size_t row, size_t columns,
                             FILE *stream)
{
    const struct record *record = grown_at(browser, browser->rows[row].index);
    uint64_t rate = record->growth->bytes_per_second;
    char text[64] = "-";

    if (rate)
        snprintf(text, sizeof(text), "+%.40s/s", term_size(rate).text);
    fprintf(stream, "%14s %11s %8s %-8.8s ", text, term_size(record->bytes).text,
            term_number(record->blocks).text, growth_word[record->growth->verdict]);
    write_title(browser, record, columns > 55 ? columns - 45 : 10, stream);
}

static enum terminal_style style_growth_row(const struct browser *browser, size_t row)
{
    return record_is_growing(grown_at(browser, browser->rows[row].index)) ? STYLE_OF_WARNING
                                                                          : STYLE_OF_PLAIN;
}

static void write_growth_details(const struct browser *browser, size_t row, FILE *stream)
{
    const struct record *record = grown_at(browser, browser->rows[row].index);

    fprintf(stream, "%s\n", record->growth->reason);
    write_record(browser, record, row + 1, stream);
}

static struct stack stack_of_growth_row(const struct browser *browser, size_t row)
{
    return stack_of_record(grown_at(browser, browser->rows[row].index));
}

static bool growth_row_has(const struct browser *browser, size_t row, const char *text)
{
    return record_has(grown_at(browser, browser->rows[row].index), text);
}

static const struct terminal_key growth_keys[] = {
    {'\n', "Enter", "stack"}, {'a', "a", "all trends"}, {0}};

const struct browse_tab browse_growth = {
    .name = "growth",
    .empty = "No allocation site grows. a: all trends that are known.",
    .fill = fill_growth,
    .write_heading = write_growth_heading,
    .write_row = write_growth_row,
    .style_row = style_growth_row,
    .write_details = write_growth_details,
    .stack_of = stack_of_growth_row,
    .matches = growth_row_has,
    .keys = growth_keys,
};
