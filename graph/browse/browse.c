/* browse.c - shows pages on a terminal; described in browse.h. Pages are on a stack: the key Enter
 * adds a page, Left removes one.
 */
#include "graph/browse/browse.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/options/command_line.h"
#include "common/terminal/terminal.h"

#define HEAD_LINES 3
#define PAGES_MOST 64 /* most pages on the stack */

struct open_page {
    struct page page;
    struct terminal_list list;
    size_t *row; /* indices of the rows of the page that match the filter */
    size_t count;
    char filter[TERMINAL_INPUT_SIZE];
};

struct browser {
    struct pages pages;
    struct terminal *terminal;
    struct open_page open[PAGES_MOST];
    size_t depth;
    struct terminal_input filter, address;
    const char *message; /* shown until the user presses the next key */
    bool help, leave;
};

static const struct terminal_key keys[] = {
    {'\n', "Enter", "open"}, {KEY_LEFT, "Left", "back"}, {'b', "b", "blocks"},
    {'/', "/", "filter"},    {'a', "a", "address"},      {'t', "t", "top"},
    {'?', "?", "help"},      {'q', "q", "quit"},         {0}};

/* ---- The stack of pages ---------------------------------------------------------------------- */

static struct open_page *top_page(struct browser *browser)
{
    return &browser->open[browser->depth - 1];
}

static bool is_kept(const struct page_row *row, const char *filter)
{
    return !*filter || row->kind == ROW_HEADING || strcasestr(row->text, filter);
}

static void apply_filter(struct open_page *open)
{
    open->count = 0;
    for (size_t i = 0; i < open->page.count; i++)
        if (is_kept(&open->page.row[i], open->filter))
            open->row[open->count++] = i;
}

static void close_page(struct open_page *open)
{
    page_end(&open->page);
    free(open->row);
    *open = (struct open_page){.count = 0};
}

/* Adds a page to the stack. If the stack is full, closes its second page first, so that the first
 * page stays: the one with the owners. */
static void push_page(struct browser *browser, struct page page)
{
    struct open_page *open;

    if (browser->depth == PAGES_MOST) {
        close_page(&browser->open[1]);
        memmove(&browser->open[1], &browser->open[2], (PAGES_MOST - 2) * sizeof(*open));
        browser->depth--;
    }
    open = &browser->open[browser->depth++];
    *open = (struct open_page){
        .page = page, .row = array_grow(NULL, &(size_t){0}, page.count + 1, sizeof(*open->row))};
    apply_filter(open);
    if (open->count > 1 && page.row[0].kind == ROW_HEADING)
        open->list.selected = 1;
}

static void pop_page(struct browser *browser)
{
    if (browser->depth > 1)
        close_page(&browser->open[--browser->depth]);
}

static const struct page_row *selected_row(struct browser *browser)
{
    struct open_page *open = top_page(browser);

    return open->count ? &open->page.row[open->row[open->list.selected]] : NULL;
}

static void open_selected(struct browser *browser, bool members)
{
    const struct page_row *row = selected_row(browser);
    const struct page *page = &top_page(browser)->page;

    if (row && row->kind == ROW_BLOCK)
        push_page(browser, page_of_block(&browser->pages, row->number));
    else if (row && row->kind == ROW_GROUP)
        push_page(browser,
                  (members ? page_of_members : page_below)(&browser->pages, page, row->number));
}

static void open_address(struct browser *browser)
{
    uint64_t address;
    uint32_t block = GRAPH_NONE;

    if (command_line_read_address(browser->address.text, &address))
        block = heap_graph_find(browser->pages.run->graph, address);
    if (block == GRAPH_NONE)
        browser->message = "no block is there";
    else
        push_page(browser, page_of_block(&browser->pages, block));
}

/* ---- Drawing the screen ---------------------------------------------------------------------- */

static void draw_head(struct browser *browser)
{
    struct terminal_buffer line;
    FILE *stream = terminal_buffer_begin(&line);
    const struct page *page = &top_page(browser)->page;

    fputs("leakgraph", stream);
    for (size_t i = 0; i < browser->depth; i++)
        if (i < 1 || i + 3 >= browser->depth)
            fprintf(stream, " > %s", browser->open[i].page.title);
        else if (i == 1)
            fputs(" > ...", stream);
    terminal_put_line(browser->terminal, 0, STYLE_OF_TITLE, terminal_buffer_end(&line));
    terminal_put_line(browser->terminal, 1, STYLE_OF_PLAIN, page->facts);
    terminal_put_line(browser->terminal, 2, STYLE_OF_HEADING, page->heading);
}

