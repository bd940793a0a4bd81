/* screen.c - see screen.h.
 *
 * The loop draws, then waits for a key, for the watcher or for leakctl, whichever is first. While
 * the screen is frozen, newer snapshots wait in `latest`.
 */
#include "top/screen.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Keys ------------------------------------------------------------------------------------ */

static void show_latest_snapshot(struct screen *screen)
{
    if (screen->frozen || !screen->latest)
        return;
    heap_snapshot_free(screen->snapshot);
    screen->snapshot = screen->latest;
    screen->latest = NULL;
}

static void set_mark(struct screen *screen)
{
    const struct heap_snapshot *snapshot = screen->snapshot;

    counter_baseline_free(&screen->mark);
    if (snapshot)
        screen->mark = counter_baseline_copy(snapshot->time, snapshot->total, snapshot->counts,
                                             snapshot->count);
}

static void request_leak_check(struct screen *screen)
{
    static const struct leakctl_command command = {"snapshot", NULL, "checking for leaks ...",
                                                   "the leak check is done"};

    leakctl_request_start(&screen->request, screen->snapshot->pid, screen->snapshot->path,
                          &command);
}

/* Writes to the working directory, to a name that no file has. */
static void request_report(struct screen *screen)
{
    char output[128], done[256];
    unsigned number = 0;

    do
        snprintf(output, sizeof(output), "--output=leak.%" PRId32 ".%u.txt", screen->snapshot->pid,
                 ++number);
    while (access(strchr(output, '=') + 1, F_OK) == 0);
    snprintf(done, sizeof(done), "wrote the report to %s", strchr(output, '=') + 1);
    leakctl_request_start(
        &screen->request, screen->snapshot->pid, screen->snapshot->path,
        &(struct leakctl_command){"report", output, "writing a report ...", done});
}

/* False: not a key of an order. */
static bool set_sort_key(struct screen *screen, int key)
{
    for (int i = 0; i < ORDER_MAX; i++)
        if (key == order_key[i]) {
            screen->ordering.order = (enum order)i;
            screen->selected = NO_SITE;
            return true;
        }
    return false;
}

static void select_in_list(struct screen *screen, int key)
{
    bool opened = false;

    if (!terminal_list_handle_key(&screen->list, screen->terminal, key, &opened) || !screen->count)
        return;
    screen->selected = screen->rows[screen->list.selected];
    screen->expanded |= opened;
}

static void handle_key(struct screen *screen, int key)
{
    if (!screen->request.pid)
        screen->request.text[0] = 0; /* a key acknowledges the message */
    switch (key) {
    case 'q':
        screen->leave = true;
        break;
    case '?':
    case 'h':
        screen->help = !screen->help;
        break;
    case KEY_ESCAPE:
        screen->help = screen->expanded = false;
        screen->filter.text[0] = 0;
        break;
    case ' ':
        screen->frozen = !screen->frozen;
        show_latest_snapshot(screen);
        break;
    case '\n':
        screen->expanded = !screen->expanded;
        if (screen->count) /* it follows the row from now on */
            screen->selected = screen->rows[screen_selected_place(screen)];
        break;
    case '/':
        terminal_input_begin(&screen->filter, "filter");
        break;
    case 'm':
        set_mark(screen);
        break;
    case 'L':
    case 'w':
        if (screen->snapshot)
            (key == 'L' ? request_leak_check : request_report)(screen);
        break;
    case 'M':
        counter_baseline_free(&screen->mark);
        break;
    default:
        if (!set_sort_key(screen, key))
            select_in_list(screen, key);
    }
}

/* ---- The loop -------------------------------------------------------------------------------- */

static void accept_snapshot(struct screen *screen)
{
    struct heap_snapshot *snapshot = watcher_take_snapshot(screen->watcher, &screen->failure);

    if (snapshot) {
        heap_snapshot_free(screen->latest);
        screen->latest = snapshot;
        show_latest_snapshot(screen);
    }
    if (screen->failure.code != ERROR_NONE && screen->snapshot)
        screen->snapshot->how = END_LOST; /* whatever its state in the last snapshot */
}

/* False: the terminal was closed. */
static bool wait_for_event(const struct screen *screen)
{
    struct pollfd events[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = watcher_fd(screen->watcher), .events = POLLIN},
        {.fd = screen->request.pid ? screen->request.fd : -1, .events = POLLIN}};

    /* A signal counts as an event: the terminal may have changed its size. */
    return poll(events, sizeof(events) / sizeof(events[0]), -1) < 0 ||
           !(events[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void run_screen(struct screen *screen)
{
    while (!screen->leave) {
        int key;

        screen_draw(screen);
        if (!wait_for_event(screen))
            return;
        accept_snapshot(screen);
        if (screen->request.pid)
            leakctl_request_read(&screen->request);
        screen_sort_rows(screen);
        while ((key = terminal_read_key(screen->terminal)) != ERR) {
            if (screen->filter.label)
                terminal_input_handle_key(&screen->filter, key);
            else
                handle_key(screen, key);
            screen_sort_rows(screen);
        }
    }
}

bool screen_run(const char *path, double interval, const struct listing_options *options)
{
    struct screen screen = {.ordering = options->ordering, .selected = NO_SITE};

    snprintf(screen.filter.text, sizeof(screen.filter.text), "%s",
             options->ordering.filter ? options->ordering.filter : "");
    screen.ordering.filter = screen.filter.text;
    screen.watcher = watcher_begin(path, interval);
    if (!screen.watcher) {
        fputs("leaktop: cannot start a thread\n", stderr);
        return false;
    }
    screen.terminal = terminal_begin();
    if (!screen.terminal) {
        fputs("leaktop: unknown terminal type: set TERM, or use --once\n", stderr);
        watcher_end(screen.watcher);
        return false;
    }
    run_screen(&screen);
    terminal_end(screen.terminal);
    free(screen.rows);
    heap_snapshot_free(screen.snapshot);
    heap_snapshot_free(screen.latest);
    counter_baseline_free(&screen.mark);
    watcher_end(screen.watcher);
    return true;
}
