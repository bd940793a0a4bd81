/* screen.c - see screen.h.
 *
 * One loop: draw what there is, wait for a key or for the watcher, whichever comes first. The
 * glance that is shown is ours; while the screen is frozen newer ones wait in `latest`. A row is
 * chosen by its name, so that it stays chosen wherever it goes; before anybody chose, that is the
 * first line.
 */
#include "top/screen.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/show.h"
#include "top/cells.h"
#include "top/pane.h"
#include "top/watcher.h"

#define LINE_BYTES 8192
#define FILTER_SIZE 64
#define NO_NAME SIZE_MAX
#define HEAD_LINES 4 /* title, totals, bars, head of the table */
#define ESCAPE 27
#define BARS_MOST 400

struct screen {
    struct watcher *watcher;
    struct glance *glance, *latest;
    struct trouble gone;
    struct ordering ordering;
    char filter[FILTER_SIZE];
    struct account mark;
    size_t *rows;        /* of the glance, in order */
    size_t count, first; /* first: the one on the top line */
    size_t chosen;       /* number of its name, or NO_NAME */
    bool frozen, expanded, help, typing, utf8, leave;
};

/* ---- Lines -------------------------------------------------------------------------------------
 */

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

/* Only what the terminal can show; other locales than UTF-8 get ASCII. */
static void put_line(const struct screen *screen, int line, attr_t attributes, const char *text)
{
    struct shown shown = show(text, strlen(text), (size_t)COLS);

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

/* ---- Rows --------------------------------------------------------------------------------------
 */

static const struct account *mark_of(const struct screen *screen)
{
    return screen->mark.at ? &screen->mark : NULL;
}

/* After whatever may have changed them: the next key is about the rows as they are then. */
static void arrange(struct screen *screen)
{
    free(screen->rows);
    screen->rows = NULL;
    screen->count = 0;
    screen->ordering.mark = mark_of(screen);
    if (screen->glance)
        screen->rows = order_rows(screen->glance, &screen->ordering, &screen->count);
}

static size_t place_of_chosen(const struct screen *screen)
{
    for (size_t i = 0; i < screen->count; i++)
        if (screen->rows[i] == screen->chosen)
            return i;
    return 0;
}

/* ---- The parts ---------------------------------------------------------------------------------
 */

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

static size_t table_lines(const struct screen *screen)
{
    size_t below = LINES > HEAD_LINES + 1 ? (size_t)LINES - HEAD_LINES - 1 : 0;

    return below - pane_lines(screen);
}

static void draw_table(struct screen *screen)
{
    size_t lines = table_lines(screen), chosen = place_of_chosen(screen);
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
                     (growth && growth_grows(growth->verdict) ? A_BOLD : A_NORMAL));
    }
}

static void draw_pane(const struct screen *screen)
{
    size_t lines = pane_lines(screen);
    int at = HEAD_LINES + (int)table_lines(screen), end = at + (int)lines;
    char *text = NULL, *rest, *one;
    size_t size;
    FILE *stream;

    if (!lines || !(stream = open_memstream(&text, &size)))
        return;
    pane_write(&screen->glance->rows[screen->rows[place_of_chosen(screen)]], lines - 1,
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
        error_words(&screen->gone, why, sizeof(why));
        snprintf(text, sizeof(text), "ended: this was seen last; the store %s   q end", why);
    } else {
        snprintf(text, sizeof(text),
                 "%ssort: %s%s%s   bndafg sort  / filter  m mark  Enter stack  ? help  q end",
                 screen->frozen ? "FROZEN  " : "", order_word[screen->ordering.order],
                 *screen->filter ? "  filter: " : "", screen->filter);
    }
    put_line(screen, LINES - 1, A_REVERSE, text);
}

static void draw(struct screen *screen)
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

/* ---- Keys --------------------------------------------------------------------------------------
 */

static void show_latest(struct screen *screen)
{
    if (screen->frozen || !screen->latest)
        return;
    glance_end(screen->glance);
    screen->glance = screen->latest;
    screen->latest = NULL;
}

static void type(struct screen *screen, int key)
{
    size_t length = strlen(screen->filter);

    if (key == '\n' || key == '\r' || key == KEY_ENTER) {
        screen->typing = false;
    } else if (key == ESCAPE) {
        screen->typing = false;
        screen->filter[0] = 0;
    } else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length) {
        screen->filter[length - 1] = 0;
    } else if (key >= ' ' && key < 256 && key != 127 && length + 1 < FILTER_SIZE) {
        screen->filter[length] = (char)key;
        screen->filter[length + 1] = 0;
    }
}

