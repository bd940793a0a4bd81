/* draw.h - what the screen shows, and drawing it: title, totals, bars, table, pane, foot.
 *
 * Only what the terminal can show is put there; other locales than UTF-8 get ASCII.
 */
#ifndef TOP_DRAW_H
#define TOP_DRAW_H

#include "top/order.h"
#include "top/watcher.h"
#include "top/wishes.h"

#define FILTER_SIZE 64
#define NO_NAME SIZE_MAX

/* A row is chosen by its name, so that it stays chosen wherever it goes; before anybody chose, that
 * is the first line. */
struct screen {
    struct watcher *watcher;
    struct glance *glance, *latest;
    struct read_error gone;
    struct ordering ordering;
    char filter[FILTER_SIZE];
    struct account mark;
    size_t *rows;        /* of the glance, in order */
    size_t count, first; /* first: the one on the top line */
    size_t chosen;       /* number of its name, or NO_NAME */
    bool frozen, expanded, help, typing, utf8, leave;
    struct wish wish;
};

/* After whatever may have changed them: the next key is about the rows as they are then. */
void draw_arrange(struct screen *screen);
size_t draw_place_of_chosen(const struct screen *screen);
/* How many rows there is room for. */
size_t draw_table_lines(const struct screen *screen);

void draw(struct screen *screen);

#endif
