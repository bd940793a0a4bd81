/* draw.c - see draw.h. */
#include "top/draw.h"

#include <curses.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "top/cells.h"
#include "top/lines.h"
#include "top/pane.h"

#define LINE_BYTES 8192
#define HEAD_LINES 4 /* title, totals, bars, head of the table */
#define BARS_MOST 400

/* ---- Lines ----------------------------------------------------------------------------------- */

/* One byte for each character that is not ASCII. */
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

/* A line that is written to a stream. */
struct line {
    char text[LINE_BYTES];
    FILE *stream;
};

static FILE *line_begin(struct line *line)
{
    line->text[0] = 0;
    return line->stream = fmemopen(line->text, sizeof(line->text), "w");
}

static void line_put(const struct screen *screen, struct line *line, int at, attr_t attributes)
{
    fclose(line->stream);
    line->text[sizeof(line->text) - 1] = 0;
    put_line(screen, at, attributes, line->text);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static const struct account *mark_of(const struct screen *screen)
{
    return screen->mark.at ? &screen->mark : NULL;
}

void draw_arrange(struct screen *screen)
{
    free(screen->rows);
    screen->rows = NULL;
    screen->count = 0;
    screen->ordering.mark = mark_of(screen);
    if (screen->glance)
        screen->rows = order_rows(screen->glance, &screen->ordering, &screen->count);
}

size_t draw_place_of_chosen(const struct screen *screen)
{
    for (size_t i = 0; i < screen->count; i++)
        if (screen->rows[i] == screen->chosen)
            return i;
    return 0;
}

/* ---- The parts ------------------------------------------------------------------------------- */

/* From the start of the process to now, however the points lie: each column is what was there by
 * then. */
static void draw_bars(const struct screen *screen, int line)
{
    const struct glance *glance = screen->glance;
    uint64_t values[BARS_MOST], span = glance->time_ns - glance->started_ns;
    char bars[3 * BARS_MOST + 1], text[LINE_BYTES];
    size_t width = COLS > 6 + BARS_MOST ? BARS_MOST : COLS > 7 ? (size_t)COLS - 6 : 1, at = 0;

    for (size_t i = 0; i < width; i++) {
        double until = (double)glance->started_ns + (double)span * (double)(i + 1) / (double)width;

        while (at < glance->history_count && (double)glance->history[at].time_ns <= until)
            at++;
        values[i] = at ? glance->history[at - 1].bytes : 0;
    }
    values[width - 1] = glance->total.bytes;
    cell_bars(values, width, screen->utf8, bars);
    snprintf(text, sizeof(text), "heap  %s", bars);
    put_line(screen, line, A_NORMAL, text);
}

static void draw_head(const struct screen *screen)
{
    struct line line;

    lines_title(screen->glance, line_begin(&line));
    line_put(screen, &line, 0, A_BOLD);
    lines_totals(screen->glance, mark_of(screen), line_begin(&line));
    line_put(screen, &line, 1, A_NORMAL);
    draw_bars(screen, 2);
    lines_head((size_t)COLS, mark_of(screen), line_begin(&line));
    line_put(screen, &line, 3, A_UNDERLINE);
}

static size_t pane_lines(const struct screen *screen)
{
    size_t below = LINES > HEAD_LINES + 1 ? (size_t)LINES - HEAD_LINES - 1 : 0;

    return screen->expanded && screen->count ? below * 3 / 5 : 0;
}

size_t draw_table_lines(const struct screen *screen)
{
    size_t below = LINES > HEAD_LINES + 1 ? (size_t)LINES - HEAD_LINES - 1 : 0;

    return below - pane_lines(screen);
}

static void draw_table(struct screen *screen)
{
    size_t lines = draw_table_lines(screen), chosen = draw_place_of_chosen(screen);
    struct line line;

    if (chosen < screen->first)
        screen->first = chosen;
    if (lines && chosen >= screen->first + lines)
        screen->first = chosen - lines + 1;
    for (size_t i = 0; i < lines; i++) {
        size_t row = screen->first + i;
        const struct growth *growth;

        if (row >= screen->count) {
            put_line(screen, HEAD_LINES + (int)i, A_NORMAL,
                     screen->count || i ? "" : "no site fits");
            continue;
        }
        growth = screen->glance->rows[screen->rows[row]].growth;
        lines_row(screen->glance, screen->rows[row], mark_of(screen), (size_t)COLS,
                  line_begin(&line));
        line_put(screen, &line, HEAD_LINES + (int)i,
                 (row == chosen ? A_REVERSE : A_NORMAL) |
                     (growth && growth_is_growing(growth->verdict) ? A_BOLD : A_NORMAL));
    }
}

static void draw_pane(const struct screen *screen)
{
    size_t lines = pane_lines(screen);
    int at = HEAD_LINES + (int)draw_table_lines(screen), end = at + (int)lines;
    char *text = NULL, *rest, *one;
    size_t size;
    FILE *stream;

    if (!lines || !(stream = open_memstream(&text, &size)))
        return;
    pane_write(&screen->glance->rows[screen->rows[draw_place_of_chosen(screen)]], lines - 1,
               (size_t)COLS, stream);
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
        "/  filter: part of a function, file or module; Esc takes it away",
        "space  freeze, and go on",
        "Enter  how the chosen site grew, its source and its stack; Up and Down choose",
        "m  mark: the column counts from here; M takes the mark away",
        "L  a look at the heap now: what is lost   w  a report into a file",
        "?  this list",
        "q  end",
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
    } else if (screen->gone.code != ERROR_NONE) {
        read_error_text(&screen->gone, why, sizeof(why));
        snprintf(text, sizeof(text), "ended: this was seen last; the store %s   q end", why);
    } else if (*screen->wish.words) {
        snprintf(text, sizeof(text), "%s", screen->wish.words);
    } else {
        snprintf(
            text, sizeof(text),
            "%ssort: %s%s%s   bndafg sort  / filter  m mark  L look  Enter stack  ? help  q end",
            screen->frozen ? "FROZEN  " : "", order_word[screen->ordering.order],
            *screen->filter ? "  filter: " : "", screen->filter);
    }
    put_line(screen, LINES - 1, A_REVERSE, text);
}

void draw(struct screen *screen)
{
    if (screen->glance) {
        draw_head(screen);
        if (screen->help) {
            draw_help(screen);
        } else {
            draw_table(screen);
            draw_pane(screen);
        }
    } else {
        put_line(screen, 0, A_NORMAL, "reading the store, and looking up names ...");
    }
    draw_foot(screen);
    refresh();
}
