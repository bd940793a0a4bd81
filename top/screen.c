/* screen.c - see screen.h.
 *
 * One loop: draw what there is, wait for a key, for the watcher or for leakctl, whichever comes
 * first. The glance that is shown is ours; while the screen is frozen newer ones wait in `latest`.
 */
#include "top/screen.h"

#include <curses.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "top/draw.h"

#define ESCAPE 27

/* ---- Keys ------------------------------------------------------------------------------------ */

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
    long place = (long)draw_place_of_chosen(screen) + steps;

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

static void ask_for_look(struct screen *screen)
{
    static const struct wish_words words = {"snapshot", NULL, "looking at the heap ...",
                                            "the heap has been looked at"};

    wish_begin(&screen->wish, screen->glance->pid, screen->glance->path, &words);
}

/* Into the working directory, and no file that is there. */
static void ask_for_report(struct screen *screen)
{
    char output[128], done[256];
    unsigned number = 0;

    do
        snprintf(output, sizeof(output), "--output=leak.%" PRId32 ".%u.txt", screen->glance->pid,
                 ++number);
    while (access(strchr(output, '=') + 1, F_OK) == 0);
    snprintf(done, sizeof(done), "the report is in %s", strchr(output, '=') + 1);
    wish_begin(&screen->wish, screen->glance->pid, screen->glance->path,
               &(struct wish_words){"report", output, "writing a report ...", done});
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
    if (!screen->wish.pid)
        screen->wish.words[0] = 0; /* it has been read */
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
    case 'L':
    case 'w':
        if (screen->glance)
            (key == 'L' ? ask_for_look : ask_for_report)(screen);
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
        choose(screen, -(long)draw_table_lines(screen));
        break;
    case KEY_NPAGE:
        choose(screen, (long)draw_table_lines(screen));
        break;
    case KEY_HOME:
        screen->chosen = NO_NAME;
        break;
    default:
        sort_by(screen, key);
    }
}

/* ---- The loop -------------------------------------------------------------------------------- */

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
                            {.fd = watcher_fd(screen->watcher), .events = POLLIN},
                            {.fd = screen->wish.pid ? screen->wish.fd : -1, .events = POLLIN}};

    /* A signal, as when the terminal changes its size, is news, too. */
    return poll(news, sizeof(news) / sizeof(news[0]), -1) < 0 ||
           !(news[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void run(struct screen *screen)
{
    while (!screen->leave) {
        int key;

        draw(screen);
        if (!wait_for_news(screen))
            return;
        take(screen);
        if (screen->wish.pid)
            wish_take(&screen->wish);
        draw_arrange(screen);
        while ((key = getch()) != ERR) {
            if (key == KEY_RESIZE)
                erase();
            else if (screen->typing)
                type(screen, key);
            else
                obey(screen, key);
            draw_arrange(screen);
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
        watcher_end(screen.watcher);
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
    watcher_end(screen.watcher);
    delscreen(terminal);
    return true;
}