static void draw_list(struct browser *browser)
{
    static const enum terminal_style styles[] = {[ROW_HEADING] = STYLE_OF_NAME,
                                                 [ROW_PLAIN] = STYLE_OF_FAINT,
                                                 [ROW_GROUP] = STYLE_OF_PLAIN,
                                                 [ROW_BLOCK] = STYLE_OF_PLAIN};
    struct open_page *open = top_page(browser);

    terminal_list_place(&open->list, HEAD_LINES, LINES - HEAD_LINES - 1, open->count);
    for (int i = 0; i < open->list.lines; i++) {
        size_t at = open->list.first + (size_t)i;
        const struct page_row *row = at < open->count ? &open->page.row[open->row[at]] : NULL;

        terminal_put_line(browser->terminal, HEAD_LINES + i,
                          row && at == open->list.selected ? STYLE_OF_SELECTED
                          : row                            ? styles[row->kind]
                                                           : STYLE_OF_PLAIN,
                          row ? row->text : "");
    }
}

static void draw(struct browser *browser)
{
    struct open_page *open = top_page(browser);
    const struct terminal_input *input =
        browser->address.label ? &browser->address : &browser->filter;
    char text[TERMINAL_INPUT_SIZE + 32] = "";

    draw_head(browser);
    if (browser->help) {
        terminal_put_keys(browser->terminal, HEAD_LINES, LINES - HEAD_LINES - 1, keys);
    } else {
        draw_list(browser);
    }
    if (browser->message)
        snprintf(text, sizeof(text), "%s", browser->message);
    else if (*open->filter)
        snprintf(text, sizeof(text), "filter: %s", open->filter);
    terminal_put_foot(browser->terminal, LINES - 1, text, input, keys);
    refresh();
}

/* ---- Handling keys --------------------------------------------------------------------------- */

static void set_filter(struct browser *browser, const char *text)
{
    struct open_page *open = top_page(browser);

    snprintf(open->filter, sizeof(open->filter), "%s", text);
    apply_filter(open);
    open->list.selected = 0;
}

static void handle_input(struct browser *browser, int key)
{
    bool of_address = browser->address.label != NULL;
    enum terminal_input_state state =
        terminal_input_handle_key(of_address ? &browser->address : &browser->filter, key);

    if (of_address && state == INPUT_DONE)
        open_address(browser);
    else if (!of_address && state != INPUT_GOES_ON)
        set_filter(browser, browser->filter.text);
}

static void handle_key(struct browser *browser, int key)
{
    bool opened = false;

    browser->message = NULL;
    switch (key) {
    case 'q':
        browser->leave = true;
        break;
    case '?':
        browser->help = !browser->help;
        break;
    case '\n':
    case KEY_RIGHT:
        open_selected(browser, false);
        break;
    case 'b':
        open_selected(browser, true);
        break;
    case KEY_LEFT:
    case KEY_BACKSPACE:
    case KEY_ESCAPE:
        if (browser->help)
            browser->help = false;
        else
            pop_page(browser);
        break;
    case 't':
        while (browser->depth > 1)
            pop_page(browser);
        break;
    case '/':
        snprintf(browser->filter.text, sizeof(browser->filter.text), "%s",
                 top_page(browser)->filter);
        terminal_input_begin(&browser->filter, "filter");
        break;
    case 'a':
        browser->address.text[0] = 0;
        terminal_input_begin(&browser->address, "address");
        break;
    default:
        terminal_list_handle_key(&top_page(browser)->list, browser->terminal, key, &opened);
        if (opened)
            open_selected(browser, false);
    }
}

/* Waits for a key. False: the terminal was closed. */
static bool wait_for_key(void)
{
    struct pollfd event = {.fd = STDIN_FILENO, .events = POLLIN};

    /* A signal counts as a key, because the size of the terminal may have changed. */
    return poll(&event, 1, -1) < 0 || !(event.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void run_browser(struct browser *browser)
{
    while (!browser->leave) {
        int key;

        draw(browser);
        if (!wait_for_key())
            return;
        while (!browser->leave && (key = terminal_read_key(browser->terminal)) != ERR) {
            if (browser->filter.label || browser->address.label)
                handle_input(browser, key);
            else
                handle_key(browser, key);
        }
    }
}

int verb_browse(struct verb_run *run)
{
    struct browser *browser;
    bool unknown;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || run->options->json)
        return verb_complain(STATUS_UNUSABLE, "browse needs a terminal; the other commands do not");
    browser = array_grow(NULL, &(size_t){0}, 1, sizeof(*browser));
    *browser = (struct browser){.pages = pages_begin(run)};
    push_page(browser, page_of_top(&browser->pages));
    browser->terminal = terminal_begin();
    if (browser->terminal) {
        run_browser(browser);
        terminal_end(browser->terminal);
    }
    while (browser->depth)
        close_page(&browser->open[--browser->depth]);
    pages_end(&browser->pages);
    unknown = !browser->terminal;
    free(browser);
    return unknown ? verb_complain(STATUS_UNUSABLE,
                                   "unknown terminal type: set TERM, or use another command")
                   : STATUS_GOOD;
}
