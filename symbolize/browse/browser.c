/* browser.c - draws the screen of `leakreport browse` and handles the keys that all tabs have;
 * described in browser.h.
 */
#include "symbolize/browse/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/term_text.h"
#include "symbolize/text/text.h"

static const struct browse_tab *const browse_tabs[TAB_MAX] = {
    [TAB_RECORDS] = &browse_records, [TAB_TREE] = &browse_tree,     [TAB_CALLERS] = &browse_callers,
    [TAB_OWNERS] = &browse_owners,   [TAB_GROWTH] = &browse_growth, [TAB_SUMS] = &browse_sums,
    [TAB_ERRORS] = &browse_errors,
};

#define HEAD_LINES 3 /* lines above the list: title, tabs, heading of the list */
#define WIDE 150 /* from this number of columns on, the pane is beside the list and not below it */

static const struct browse_tab *tab_of(const struct browser *browser)
{
    return browse_tabs[browser->tab];
}

static struct terminal_list *list_of(struct browser *browser)
{
    return &browser->lists[browser->tab];
}

/* ---- Rows of the list ------------------------------------------------------------------------ */

void browser_add_row(struct browser *browser, size_t index, size_t depth)
{
    browser->rows =
        array_grow(browser->rows, &browser->capacity, browser->count + 1, sizeof(*browser->rows));
    browser->rows[browser->count++] = (struct browse_row){index, depth};
}

bool browser_is_filtered(const struct browser *browser)
{
    return *browser->filter.text;
}

void browser_add_match(struct browser *browser, size_t index)
{
    browser_add_row(browser, index, 0);
    if (browser_is_filtered(browser) &&
        !tab_of(browser)->matches(browser, browser->count - 1, browser->filter.text))
        browser->count--;
}

void browser_refill(struct browser *browser)
{
    struct terminal_list *list = list_of(browser);

    browser->count = 0;
    tab_of(browser)->fill(browser);
    list->count = browser->count;
    terminal_list_select(list, list->selected);
}

static void set_verdicts(struct browser *browser)
{
    for (int v = 0; v < VERDICT_MAX; v++)
        browser->view.show[v] = browser->all_verdicts || browser->default_show[v];
    browse_trees_forget(browser);
}

static void show_tab(struct browser *browser, enum browse_tab_id tab)
{
    browser->tab = tab;
    browser->mode = MODE_LIST;
}

static void show_process(struct browser *browser, size_t process)
{
    browser->process = process;
    for (int i = 0; i < TAB_MAX; i++)
        browser->lists[i] = (struct terminal_list){0};
}

/* ---- Areas of the screen --------------------------------------------------------------------- */

struct area {
    int top, left, lines, columns;
};

static struct area list_area(const struct browser *browser)
{
    struct area area = {HEAD_LINES, 0, LINES - HEAD_LINES - 1, COLS};

    (void)browser;
    if (area.lines < 1)
        area.lines = 1;
    if (COLS >= WIDE)
        area.columns = COLS / 2;
    else if (area.lines > 6)
        area.lines = (area.lines - 1) / 2;
    return area;
}

static struct area pane_area(const struct browser *browser)
{
    struct area list = list_area(browser);

    if (COLS >= WIDE)
        return (struct area){HEAD_LINES, list.columns + 1, list.lines, COLS - list.columns - 1};
    return (struct area){list.top + list.lines + 1, 0, LINES - 1 - (list.top + list.lines + 1),
                         COLS};
}

static void put_blanks(const struct browser *browser, int line, int column, int columns,
                       enum terminal_style style)
{
    char blanks[512];
    int count = columns < (int)sizeof(blanks) ? columns : (int)sizeof(blanks) - 1;

    if (count <= 0)
        return;
    memset(blanks, ' ', (size_t)count);
    blanks[count] = 0;
    terminal_put(browser->terminal, line, column, columns, style, false, blanks);
}

/* Writes a text in one line of an area, and blanks the rest of the line. */
static void put_in_area(const struct browser *browser, const struct area *area, int line,
                        enum terminal_style style, const char *text)
{
    int end = terminal_put(browser->terminal, area->top + line, area->left, area->columns, style,
                           false, text);

    put_blanks(browser, area->top + line, end, area->left + area->columns - end, style);
}

/* Writes the lines of a text in an area, beginning with line number `first`. A line that begins
 * with ">" is highlighted: it is the source line of a frame. */
