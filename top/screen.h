/* screen.h - the live view in a terminal: title, totals, bars, table, details, foot.
 *
 * screen.c reads keys and events, draw.c draws. Text is cut to what the terminal can show; locales
 * other than UTF-8 get ASCII. leakctl_request.c runs leakctl for the keys that request something of
 * the process: one request at a time, in a process of its own, so that the screen never waits.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "common/terminal/terminal.h"
#include "top/listing.h"

/* Shows one process. Runs until the user leaves. False: there is no screen, and a message says
 * why. */
bool screen_run(const char *path, double interval, const struct listing_options *options);
/* Shows all processes of a directory; NULL = of the default places. Otherwise like screen_run. */
bool fleet_screen_run(const char *dir, double interval, const struct listing_options *options);

/* ---- Requests by leakctl --------------------------------------------------------------------- */

#define LEAKCTL_TEXT_SIZE 4096

struct leakctl_request {
    pid_t pid;                    /* of leakctl; 0 = no request is under way */
    int fd;                       /* reads its output */
    char text[LEAKCTL_TEXT_SIZE]; /* its output, or what is being done; "" = nothing */
    char done[LEAKCTL_TEXT_SIZE]; /* the text after a success without output */
    bool has_line;                /* some of its output was read */
};

struct leakctl_command {
    const char *verb, *more;  /* leakctl VERB PID MORE; more may be NULL */
    const char *doing, *done; /* the text meanwhile, and afterwards */
};

/* Starts a request. store: the recording file of the process. Does nothing while another request is
 * under way. */
void leakctl_request_start(struct leakctl_request *request, int32_t pid, const char *store,
                           const struct leakctl_command *command);

/* Reads the output so far, without waiting. */
void leakctl_request_read(struct leakctl_request *request);

/* ---- Drawing --------------------------------------------------------------------------------- */

#define NO_SITE SIZE_MAX

/* A row is selected by the index of its name, so the selection follows the row when the order
 * changes. Without a selection the first row counts as selected. */
struct screen {
    struct terminal *terminal;
    struct watcher *watcher;
    struct heap_snapshot *snapshot, *latest;
    struct read_error failure; /* why there are no more snapshots */
    struct ordering ordering;
    struct terminal_input filter;
    struct terminal_list list; /* of the rows, in order */
    struct counter_baseline mark;
    size_t *rows; /* of the snapshot, in order */
    size_t count;
    size_t selected; /* index of its name, or NO_SITE */
    bool frozen, expanded, help;
    bool listed; /* Esc leads back to the list of processes */
    bool leave, back;
    struct leakctl_request request;
};

/* Sorts the rows again; needed after each change, so that the next key acts on current rows. */
void screen_sort_rows(struct screen *screen);
/* The place of the selected row. */
size_t screen_selected_place(const struct screen *screen);

void screen_draw(struct screen *screen);

struct fleet_screen {
    struct terminal *terminal;
    struct watcher *watcher;
    struct fleet_rows *rows; /* NULL = none were read yet */
    struct terminal_list list;
    int32_t selected; /* pid, which the selection follows; 0 = the first one */
    struct leakctl_request request;
    bool leave;
};

void fleet_screen_draw(struct fleet_screen *screen);

#endif
