/* pages.h - writes the pages as HTML. They have no scripts, so names in foreign programs cannot run
 * any code. Each page begins with one sentence that answers a question:
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

/* What the reader chose by arguments of the address. */
struct page_choice {
    enum order order;
    enum mark since;
    const char *filter; /* text that a site must contain; NULL or "": all sites */
    size_t top;         /* most rows; 0: all */
    bool renew;         /* the page reloads itself */
    double interval;    /* seconds between two readings, after which a reload shows something new */
    bool allow_actions;
};

/* Write a page. The heaps must be locked. */
void page_write_processes(struct heaps *heaps, const struct page_choice *choice, FILE *stream);
void page_write_growth(struct heaps *heaps, const struct fleet_member *member,
                       const struct page_choice *choice, FILE *stream);
void page_write_difference(struct heaps *heaps, const struct fleet_member *member,
                           const struct page_choice *choice, FILE *stream);
void page_write_look(struct heaps *heaps, const struct fleet_member *member,
                     const struct page_choice *choice, FILE *stream);

/* Writes a page with one sentence, instead of the requested page. */
void page_write_message(const char *title, const char *text, FILE *stream);

extern const char page_style[], page_style_end[]; /* The style of all pages, from page_assets.S. */

#endif