static void put_text(const struct browser *browser, const struct area *area, const char *text,
                     size_t first)
{
    char line[4096];

    for (int i = 0; i < area->lines; first ? (void)first-- : (void)i++) {
        size_t length = strcspn(text, "\n");

        snprintf(line, sizeof(line), "%.*s", (int)length, text);
        if (!first)
            put_in_area(browser, area, i,
                        *line == '>'            ? STYLE_OF_MATCH
                        : strstr(line, "   | ") ? STYLE_OF_NAME
                                                : STYLE_OF_PLAIN,
                        line);
        text += length + (text[length] == '\n');
    }
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* ---- Drawing the parts of the screen --------------------------------------------------------- */

static void draw_title(const struct browser *browser)
{
    struct terminal_buffer line;
    FILE *stream = terminal_buffer_begin(&line);
    char *at;

    if (browser->report->process_count > 1)
        fprintf(stream, "%zu/%zu ", browser->process + 1, browser->report->process_count);
    text_headline(browser_process(browser), false, NULL, &browser->view, stream);
    terminal_buffer_end(&line);
    while ((at = strchr(line.text, '\n')))
        *at = at[1] ? ' ' : 0;
    terminal_put_line(browser->terminal, 0, STYLE_OF_TITLE, line.text);
}

static void draw_tabs(struct browser *browser)
{
    int column = 0;
    char text[64];

    terminal_put_line(browser->terminal, 1, STYLE_OF_PLAIN, "");
    for (int i = 0; i < TAB_MAX; i++) {
        bool current = i == (int)browser->tab;

        snprintf(text, sizeof(text), " %d %s ", i + 1,
                 i == TAB_SUMS ? group_by_word[browser->view.by] : browse_tabs[i]->name);
        column = terminal_put(browser->terminal, 1, column, COLS,
                              current ? STYLE_OF_TITLE : STYLE_OF_NAME, current, text);
        browser->tab_ends[i] = column;
    }
}

static void draw_list(struct browser *browser)
{
    const struct browse_tab *tab = tab_of(browser);
    struct terminal_list *list = list_of(browser);
    struct area area = list_area(browser);
    struct terminal_buffer line;

    tab->write_heading(browser, terminal_buffer_begin(&line));
    terminal_put_line(browser->terminal, HEAD_LINES - 1, STYLE_OF_HEADING,
                      terminal_buffer_end(&line));
    terminal_list_place(list, area.top, area.lines, browser->count);
    for (int i = 0; i < area.lines; i++) {
        size_t row = list->first + (size_t)i;

        if (row >= browser->count) {
            put_in_area(browser, &area, i, STYLE_OF_FAINT,
                        i || browser->count            ? ""
                        : browser_is_filtered(browser) ? "Nothing matches. Esc: show all again."
                                                       : tab->empty);
            continue;
        }
        tab->write_row(browser, row, (size_t)area.columns, terminal_buffer_begin(&line));
        put_in_area(browser, &area, i,
                    row == list->selected ? STYLE_OF_SELECTED
                    : tab->style_row      ? tab->style_row(browser, row)
                                          : STYLE_OF_PLAIN,
                    terminal_buffer_end(&line));
    }
}

/* Returns the details of the selected row as a text; the caller frees it. */
static char *make_details(struct browser *browser, const struct area *area)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    browser->pane_lines = area->lines > 0 ? (size_t)area->lines : 0;
    browser->view.columns = area->columns > TEXT_COLUMNS ? (size_t)area->columns : 0;
    if (browser->count)
        tab_of(browser)->write_details(browser, list_of(browser)->selected, stream);
    fclose(stream);
    return text;
}

static void draw_border(const struct browser *browser, const struct area *pane)
{
    if (COLS < WIDE)
        mvhline(pane->top - 1, 0, ACS_HLINE, COLS);
    else
        mvvline(pane->top, pane->left - 1, ACS_VLINE, pane->lines);
    (void)browser;
}

static void draw_pane(struct browser *browser)
{
    struct area pane = pane_area(browser);
    char *text = make_details(browser, &pane);
    size_t lines = text ? count_lines(text) : 0, shown = pane.lines > 0 ? (size_t)pane.lines : 0;

    if (browser->pane_first + shown > lines)
        browser->pane_first = lines > shown ? lines - shown : 0;
    if (text && shown) {
        draw_border(browser, &pane);
        put_text(browser, &pane, text, browser->pane_first);
    }
    free(text);
}

