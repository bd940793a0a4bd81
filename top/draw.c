/* draw.c - draws the screen; described in screen.h. */
#include "top/screen.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"

#define LINE_BYTES 8192
#define HEAD_LINES 4 /* lines above the table: title, totals, bars, headings of the table */
#define BARS_MOST 400

/* ---- The rows of the table ------------------------------------------------------------------- */

static const struct counter_baseline *active_mark(const struct screen *screen)
{
    return screen->mark.at ? &screen->mark : NULL;
}

void screen_sort_rows(struct screen *screen)
{
    free(screen->rows);
    screen->rows = NULL;
    screen->count = 0;
    screen->ordering.mark = active_mark(screen);
    if (screen->snapshot)
        screen->rows = order_rows(screen->snapshot, &screen->ordering, &screen->count);
}

size_t screen_selected_place(const struct screen *screen)
{
    for (size_t i = 0; i < screen->count; i++)
        if (screen->rows[i] == screen->selected)
            return i;
    return 0;
}

/* ---- The parts of the screen ----------------------------------------------------------------- */

/* Writes the heap over time as `width` bars, from the start of the process until now in equal
 * steps. Each bar shows the last recorded value up to its time. */
static void write_bars(const struct screen *screen, size_t width, char *bars)
{
    const struct heap_snapshot *snapshot = screen->snapshot;
    uint64_t values[BARS_MOST], span = snapshot->time_ns - snapshot->started_ns;
    size_t at = 0;

    for (size_t i = 0; i < width; i++) {
        double until =
            (double)snapshot->started_ns + (double)span * (double)(i + 1) / (double)width;

        while (at < snapshot->history_count && (double)snapshot->history[at].time_ns <= until)
            at++;
        values[i] = at ? snapshot->history[at - 1].bytes : 0;
    }
    values[width - 1] = snapshot->total.bytes;
    cell_bars(values, width, screen->terminal->utf8, bars);
}

static uint64_t largest_moment(const struct heap_snapshot *snapshot)
{
    uint64_t most = snapshot->total.bytes;

    for (size_t i = 0; i < snapshot->history_count; i++)
        most = snapshot->history[i].bytes > most ? snapshot->history[i].bytes : most;
    return most;
}

/* Draws the line "heap, 0 to 13.4 MB in 14s: ____====####". */
static void draw_bars(const struct screen *screen, int line)
{
    const struct heap_snapshot *snapshot = screen->snapshot;
    char scale[64], bytes[CELL_SIZE], span[CELL_SIZE], bars[3 * BARS_MOST + 1], text[LINE_BYTES];
    size_t used = (size_t)snprintf(
        scale, sizeof(scale), "heap, 0 to %s in %s: ", cell_bytes(largest_moment(snapshot), bytes),
        cell_span(snapshot->time_ns - snapshot->started_ns, span));
    size_t room = (size_t)COLS > used ? (size_t)COLS - used : 1;

    write_bars(screen, room > BARS_MOST ? BARS_MOST : room, bars);
    snprintf(text, sizeof(text), "%s%s", scale, bars);
    terminal_put_line(screen->terminal, line, STYLE_OF_NAME, text);
}

static void draw_head(const struct screen *screen)
{
    struct terminal_buffer line;

    listing_write_title(screen->snapshot, terminal_buffer_begin(&line));
    terminal_put_line(screen->terminal, 0, STYLE_OF_TITLE, terminal_buffer_end(&line));
    listing_write_totals(screen->snapshot, active_mark(screen), terminal_buffer_begin(&line));
    terminal_put_line(screen->terminal, 1, STYLE_OF_PLAIN, terminal_buffer_end(&line));
    draw_bars(screen, 2);
    listing_write_header(screen->snapshot, (size_t)COLS, active_mark(screen),
                         terminal_buffer_begin(&line));
    terminal_put_line(screen->terminal, 3, STYLE_OF_HEADING, terminal_buffer_end(&line));
}

static size_t pane_lines(const struct screen *screen)
{
    size_t below = LINES > HEAD_LINES + 1 ? (size_t)LINES - HEAD_LINES - 1 : 0;

    return screen->expanded && screen->count ? below * 3 / 5 : 0;
}

static int table_lines(const struct screen *screen)
{
    return LINES - HEAD_LINES - 1 - (int)pane_lines(screen);
}

