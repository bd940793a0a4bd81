/* screen.h - shows the live view in a terminal: title, totals, bars, table, details, foot.
 *
 * screen.c reads keys and events, draw.c draws. Text is cut to the width of the terminal; in
 * locales other than UTF-8 it is ASCII. leakctl_request.c runs leakctl for the keys that send a
 * request to the process, one request at a time, so that the screen never waits.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "common/terminal/terminal.h"
#include "top/listing.h"

/* Shows one process until the user leaves. False: the terminal cannot be used, and a message says
 * why. */
bool screen_run(const char *path, double interval, const struct listing_options *options);
/* Shows all processes whose recording files are in a directory, until the user leaves; dir NULL =
 * the default directories. False: the terminal cannot be used, and a message says why. */
bool fleet_screen_run(const char *dir, double interval, const struct listing_options *options);

/* ---- Requests by leakctl --------------------------------------------------------------------- */

#define LEAKCTL_TEXT_SIZE 4096

struct leakctl_request {
    pid_t pid; /* process id of leakctl; 0 = no request is running */
    int fd;    /* pipe from which the output of leakctl is read */
    /* output of leakctl, or a text about the running request; "" = nothing */
    char text[LEAKCTL_TEXT_SIZE];
    char done[LEAKCTL_TEXT_SIZE]; /* the text to show if leakctl succeeds without output */
    bool has_line;                /* `text` has output of leakctl */
};

struct leakctl_command {
    const char *verb, *more;  /* arguments for leakctl: VERB PID MORE; more may be NULL */
    const char *doing, *done; /* texts to show while leakctl runs, and when it has succeeded */
};

/* Starts leakctl. store: path of the recording file of the process. Does nothing if another request
 * is running. */
void leakctl_request_start(struct leakctl_request *request, int32_t pid, const char *store,
                           const struct leakctl_command *command);

/* Reads the output of leakctl so far, without waiting. */
void leakctl_request_read(struct leakctl_request *request);

/* ---- Drawing --------------------------------------------------------------------------------- */

#define NO_SITE SIZE_MAX

/* The screen of one process. The selected row is stored as the index of its name, so the selection
 * stays on the row when the order changes. Without a selection the first row counts as selected. */
struct screen {
    struct terminal *terminal;
    struct watcher *watcher;
    struct heap_snapshot *snapshot, *latest;
    struct read_error failure; /* the reason why there are no more snapshots */
    struct ordering ordering;
    struct terminal_input filter;
    struct terminal_list list; /* the rows on the screen, in order */
    struct counter_baseline mark;
    size_t *rows; /* indices of the snapshot's rows, in the order of the screen */
    size_t count;
    size_t selected; /* index of the selected row's name, or NO_SITE */
    bool frozen, expanded, help;
    bool listed; /* the screen was opened from the list of processes, to which Esc leads back */
    bool leave, back;
    struct leakctl_request request;
};

/* Sorts the rows again. Call it after each change, so that the next key refers to the rows on the
 * screen. */
void screen_sort_rows(struct screen *screen);
/* Returns the position of the selected row in the order. */
size_t screen_selected_place(const struct screen *screen);

void screen_draw(struct screen *screen);

struct fleet_screen {
    struct terminal *terminal;
    struct watcher *watcher;
    struct fleet_rows *rows; /* NULL = not read yet */
    struct terminal_list list;
    /* pid of the selected process, on which the selection stays; 0 = the first row */
    int32_t selected;
    struct leakctl_request request;
    bool leave, help;
};

void fleet_screen_draw(struct fleet_screen *screen);

#endif