/* Draws the frames of a stack, and the source of the selected frame. */
static void draw_stack(struct browser *browser)
{
    struct area area = list_area(browser), pane = pane_area(browser);
    struct terminal_list *list = &browser->frames;
    struct terminal_buffer line;
    char *text = NULL;
    size_t size;
    FILE *stream;

    terminal_put_line(browser->terminal, HEAD_LINES - 1, STYLE_OF_HEADING,
                      "CALL STACK, INNERMOST FIRST");
    terminal_list_place(list, area.top, area.lines, browser->stack.count);
    for (int i = 0; i < area.lines; i++) {
        size_t at = list->first + (size_t)i;

        if (at >= browser->stack.count) {
            put_in_area(browser, &area, i, STYLE_OF_PLAIN, "");
            continue;
        }
        browse_write_frame(browser, browser->stack.frames[at], (size_t)area.columns,
                           terminal_buffer_begin(&line));
        put_in_area(browser, &area, i,
                    at == list->selected                            ? STYLE_OF_SELECTED
                    : frame_is_user_code(browser->stack.frames[at]) ? STYLE_OF_NAME
                                                                    : STYLE_OF_FAINT,
                    terminal_buffer_end(&line));
    }
    draw_border(browser, &pane);
    if (!browser->stack.count || pane.lines < 1 || !(stream = open_memstream(&text, &size)))
        return;
    browse_write_source(browser, browser->stack.frames[list->selected], (size_t)pane.lines, stream);
    fclose(stream);
    put_text(browser, &pane, text, 0);
    free(text);
}

/* Draws the details of the selected row on the whole screen. */
static void draw_text(struct browser *browser)
{
    struct area area = {HEAD_LINES, 0, LINES - HEAD_LINES - 1, COLS};
    char *text = make_details(browser, &area);
    size_t lines = text ? count_lines(text) : 0;

    terminal_put_line(browser->terminal, HEAD_LINES - 1, STYLE_OF_HEADING, "DETAILS");
    browser->text.top = area.top;
    browser->text.lines = area.lines;
    browser->text.count = lines > (size_t)area.lines ? lines - (size_t)area.lines + 1 : 1;
    terminal_list_select(&browser->text, browser->text.selected);
    if (text)
        put_text(browser, &area, text, browser->text.selected);
    free(text);
}

static const struct terminal_key help_keys[] = {
    {0, "1 to 7", "the tabs; Tab and Shift-Tab: next and previous; or click"},
    {0, "Up Down", "select a row; page keys, Home, End, j, k, wheel, click"},
    {0, "Enter", "the row's stack with its source; in trees: open, close"},
    {0, "Left", "in trees: close, or go to the caller; Right: open; *: open all below"},
    {0, "d", "the details of the row on the whole screen"},
    {0, "[ ]", "scroll the pane with the details"},
    {0, "/", "search, also in stacks and closed calls; n, N: next, previous"},
    {0, "f", "filter: only what has this text"},
    {0, "Esc", "back; then: without the filter"},
    {0, "a", "all verdicts, also what is reachable; all trends"},
    {0, "s", "records: sort by releases, bytes, blocks, age, growth"},
    {0, "w", "trees: another weight: leaked, live, peak, allocated ..."},
    {0, "b", "tab 6: sums by another key: function, file, thread ..."},
    {0, "p P", "next, previous process"},
    {0, "?", "this help"},
    {0, "q", "quit"},
    {0}};

static void draw_foot(struct browser *browser)
{
    static const struct terminal_key first[] = {{'q', "q", "quit"}, {'?', "?", "help"}, {0}};
    static const struct terminal_key last[] = {{'/', "/", "search"},
                                               {'f', "f", "filter"},
                                               {'d', "d", "details"},
                                               {'\t', "Tab", "next list"},
                                               {0}};
    static const struct terminal_key back[] = {
        {'q', "q", "quit"}, {KEY_ESCAPE, "Esc", "back"}, {0}};
    struct terminal_key keys[24];
    char text[sizeof(browser->message) + 8];
    size_t count = 0;
    const struct terminal_key *const lists[] = {first, tab_of(browser)->keys, last};
    const struct terminal_input *input =
        browser->filter.label ? &browser->filter : &browser->search;

    for (size_t i = 0; i < 3; i++)
        for (const struct terminal_key *key = lists[i]; key->name && count + 1 < 24; key++)
            if (i != 2 || key->key != 'd' || browser->tab != TAB_OWNERS)
                keys[count++] = *key;
    keys[count] = (struct terminal_key){0};
    snprintf(text, sizeof(text), "%s%.100s",
             !*browser->message && browser_is_filtered(browser) ? "only: " : "",
             *browser->message ? browser->message : browser->filter.text);
    terminal_put_foot(browser->terminal, LINES - 1, text, input,
                      browser->mode == MODE_LIST ? keys : back);
}