static void draw_row(const struct screen *screen, size_t place, int line)
{
    size_t row = screen->rows[place];
    const struct growth *growth = screen->snapshot->rows[row].growth;
    bool grows = growth && growth_is_growing(growth->verdict);
    bool lost = screen->snapshot->rows[row].lost.blocks;
    struct terminal_buffer text;

    listing_write_row(screen->snapshot, row, active_mark(screen), (size_t)COLS,
                      terminal_buffer_begin(&text));
    terminal_put_line(screen->terminal, line,
                      place == screen->list.selected ? STYLE_OF_SELECTED
                      : lost                         ? STYLE_OF_ALARM
                      : grows                        ? STYLE_OF_WARNING
                                                     : STYLE_OF_PLAIN,
                      terminal_buffer_end(&text));
}

static void draw_table(struct screen *screen)
{
    struct terminal_list *list = &screen->list;

    list->selected = screen_selected_place(screen);
    terminal_list_place(list, HEAD_LINES, table_lines(screen), screen->count);
    for (int i = 0; i < list->lines; i++) {
        size_t place = list->first + (size_t)i;

        if (place < screen->count)
            draw_row(screen, place, HEAD_LINES + i);
        else
            terminal_put_line(screen->terminal, HEAD_LINES + i, STYLE_OF_PLAIN,
                              screen->count || i ? "" : "no site matches");
    }
}

static void draw_pane(const struct screen *screen)
{
    size_t lines = pane_lines(screen);
    int at = HEAD_LINES + table_lines(screen), end = at + (int)lines;
    char *text = NULL, *rest, *one;
    size_t size;
    FILE *stream;

    if (!lines || !(stream = open_memstream(&text, &size)))
        return;
    foreign_file_forget_readers();
    foreign_file_add_reader(screen->snapshot->owner);
    listing_write_details(&screen->snapshot->rows[screen->rows[screen_selected_place(screen)]],
                          lines - 1, (size_t)COLS, stream);
    fclose(stream);
    terminal_put_line(screen->terminal, at++, STYLE_OF_HEADING, "");
    mvhline(at - 1, 0, '-', COLS);
    for (rest = text; at < end; at++) {
        one = strsep(&rest, "\n");
        terminal_put_line(screen->terminal, at, one && *one == '>' ? STYLE_OF_NAME : STYLE_OF_PLAIN,
                          one ? one : "");
    }
    free(text);
}

static const struct terminal_key keys_of_one[] = {
    {'q', "q", "quit"},   {'?', "?", "help"},       {'\n', "Enter", "stack"},
    {'/', "/", "filter"}, {'L', "L", "check"},      {'w', "w", "report"},
    {'m', "m", "mark"},   {' ', "space", "freeze"}, {0}};

/* Writes `count` lines of help from line `line` of the screen on, and empties the lines below them
 * down to the foot. */
static void put_help(const struct terminal *terminal, int line, const char *const *text,
                     size_t count)
{
    for (size_t i = 0; line < LINES - 1; i++)
        terminal_put_line(terminal, line++, STYLE_OF_PLAIN, i < count ? text[i] : "");
}

static void draw_help(const struct screen *screen)
{
    static const char *const other[] = {
        "/  filter: part of a function, file or module; Esc clears it",
        "space  freeze or resume",
        "Enter  growth, source and stack of the selected site; Up and Down select",
        "m  mark: the delta column counts from now; M clears the mark",
        "L  leak check now   w  write a report to a file",
        "Esc  back to the list of processes, if leaktop was started with it",
        "?  this help",
        "q  quit",
    };
    int line = HEAD_LINES;
    char text[LINE_BYTES];

    for (int i = 0; i < ORDER_MAX; i++) {
        snprintf(text, sizeof(text), "%c  sort by %s: %s", order_key[i], order_word[i],
                 order_help[i]);
        terminal_put_line(screen->terminal, line++, STYLE_OF_PLAIN, text);
    }
    put_help(screen->terminal, line, other, sizeof(other) / sizeof(other[0]));
}

/* Writes the message of a request above the foot of the screen, in as many lines as it needs. */
static void put_message(const struct terminal *terminal, const char *text)
{
    size_t length = strlen(text), width = COLS > 1 ? (size_t)COLS : 1;
    int lines = (int)((length + width - 1) / width), at = LINES - 1 - lines;
    char part[LINE_BYTES];

    if (at < 0)
        at = 0;
    for (size_t from = 0; from < length && at < LINES - 1; from += width) {
        snprintf(part, sizeof(part), "%.*s", (int)width, text + from);
        terminal_put_line(terminal, at++, STYLE_OF_GOOD, part);
    }
}

