/* screen.c - handles keys and events of the live view; described in screen.h.
 *
 * The loop draws the screen, then waits for a key, a snapshot from the watcher, or output of
 * leakctl. While the screen is frozen, newer snapshots wait in `latest`.
 */
#include "top/screen.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/processes/process_list.h"

/* ---- Handling keys --------------------------------------------------------------------------- */

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

/* Requests a report, to a file in the working directory with a name that does not exist yet. */
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

/* Sets the sort order that belongs to a key. False: no order belongs to this key. */
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

/* Closes the help, the details and the filter; if none was open, leads back to the list of
 * processes. */
static void leave_one_step(struct screen *screen)
{
    screen->back = screen->listed && !screen->help && !screen->expanded && !*screen->filter.text;
    screen->leave |= screen->back;
    screen->help = screen->expanded = false;
    screen->filter.text[0] = 0;
}

static void handle_key(struct screen *screen, int key)
{
    if (!screen->request.pid)
        screen->request.text[0] = 0; /* any key removes the message of the last request */
    switch (key) {
    case 'q':
        screen->leave = true;
        break;
    case '?':
    case 'h':
        screen->help = !screen->help;
        break;
    case KEY_ESCAPE:
        leave_one_step(screen);
        break;
    case ' ':
        screen->frozen = !screen->frozen;
        show_latest_snapshot(screen);
        break;
    case '\n':
        screen->expanded = !screen->expanded;
        if (screen->count) /* from now on the selection stays on this row */
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

/* ---- The loop that waits for events ---------------------------------------------------------- */

static void accept_snapshot(struct screen *screen)
{
    struct heap_snapshot *snapshot = watcher_take(screen->watcher, &screen->failure);

    if (snapshot) {
        heap_snapshot_free(screen->latest);
        screen->latest = snapshot;
        show_latest_snapshot(screen);
    }
    if (screen->failure.code != ERROR_NONE && screen->snapshot)
        /* the process has ended, whatever the last snapshot says */
        screen->snapshot->how = END_LOST;
}

/* Waits for a key, a snapshot or output of leakctl. False: the terminal was closed. */
static bool wait_for_event(const struct watcher *watcher, const struct leakctl_request *request)
{
    struct pollfd events[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                              {.fd = watcher_fd(watcher), .events = POLLIN},
                              {.fd = request->pid ? request->fd : -1, .events = POLLIN}};

    /* A signal counts as an event, because the size of the terminal may have changed. */
    return poll(events, sizeof(events) / sizeof(events[0]), -1) < 0 ||
           !(events[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* Runs the screen until the user leaves. False: the terminal was closed. */
static bool run_screen(struct screen *screen)
{
    while (!screen->leave) {
        int key;

        screen_draw(screen);
        if (!wait_for_event(screen->watcher, &screen->request))
            return false;
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
    return true;
}

/* ---- The screen of one process --------------------------------------------------------------- */

enum screen_end { SCREEN_QUIT, SCREEN_BACK, SCREEN_FAILED };

static enum screen_end run_process(struct terminal *terminal, const char *path, double interval,
                                   const struct listing_options *options, bool listed)
{
    struct screen screen = {
        .terminal = terminal, .ordering = options->ordering, .selected = NO_SITE, .listed = listed};

    snprintf(screen.filter.text, sizeof(screen.filter.text), "%s",
             options->ordering.filter ? options->ordering.filter : "");
    screen.ordering.filter = screen.filter.text;
    screen.watcher = watcher_begin_process(path, interval);
    if (!screen.watcher)
        return SCREEN_FAILED;
    erase();
    run_screen(&screen);
    free(screen.rows);
    heap_snapshot_free(screen.snapshot);
    heap_snapshot_free(screen.latest);
    counter_baseline_free(&screen.mark);
    watcher_end(screen.watcher);
    return screen.back ? SCREEN_BACK : SCREEN_QUIT;
}

static struct terminal *begin_terminal(void)
{
    struct terminal *terminal = terminal_begin();

    if (!terminal)
        fputs("leaktop: unknown terminal type: set TERM, or use --once\n", stderr);
    return terminal;
}

static bool end_terminal(struct terminal *terminal, bool good)
{
    terminal_end(terminal);
    if (!good)
        fputs("leaktop: cannot start a thread\n", stderr);
    return good;
}

bool screen_run(const char *path, double interval, const struct listing_options *options)
{
    struct terminal *terminal = begin_terminal();

    return terminal && end_terminal(terminal, run_process(terminal, path, interval, options,
                                                          false) != SCREEN_FAILED);
}

/* ---- The screen of all processes ------------------------------------------------------------- */

struct fleet_source {
    struct fleet fleet;
    char *dir; /* NULL = the default directories */
};

static void *take_rows(void *given, bool *more, struct read_error *failure)
{
    struct fleet_source *source = given;
    struct process_list finds = process_list_running(source->dir);

    *failure = (struct read_error){0};
    *more = true;
    fleet_update(&source->fleet, &finds);
    process_list_end(&finds);
    return fleet_rows_make(&source->fleet);
}

static void discard_rows(void *taken)
{
    fleet_rows_free(taken);
}

static void end_source(void *given)
{
    struct fleet_source *source = given;

    fleet_end(&source->fleet);
    free(source->dir);
    free(source);
}

static struct watcher *watch_fleet(const char *dir, double interval)
{
    static const struct watched fleet = {take_rows, discard_rows, end_source};
    struct fleet_source *source = calloc(1, sizeof(*source));

    if (!source)
        return NULL;
    source->dir = dir ? strdup(dir) : NULL;
    return watcher_begin(&fleet, source, interval);
}

/* Takes new rows. The selection stays on its process when the order changes. */
static void accept_rows(struct fleet_screen *screen)
{
    struct read_error failure;
    struct fleet_rows *rows = watcher_take(screen->watcher, &failure);

    if (!rows)
        return;
    fleet_rows_free(screen->rows);
    screen->rows = rows;
    screen->list.count = rows->count;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->at[i].pid == screen->selected)
            screen->list.selected = i;
}

static void check_selected(struct fleet_screen *screen)
{
    static const struct leakctl_command command = {"snapshot", NULL, "checking for leaks ...",
                                                   "the leak check is done"};
    const struct fleet_row *row = &screen->rows->at[screen->list.selected];

    leakctl_request_start(&screen->request, row->pid, row->path, &command);
}

static void handle_fleet_key(struct fleet_screen *screen, int key, double interval,
                             const struct listing_options *options)
{
    bool opened = key == '\n', any = screen->rows && screen->rows->count;

    if (!screen->request.pid)
        screen->request.text[0] = 0; /* any key removes the message of the last request */
    if (key == 'q')
        screen->leave = true;
    screen->help = key == '?' || key == 'h' ? !screen->help : screen->help && key != KEY_ESCAPE;
    if (!any)
        return;
    if (key == 'L')
        check_selected(screen);
    else
        terminal_list_handle_key(&screen->list, screen->terminal, key, &opened);
    screen->selected = screen->rows->at[screen->list.selected].pid;
    if (!opened)
        return;
    screen->leave = run_process(screen->terminal, screen->rows->at[screen->list.selected].path,
                                interval, options, true) == SCREEN_QUIT;
    erase();
}

static void run_fleet(struct fleet_screen *screen, double interval,
                      const struct listing_options *options)
{
    while (!screen->leave) {
        int key;

        fleet_screen_draw(screen);
        if (!wait_for_event(screen->watcher, &screen->request))
            return;
        accept_rows(screen);
        if (screen->request.pid)
            leakctl_request_read(&screen->request);
        while (!screen->leave && (key = terminal_read_key(screen->terminal)) != ERR)
            handle_fleet_key(screen, key, interval, options);
    }
}

bool fleet_screen_run(const char *dir, double interval, const struct listing_options *options)
{
    struct fleet_screen screen = {.terminal = begin_terminal()};

    if (!screen.terminal)
        return false;
    screen.watcher = watch_fleet(dir, interval);
    if (!screen.watcher)
        return end_terminal(screen.terminal, false);
    run_fleet(&screen, interval, options);
    fleet_rows_free(screen.rows);
    watcher_end(screen.watcher);
    return end_terminal(screen.terminal, true);
}
