/* draw.c - draws the screen; see screen.h. */
#include "top/screen.h"

#include <curses.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"

#define LINE_BYTES 8192
#define HEAD_LINES 4 /* title, totals, bars, head of the table */
#define BARS_MOST 400

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Replaces each character that is not ASCII by one byte. */
static void make_ascii(char *text)
{
    char *to = text;

    for (; *text; text++)
        if ((unsigned char)*text < 0x80)
            *to++ = *text;
        else if ((unsigned char)*text >= 0xc0)
            *to++ = '~';
    *to = 0;
}

static void put_line(const struct screen *screen, int line, attr_t attributes, const char *text)
{
    struct term_text shown = term_text(text, strlen(text), (size_t)COLS);

    if (!screen->utf8)
        make_ascii(shown.text);
    move(line, 0);
    clrtoeol();
    attrset(attributes);
    addstr(shown.text);
    if (attributes & A_REVERSE)
        for (size_t i = shown.columns; i < (size_t)COLS; i++)
            addch(' ');
    attrset(A_NORMAL);
}

/* A line of the screen, which is written to a stream. */
struct line_buffer {
    char text[LINE_BYTES];
    FILE *stream;
};

static FILE *line_begin(struct line_buffer *line)
{
    line->text[0] = 0;
    return line->stream = fmemopen(line->text, sizeof(line->text), "w");
}

static void line_put(const struct screen *screen, struct line_buffer *line, int at,
                     attr_t attributes)
{
    fclose(line->stream);
    line->text[sizeof(line->text) - 1] = 0;
    put_line(screen, at, attributes, line->text);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

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

/* ---- The parts ------------------------------------------------------------------------------- */

/* The columns cover the time from the start of the process to now in equal steps, whatever the
 * times of the history: each shows the last value up to its time. */
static void draw_bars(const struct screen *screen, int line)
{
    const struct heap_snapshot *snapshot = screen->snapshot;
    uint64_t values[BARS_MOST], span = snapshot->time_ns - snapshot->started_ns;
    char bars[3 * BARS_MOST + 1], text[LINE_BYTES];
    size_t width = COLS > 6 + BARS_MOST ? BARS_MOST : COLS > 7 ? (size_t)COLS - 6 : 1, at = 0;

    for (size_t i = 0; i < width; i++) {
        double until =
            (double)snapshot->started_ns + (double)span * (double)(i + 1) / (double)width;

        while (at < snapshot->history_count && (double)snapshot->history[at].time_ns <= until)
            at++;
        values[i] = at ? snapshot->history[at - 1].bytes : 0;
    }
    values[width - 1] = snapshot->total.bytes;
    cell_bars(values, width, screen->utf8, bars);
    snprintf(text, sizeof(text), "heap  %s", bars);
    put_line(screen, line, A_NORMAL, text);
}

static void draw_head(const struct screen *screen)
{
    struct line_buffer line;

    listing_write_title(screen->snapshot, line_begin(&line));
    line_put(screen, &line, 0, A_BOLD);
    listing_write_totals(screen->snapshot, active_mark(screen), line_begin(&line));
    line_put(screen, &line, 1, A_NORMAL);
    draw_bars(screen, 2);
    listing_write_header((size_t)COLS, active_mark(screen), line_begin(&line));
    line_put(screen, &line, 3, A_UNDERLINE);
}

static size_t pane_lines(const struct screen *screen)
{
    size_t below = LINES > HEAD_LINES + 1 ? (size_t)LINES - HEAD_LINES - 1 : 0;

    return screen->expanded && screen->count ? below * 3 / 5 : 0;
}

size_t screen_table_lines(const struct screen *screen)
{
    size_t below = LINES > HEAD_LINES + 1 ? (size_t)LINES - HEAD_LINES - 1 : 0;

    return below - pane_lines(screen);
}

static void draw_table(struct screen *screen)
{
    size_t lines = screen_table_lines(screen), selected = screen_selected_place(screen);
    struct line_buffer line;

    if (selected < screen->first)
        screen->first = selected;
    if (lines && selected >= screen->first + lines)
        screen->first = selected - lines + 1;
    for (size_t i = 0; i < lines; i++) {
        size_t row = screen->first + i;
        const struct growth *growth;

        if (row >= screen->count) {
            put_line(screen, HEAD_LINES + (int)i, A_NORMAL,
                     screen->count || i ? "" : "no site matches");
            continue;
        }
        growth = screen->snapshot->rows[screen->rows[row]].growth;
        listing_write_row(screen->snapshot, screen->rows[row], active_mark(screen), (size_t)COLS,
                          line_begin(&line));
        line_put(screen, &line, HEAD_LINES + (int)i,
                 (row == selected ? A_REVERSE : A_NORMAL) |
                     (growth && growth_is_growing(growth->verdict) ? A_BOLD : A_NORMAL));
    }
}

static void draw_pane(const struct screen *screen)
{
    size_t lines = pane_lines(screen);
    int at = HEAD_LINES + (int)screen_table_lines(screen), end = at + (int)lines;
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
    put_line(screen, at++, A_UNDERLINE, "");
    mvhline(at - 1, 0, '-', COLS);
    for (rest = text; at < end; at++) {
        one = strsep(&rest, "\n");
        put_line(screen, at, one && *one == '>' ? A_BOLD : A_NORMAL, one ? one : "");
    }
    free(text);
}

static void draw_help(const struct screen *screen)
{
    static const char *const other[] = {
        "/  filter: part of a function, file or module; Esc clears it",
        "space  freeze or resume",
        "Enter  growth, source and stack of the selected site; Up and Down select",
        "m  mark: the delta column counts from now; M clears the mark",
        "L  leak check now   w  write a report to a file",
        "?  this help",
        "q  quit",
    };
    int line = HEAD_LINES;
    char text[LINE_BYTES];

    for (int i = 0; i < ORDER_MAX; i++) {
        snprintf(text, sizeof(text), "%c  sort by %s: %s", order_key[i], order_word[i],
                 order_help[i]);
        put_line(screen, line++, A_NORMAL, text);
    }
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        put_line(screen, line++, A_NORMAL, other[i]);
    for (; line < LINES - 1; line++)
        put_line(screen, line, A_NORMAL, "");
}

static void draw_foot(const struct screen *screen)
{
    char text[LINE_BYTES], why[256];

    if (screen->typing) {
        snprintf(text, sizeof(text), "filter: %s_", screen->filter);
    } else if (screen->failure.code != ERROR_NONE) {
        read_error_text(&screen->failure, why, sizeof(why));
        snprintf(text, sizeof(text), "ended: last snapshot; the recording file %s   q quit", why);
    } else if (*screen->request.text) {
        snprintf(text, sizeof(text), "%s", screen->request.text);
    } else {
        snprintf(
            text, sizeof(text),
            "%ssort: %s%s%s   bndafg sort  / filter  m mark  L check  Enter stack  ? help  q quit",
            screen->frozen ? "FROZEN  " : "", order_word[screen->ordering.order],
            *screen->filter ? "  filter: " : "", screen->filter);
    }
    put_line(screen, LINES - 1, A_REVERSE, text);
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
        }
    } else {
        put_line(screen, 0, A_NORMAL, "reading the recording file and its symbols ...");
    }
    draw_foot(screen);
    refresh();
}
