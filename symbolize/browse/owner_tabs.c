/* owner_tabs.c - the tabs with owners, with sums by a key, and with errors and open resources;
 * described in browser.h.
 */
#include "symbolize/browse/browser.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/term_text.h"
#include "symbolize/text/text.h"

/* ---- The tab with owners --------------------------------------------------------------------- */

static const struct owner *owner_at(const struct browser *browser, size_t row)
{
    return &browser_process(browser)->owners[browser->rows[row].index];
}

static const char *owner_words(const struct owner *owner)
{
    return owner->path && owner->path->named ? owner->path->words : owner->root->words;
}

static void fill_owners(struct browser *browser)
{
    const struct process *process = browser_process(browser);

    for (size_t i = 0; i < process->owner_count; i++)
        browser_add_match(browser, i);
}

static void write_owners_heading(const struct browser *browser, FILE *stream)
{
    (void)browser;
    fprintf(stream, "%11s %8s %14s  %s", "BYTES", "BLOCKS", "GROWS", "KEPT ALIVE BY");
}

static void write_owners_row(const struct browser *browser, size_t row, size_t columns,
                             FILE *stream)
{
    const struct owner *owner = owner_at(browser, row);
    char rate[64] = "";

    if (owner->growth && growth_is_growing(owner->growth->verdict))
        snprintf(rate, sizeof(rate), "+%.40s/s", term_size(owner->growth->bytes_per_second).text);
    fprintf(
        stream, "%11s %8s %14s  %s", term_size(owner->bytes).text, term_number(owner->blocks).text,
        rate,
        term_text(owner->root->words, strlen(owner->root->words), columns > 53 ? columns - 37 : 16)
            .text);
}

static enum terminal_style style_owners_row(const struct browser *browser, size_t row)
{
    const struct growth *growth = owner_at(browser, row)->growth;

    return growth && growth_is_growing(growth->verdict) ? STYLE_OF_WARNING : STYLE_OF_PLAIN;
}

static void write_owners_details(const struct browser *browser, size_t row, FILE *stream)
{
    const struct owner *owner = owner_at(browser, row);
    const struct root *root = owner->root;
    struct frame place = {.file = root->file, .line = root->line, .module = root->module};

    fprintf(stream, "%s\nkeeps alive %s in %s\n", root->words,
            term_count(owner->bytes, "byte").text, term_count(owner->blocks, "block").text);
    if (owner->growth)
        fprintf(stream, "%s\n", owner->growth->reason);
    if (root->file && root->line)
        browse_write_source(browser, &place, 5, stream);
    if (owner->path && owner->path->count)
        text_path_after("to its largest record:", owner->path, 0, &browser->view, stream);
}

static bool owners_row_has(const struct browser *browser, size_t row, const char *text)
{
    const struct owner *owner = owner_at(browser, row);
    const struct root *root = owner->root;

    if (browse_text_has(root->words, text) || browse_text_has(root->file, text) ||
        browse_text_has(root->module, text) || browse_text_has(owner_words(owner), text))
        return true;
    for (size_t i = 0; owner->path && i < owner->path->count; i++)
        if (browse_frame_has(owner->path->steps[i].frame, text))
            return true;
    return false;
}

static const struct terminal_key owners_keys[] = {{'d', "d", "details"}, {0}};

const struct browse_tab browse_owners = {
    .name = "owners",
    .empty = "No owner is known: there was no leak check, or nothing is reachable.",
    .fill = fill_owners,
    .write_heading = write_owners_heading,
    .write_row = write_owners_row,
    .style_row = style_owners_row,
    .write_details = write_owners_details,
    .matches = owners_row_has,
    .keys = owners_keys,
};

/* ---- The tab with sums by type, function, file ... ------------------------------------------- */

static const struct group_by_row *sum_at(const struct browser *browser, size_t row)
{
    return &browser->sums.rows[browser->rows[row].index];
}