static void draw(struct browser *browser)
{
    erase();
    draw_title(browser);
    draw_tabs(browser);
    switch (browser->mode) {
    case MODE_LIST:
        draw_list(browser);
        draw_pane(browser);
        break;
    case MODE_STACK:
        draw_stack(browser);
        break;
    case MODE_TEXT:
        draw_text(browser);
        break;
    case MODE_HELP:
        terminal_put_line(browser->terminal, HEAD_LINES - 1, STYLE_OF_HEADING, "KEYS");
        terminal_put_keys(browser->terminal, HEAD_LINES, LINES - HEAD_LINES - 1, help_keys);
        break;
    }
    draw_foot(browser);
    refresh();
}

/* ---- Searching in the list ------------------------------------------------------------------- */

/* Selects the next row that has the searched text. step: 1 or -1 goes forwards or backwards from
 * the selected row, 0 begins with the selected row. False: no row has the text. */
static bool find_row(struct browser *browser, int step)
{
    struct terminal_list *list = list_of(browser);

    for (size_t i = step ? 1 : 0; i <= browser->count && browser->count; i++) {
        size_t row = (list->selected + (step < 0 ? 2 * browser->count - i : i)) % browser->count;

        if (tab_of(browser)->matches(browser, row, browser->search.text)) {
            terminal_list_select(list, row);
            return true;
        }
    }
    return false;
}

static void search(struct browser *browser, int step)
{
    bool tree = browser->tab == TAB_TREE || browser->tab == TAB_CALLERS;

    if (!*browser->search.text)
        return;
    browser->pane_first = 0;
    if (!(tree ? browse_tree_search : find_row)(browser, step))
        snprintf(browser->message, sizeof(browser->message), "%.80s: not found",
                 browser->search.text);
}

/* ---- Handling keys in the list, in a stack and in a text ------------------------------------- */

static void open_stack(struct browser *browser)
{
    const struct browse_tab *tab = tab_of(browser);
    size_t user;

    if (!browser->count)
        return;
    browser->stack =
        tab->stack_of ? tab->stack_of(browser, list_of(browser)->selected) : (struct stack){0};
    if (!browser->stack.count) {
        browser->mode = MODE_TEXT;
        browser->text.selected = 0;
        return;
    }
    user = frame_first_user(browser->stack.frames, browser->stack.count);
    browser->mode = MODE_STACK;
    browser->frames = (struct terminal_list){.count = browser->stack.count};
    terminal_list_select(&browser->frames, user < browser->stack.count ? user : 0);
}

static void go_back(struct browser *browser)
{
    if (browser->mode == MODE_LIST)
        browser->filter.text[0] = 0;
    browser->mode = MODE_LIST;
}

static bool click_tab(struct browser *browser, int key)
{
    if (key != KEY_MOUSE || browser->terminal->mouse_line != 1)
        return false;
    for (int i = 0; i < TAB_MAX; i++)
        if (browser->terminal->mouse_column < browser->tab_ends[i]) {
            show_tab(browser, (enum browse_tab_id)i);
            break;
        }
    return true;
}

/* Handles the keys that have the same meaning in all modes. False: it is another key. */
static bool handle_common_key(struct browser *browser, int key)
{
    size_t processes = browser->report->process_count;

    if (key >= '1' && key < '1' + TAB_MAX) {
        show_tab(browser, (enum browse_tab_id)(key - '1'));
        return true;
    }
    switch (key) {
    case 'q':
        browser->leave = true;
        return true;
    case '?':
    case 'h':
        browser->mode = browser->mode == MODE_HELP ? MODE_LIST : MODE_HELP;
        return true;
    case KEY_ESCAPE:
    case KEY_BACKSPACE:
        go_back(browser);
        return true;
    case '\t':
        show_tab(browser, (browser->tab + 1) % TAB_MAX);
        return true;
    case KEY_BTAB:
        show_tab(browser, (browser->tab + TAB_MAX - 1) % TAB_MAX);
        return true;
    case 'p':
    case 'P':
        show_process(browser, (browser->process + (key == 'p' ? 1 : processes - 1)) % processes);
        return true;
    default:
        return click_tab(browser, key);
    }
}

static void scroll_pane(struct browser *browser, int key)
{
    if (key == ']')
        browser->pane_first++;
    else if (browser->pane_first)
        browser->pane_first--;
}