static void choose(struct screen *screen, long steps)
{
    long place = (long)place_of_chosen(screen) + steps;

    if (!screen->count)
        return;
    if (place >= (long)screen->count)
        place = (long)screen->count - 1;
    screen->chosen = screen->rows[place > 0 ? place : 0];
}

static void set_mark(struct screen *screen)
{
    const struct glance *glance = screen->glance;

    account_end(&screen->mark);
    if (glance)
        screen->mark = account_keep(glance->time, glance->total, glance->counts, glance->count);
}

static void sort_by(struct screen *screen, int key)
{
    for (int i = 0; i < ORDER_MAX; i++)
        if (key == order_key[i]) {
            screen->ordering.order = (enum order)i;
            screen->chosen = NO_NAME;
            screen->first = 0;
        }
}

static void obey(struct screen *screen, int key)
{
    switch (key) {
    case 'q':
        screen->leave = true;
        break;
    case '?':
    case 'h':
        screen->help = !screen->help;
        break;
    case ESCAPE:
        screen->help = screen->expanded = false;
        screen->filter[0] = 0;
        break;
    case ' ':
        screen->frozen = !screen->frozen;
        show_latest(screen);
        break;
    case '\n':
    case '\r':
    case KEY_ENTER:
        screen->expanded = !screen->expanded;
        choose(screen, 0);
        break;
    case '/':
        screen->typing = true;
        break;
    case 'm':
        set_mark(screen);
        break;
    case 'M':
        account_end(&screen->mark);
        break;
    case KEY_UP:
    case 'k':
        choose(screen, -1);
        break;
    case KEY_DOWN:
    case 'j':
        choose(screen, 1);
        break;
    case KEY_PPAGE:
        choose(screen, -(long)table_lines(screen));
        break;
    case KEY_NPAGE:
        choose(screen, (long)table_lines(screen));
        break;
    case KEY_HOME:
        screen->chosen = NO_NAME;
        break;
    default:
        sort_by(screen, key);
    }
}

/* ---- The loop ----------------------------------------------------------------------------------
 */

static void take(struct screen *screen)
{
    struct glance *glance = watcher_take(screen->watcher, &screen->gone);

    if (glance) {
        glance_end(screen->latest);
        screen->latest = glance;
        show_latest(screen);
    }
    if (screen->gone.code != ERROR_NONE && screen->glance)
        screen->glance->how = END_LOST; /* whatever it was when it was seen last */
}

/* False: the terminal is gone. */
static bool wait_for_news(const struct screen *screen)
{
    struct pollfd news[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = watcher_fd(screen->watcher), .events = POLLIN}};

    /* A signal, as when the terminal changes its size, is news, too. */
    return poll(news, 2, -1) < 0 || !(news[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void run(struct screen *screen)
{
    while (!screen->leave) {
        int key;

        draw(screen);
        if (!wait_for_news(screen))
            return;
        take(screen);
        arrange(screen);
        while ((key = getch()) != ERR) {
            if (key == KEY_RESIZE)
                erase();
            else if (screen->typing)
                type(screen, key);
            else
                obey(screen, key);
            arrange(screen);
        }
    }
}

bool screen_run(const char *path, double interval, const struct listing_options *options)
{
    struct screen screen = {.ordering = options->ordering, .chosen = NO_NAME};
    SCREEN *terminal;

    setlocale(LC_CTYPE, "");
    screen.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    snprintf(screen.filter, sizeof(screen.filter), "%s",
             options->ordering.filter ? options->ordering.filter : "");
    screen.ordering.filter = screen.filter;
    screen.watcher = watcher_begin(path, interval);
    if (!screen.watcher) {
        fputs("leaktop: there is no thread to be had\n", stderr);
        return false;
    }
    terminal = newterm(NULL, stdout, stdin);
    if (!terminal) {
        fputs("leaktop: this terminal has no screen: set TERM, or use --once\n", stderr);
        return false;
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    run(&screen);
    endwin();
    free(screen.rows);
    glance_end(screen.glance);
    glance_end(screen.latest);
    account_end(&screen.mark);
    return true;
}