static struct term_text sum_name(const struct browser *browser, const struct group_by_row *sum,
                                 size_t columns)
{
    const struct frame *frame = record_title_frame(sum->first);
    const char *name = sum->name;

    if ((browser->view.by == BY_FUNCTION || browser->view.by == BY_SITE) && frame)
        return text_function_name(frame, &browser->view, columns);
    return term_text(name ? name : "(unknown)", name ? strlen(name) : 9, columns);
}

static void fill_sums(struct browser *browser)
{
    const struct process *process = browser_process(browser);

    if (browser->sums.mem)
        group_by_end(&browser->sums);
    browser->sums = group_by_make(process, &browser->view);
    for (size_t i = 0; i < browser->sums.count; i++)
        browser_add_match(browser, i);
}

static void write_sums_heading(const struct browser *browser, FILE *stream)
{
    fprintf(stream, "%7s %11s %8s %8s  %s", "SHARE", "BYTES", "BLOCKS", "RECORDS",
            group_by_heading[browser->view.by]);
}

static void write_sums_row(const struct browser *browser, size_t row, size_t columns, FILE *stream)
{
    const struct group_by_row *sum = sum_at(browser, row);

    fprintf(stream, "%5.1f %% %11s %8s %8s  %s", 100 * group_by_share(&browser->sums, sum),
            term_size(sum->sum.bytes).text, term_number(sum->sum.blocks).text,
            term_number(sum->sum.records).text,
            sum_name(browser, sum, columns > 50 ? columns - 40 : 10).text);
}

static void write_sums_details(const struct browser *browser, size_t row, FILE *stream)
{
    const struct group_by_row *sum = sum_at(browser, row);

    fprintf(stream, "%s\n%s in %s of %s; one of them:\n", sum_name(browser, sum, 0).text,
            term_count(sum->sum.bytes, "byte").text, term_count(sum->sum.blocks, "block").text,
            term_count(sum->sum.records, "record").text);
    text_record(browser_process(browser), sum->first, 1, &browser->view, stream);
}

static bool sums_row_has(const struct browser *browser, size_t row, const char *text)
{
    return browse_text_has(sum_name(browser, sum_at(browser, row), 0).text, text);
}

/* Handles the keys b (sum up by the next key) and Enter (show the records that contain the name of
 * the selected row). False: it is another key. */
static bool handle_sums_key(struct browser *browser, int key)
{
    size_t selected = browser->lists[browser->tab].selected;
    struct term_text name;

    if (key == 'b') {
        browser->view.by = browser->view.by + 1 < BY_MAX ? browser->view.by + 1 : BY_NOTHING + 1;
        browser->lists[browser->tab].selected = 0;
        return true;
    }
    if (key != '\n' || !browser->count)
        return false;
    name = sum_name(browser, sum_at(browser, selected), 0);
    snprintf(browser->filter.text, sizeof(browser->filter.text), "%.*s", TERMINAL_INPUT_SIZE - 1,
             name.text);
    browser->tab = TAB_RECORDS;
    return true;
}

static const struct terminal_key sums_keys[] = {
    {'\n', "Enter", "its records"}, {'b', "b", "by another key"}, {'a', "a", "all verdicts"}, {0}};

const struct browse_tab browse_sums = {
    .name = "types",
    .empty = "No record is listed. a: all verdicts, also what is still reachable.",
    .fill = fill_sums,
    .write_heading = write_sums_heading,
    .write_row = write_sums_row,
    .write_details = write_sums_details,
    .matches = sums_row_has,
    .handle_key = handle_sums_key,
    .keys = sums_keys,
};

/* ---- The tab with errors --------------------------------------------------------------------- */

/* The kinds of rows, in the order of the list: the crash, then bad frees, then resources. */
enum error_sort { ERROR_CRASH, ERROR_FREE, ERROR_RESOURCE };

static enum error_sort error_sort_of(const struct process *process, size_t *index)
{
    size_t crashes = process->crash ? 1 : 0;

    if (*index < crashes)
        return ERROR_CRASH;
    *index -= crashes;
    if (*index < process->mistake_count)
        return ERROR_FREE;
    *index -= process->mistake_count;
    return ERROR_RESOURCE;
}