static void handle_list_key(struct browser *browser, int key)
{
    const struct browse_tab *tab = tab_of(browser);
    bool opened = false;
    size_t before = list_of(browser)->selected;

    if (tab->handle_key && browser->count && tab->handle_key(browser, key))
        return;
    switch (key) {
    case '\n':
        open_stack(browser);
        return;
    case 'd':
        browser->mode = browser->count ? MODE_TEXT : MODE_LIST;
        browser->text.selected = 0;
        return;
    case '/':
        browser->search.text[0] = 0;
        terminal_input_begin(&browser->search, "search");
        return;
    case 'f':
        terminal_input_begin(&browser->filter, "only");
        return;
    case 'n':
    case 'N':
        search(browser, key == 'n' ? 1 : -1);
        return;
    case 'a':
        browser->all_verdicts = !browser->all_verdicts;
        set_verdicts(browser);
        return;
    case '[':
    case ']':
        scroll_pane(browser, key);
        return;
    default:
        break;
    }
    if (key == KEY_MOUSE && browser->terminal->mouse_column >= list_area(browser).columns)
        return;
    browser->unchanged =
        terminal_list_handle_key(list_of(browser), browser->terminal, key, &opened);
    if (list_of(browser)->selected != before)
        browser->pane_first = 0;
    browser->unchanged &= !opened;
    if (opened && !(tab->handle_key && tab->handle_key(browser, '\n')))
        open_stack(browser);
}

static void handle_key(struct browser *browser, int key)
{
    browser->message[0] = 0;
    if (browser->filter.label) {
        terminal_input_handle_key(&browser->filter, key);
        return;
    }
    if (browser->search.label) {
        terminal_input_handle_key(&browser->search, key);
        search(browser, 0);
        return;
    }
    if (handle_common_key(browser, key))
        return;
    switch (browser->mode) {
    case MODE_LIST:
        handle_list_key(browser, key);
        break;
    case MODE_STACK:
        terminal_list_handle_key(&browser->frames, browser->terminal, key, NULL);
        break;
    case MODE_TEXT:
        terminal_list_handle_key(&browser->text, browser->terminal, key, NULL);
        break;
    case MODE_HELP:
        break;
    }
}

/* ---- The loop that waits for keys ------------------------------------------------------------ */

/* Waits for a key. False: the terminal was closed. A signal counts as a key, because the size of
 * the terminal may have changed. */
static bool wait_for_key(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&input, 1, -1) < 0 || !(input.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void run(struct browser *browser)
{
    int key;

    browser_refill(browser);
    while (!browser->leave) {
        draw(browser);
        if (!wait_for_key())
            return;
        while (!browser->leave && (key = terminal_read_key(browser->terminal)) != ERR) {
            browser->unchanged = false;
            handle_key(browser, key);
            if (!browser->unchanged)
                browser_refill(browser);
        }
    }
}

/* Makes the standard streams a terminal: they are one already, or are replaced by the controlling
 * terminal. False: there is no terminal. */
static bool take_terminal(void)
{
    int fd;

    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        return true;
    if (!isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO))
        return false; /* a program reads the output, so there is no user at a terminal */
    fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    dup2(fd, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    return true;
}

static bool terminal_is_missing(const char *why)
{
    fprintf(stderr, "leakreport: there is nothing to browse on: %s; here is the text report\n",
            why);
    return false;
}

bool browse_run(const struct report *report, const struct view *view)
{
    struct browser browser = {.report = report, .view = *view};
    const char *term = getenv("TERM");

    if (!take_terminal())
        return terminal_is_missing("the output is no terminal");
    if (term && strcmp(term, "dumb") == 0)
        return terminal_is_missing("TERM is dumb");
    browser.terminal = terminal_begin();
    if (!browser.terminal)
        return terminal_is_missing("the type of terminal is unknown (TERM)");
    browser.view.colour = browser.view.links = false;
    browser.view.apart = true;
    browser.view.top = 0;
    browser.view.relative = view->full_names || view->no_source ? NULL : getcwd(NULL, 0);
    browser.view.by = BY_TYPE;
    memcpy(browser.default_show, view->show, sizeof(browser.default_show));
    set_verdicts(&browser);
    run(&browser);
    terminal_end(browser.terminal);
    browse_trees_forget(&browser);
    if (browser.sums.mem)
        group_by_end(&browser.sums);
    free(browser.rows);
    free((char *)browser.view.relative);
    return true;
}
