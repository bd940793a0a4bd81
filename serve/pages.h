/* pages.h - the pages as HTML: without scripts, so that names from foreign programs can do nothing
 * whatever they are. Each begins with one sentence that answers its question:
 *
 *     processes    which program grows, or has lost memory?
 *     growth       which line of this program grows?
 *     difference   what was added since a mark?
 *     leak check   what did the last leak check find lost? */
#ifndef SERVE_PAGES_H
#define SERVE_PAGES_H

#include <stdio.h>

#include "serve/heaps.h"
#include "top/order.h"

#define PAGE_ROWS 25

/* What the reader chose in the address. */
struct page_choice {
    enum order order;
    enum mark since;
    const char *filter; /* NULL or "": all sites */
    size_t top;         /* rows; 0: all */
    bool renew;         /* the page loads itself again */
    double interval;    /* seconds after which there is something new */
    bool allow_actions;
};

/* These functions need the lock of the heaps. */
void page_write_processes(struct heaps *heaps, const struct page_choice *choice, FILE *stream);
void page_write_growth(struct heaps *heaps, const struct fleet_member *member,
                       const struct page_choice *choice, FILE *stream);
void page_write_difference(struct heaps *heaps, const struct fleet_member *member,
                           const struct page_choice *choice, FILE *stream);
void page_write_look(struct heaps *heaps, const struct fleet_member *member,
                     const struct page_choice *choice, FILE *stream);

/* A sentence instead of what was requested. */
void page_write_message(const char *title, const char *text, FILE *stream);

extern const char page_style[], page_style_end[]; /* page_assets.S */

#endif