static struct stack error_stack(const struct browser *browser, size_t index)
{
    const struct process *process = browser_process(browser);
    const struct record *record;

    switch (error_sort_of(process, &index)) {
    case ERROR_CRASH:
        return process->crash->stack;
    case ERROR_FREE:
        return process->mistakes[index].released;
    default:
        record = &process->resources[index].record;
        return (struct stack){record->frames, record->frame_count, record->ending};
    }
}

static void write_error_words(const struct browser *browser, size_t index, FILE *stream)
{
    const struct process *process = browser_process(browser);

    switch (error_sort_of(process, &index)) {
    case ERROR_CRASH:
        fprintf(stream, "crash: %s, %s", process->crash->name, process->crash->words);
        break;
    case ERROR_FREE:
        fprintf(stream, "%s: ", bad_free_word[process->mistakes[index].type]);
        text_bad_free_words(&process->mistakes[index], stream);
        break;
    default:
        text_resource_words(&process->resources[index], stream);
    }
}

static void write_error_line(const struct browser *browser, size_t index, size_t columns,
                             FILE *stream)
{
    struct stack stack = error_stack(browser, index);
    size_t user = frame_first_user(stack.frames, stack.count);

    write_error_words(browser, index, stream);
    if (stack.count) {
        fputs("  ", stream);
        browse_write_frame(browser, stack.frames[user < stack.count ? user : 0], columns, stream);
    }
}

static void fill_errors(struct browser *browser)
{
    const struct process *process = browser_process(browser);
    size_t count = (process->crash ? 1 : 0) + process->mistake_count + process->resource_count;

    for (size_t i = 0; i < count; i++)
        browser_add_match(browser, i);
}

static void write_errors_heading(const struct browser *browser, FILE *stream)
{
    (void)browser;
    fputs("WRONG FREES, CRASHES, AND WHAT IS STILL OPEN", stream);
}

static void write_errors_row(const struct browser *browser, size_t row, size_t columns,
                             FILE *stream)
{
    write_error_line(browser, browser->rows[row].index, columns, stream);
}

static enum terminal_style style_errors_row(const struct browser *browser, size_t row)
{
    size_t index = browser->rows[row].index;

    return error_sort_of(browser_process(browser), &index) == ERROR_RESOURCE ? STYLE_OF_WARNING
                                                                             : STYLE_OF_ALARM;
}

static void write_errors_details(const struct browser *browser, size_t row, FILE *stream)
{
    const struct process *process = browser_process(browser);
    size_t index = browser->rows[row].index;

    switch (error_sort_of(process, &index)) {
    case ERROR_CRASH:
        text_crash(process, &browser->view, stream);
        break;
    case ERROR_FREE:
        text_bad_free(process, &process->mistakes[index], index + 1, &browser->view, stream);
        break;
    default:
        text_resource(process, &process->resources[index], &browser->view, stream);
    }
}

static struct stack stack_of_errors_row(const struct browser *browser, size_t row)
{
    return error_stack(browser, browser->rows[row].index);
}

static bool errors_row_has(const struct browser *browser, size_t row, const char *text)
{
    size_t index = browser->rows[row].index;
    struct stack stack = error_stack(browser, index);
    struct terminal_buffer line;

    write_error_words(browser, index, terminal_buffer_begin(&line));
    return browse_text_has(terminal_buffer_end(&line), text) || browse_stack_has(&stack, text);
}

static const struct terminal_key errors_keys[] = {{'\n', "Enter", "stack"}, {0}};

const struct browse_tab browse_errors = {
    .name = "errors",
    .empty = "No wrong free, no crash, nothing left open.",
    .fill = fill_errors,
    .write_heading = write_errors_heading,
    .write_row = write_errors_row,
    .style_row = style_errors_row,
    .write_details = write_errors_details,
    .stack_of = stack_of_errors_row,
    .matches = errors_row_has,
    .keys = errors_keys,
};