static void draw_foot(const struct screen *screen)
{
    char text[LINE_BYTES], why[256];

    if (screen->failure.code != ERROR_NONE) {
        read_error_text(&screen->failure, why, sizeof(why));
        snprintf(text, sizeof(text), "ended: last snapshot; the recording file %s", why);
    } else {
        snprintf(text, sizeof(text), "%ssort: %s%s%s", screen->frozen ? "FROZEN  " : "",
                 order_word[screen->ordering.order], *screen->filter.text ? "  filter: " : "",
                 screen->filter.text);
    }
    terminal_put_foot(screen->terminal, LINES - 1, text, &screen->filter, keys_of_one);
}

void screen_draw(struct screen *screen)
{
    if (screen->snapshot) {
        draw_head(screen);
        if (screen->help) {
            draw_help(screen);
        } else {
            draw_table(screen);
            draw_pane(screen);
            put_message(screen->terminal, screen->request.text);
        }
    } else {
        terminal_put_line(screen->terminal, 0, STYLE_OF_PLAIN,
                          "reading the recording file and its symbols ...");
    }
    draw_foot(screen);
    refresh();
}

/* ---- The screen of all processes ------------------------------------------------------------- */

static enum terminal_style fleet_row_style(const struct fleet_row *row)
{
    return row->lost_blocks ? STYLE_OF_ALARM : row->growing ? STYLE_OF_WARNING : STYLE_OF_PLAIN;
}

static void draw_fleet_title(const struct fleet_screen *screen)
{
    const struct fleet_rows *rows = screen->rows;
    uint64_t live = 0;
    size_t growing = 0;
    char text[LINE_BYTES];

    for (size_t i = 0; i < rows->count; i++) {
        live = add_saturating(live, rows->at[i].bytes);
        growing += rows->at[i].growing > 0;
    }
    snprintf(text, sizeof(text), "%.64s under libleak: %.64s live, %zu growing",
             term_count(rows->count, "process").text, term_size(live).text, growing);
    terminal_put_line(screen->terminal, 0, STYLE_OF_TITLE, text);
}

static void draw_fleet_rows(struct fleet_screen *screen)
{
    struct terminal_list *list = &screen->list;
    struct terminal_buffer line;

    terminal_list_place(list, 2, LINES - 3, screen->rows->count);
    for (int i = 0; i < list->lines; i++) {
        size_t at = list->first + (size_t)i;

        if (at >= screen->rows->count) {
            terminal_put_line(screen->terminal, 2 + i, STYLE_OF_PLAIN,
                              i || screen->rows->count
                                  ? ""
                                  : "no running process uses libleak; start one with leakrun");
            continue;
        }
        listing_write_fleet_row(&screen->rows->at[at], screen->rows->time_ns, (size_t)COLS,
                                terminal_buffer_begin(&line));
        terminal_put_line(screen->terminal, 2 + i,
                          at == list->selected ? STYLE_OF_SELECTED
                                               : fleet_row_style(&screen->rows->at[at]),
                          terminal_buffer_end(&line));
    }
}

static const char *const fleet_help[] = {
    "LIVE    bytes in blocks that are not freed, and the highest number of them (PEAK)",
    "LOST    bytes that the last leak check found lost; -: there was no leak check",
    "GROW    number of allocation sites that grow; RATE/s: bytes a second of all of them",
    "LOOK    time since the last leak check; RUNS: time since the start",
    "",
    "Up, Down  select a process",
    "Enter  its allocation sites   L  leak check now",
    "?  this help; Esc closes it",
    "q  quit",
};

void fleet_screen_draw(struct fleet_screen *screen)
{
    static const struct terminal_key keys[] = {{'q', "q", "quit"},
                                               {'?', "?", "help"},
                                               {'\n', "Enter", "its allocation sites"},
                                               {'L', "L", "leak check"},
                                               {0}};
    struct terminal_buffer line;

    if (screen->rows) {
        draw_fleet_title(screen);
        listing_write_fleet_header(terminal_buffer_begin(&line));
        terminal_put_line(screen->terminal, 1, STYLE_OF_HEADING, terminal_buffer_end(&line));
        if (screen->help)
            put_help(screen->terminal, 2, fleet_help, sizeof(fleet_help) / sizeof(*fleet_help));
        else
            draw_fleet_rows(screen);
        put_message(screen->terminal, screen->request.text);
    } else {
        terminal_put_line(screen->terminal, 0, STYLE_OF_PLAIN,
                          "reading the recording files and their symbols ...");
    }
    terminal_put_foot(screen->terminal, LINES - 1, "", NULL, keys);
    refresh();
}
