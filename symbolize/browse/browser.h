/* browser.h - the inside of `leakreport browse`: one screen, several tabs.
 *
 *     title                      the headline of the process
 *     1 records  2 tree ...      the tabs
 *     heading                    of the list
 *     list                       rows of the tab; beside or below it
 *     pane                       what is known of the selected row
 *     foot                       keys
 *
 * A tab is a struct browse_tab: it fills the list with rows, which are numbers of its own, and
 * writes them. browser.c has the screen and the keys that all tabs have.
 */
#ifndef SYMBOLIZE_BROWSE_BROWSER_H
#define SYMBOLIZE_BROWSE_BROWSER_H

#include "common/terminal/terminal.h"
#include "symbolize/browse/browse.h"
#include "symbolize/profile/profile.h"
#include "symbolize/view/view.h"

enum browse_tab_id {
    TAB_RECORDS,
    TAB_TREE,
    TAB_CALLERS,
    TAB_OWNERS,
    TAB_GROWTH,
    TAB_SUMS,
    TAB_ERRORS,
    TAB_MAX
};

struct browse_row {
    size_t index; /* the tab's own */
    size_t depth; /* in a tree */
};

struct browser;

struct browse_tab {
    const char *name, *empty; /* empty: what there is when it has no rows */
    void (*fill)(struct browser *browser);
    void (*write_heading)(const struct browser *browser, FILE *stream);
    void (*write_row)(const struct browser *browser, size_t row, size_t columns, FILE *stream);
    enum terminal_style (*style_row)(const struct browser *browser, size_t row); /* NULL: plain */
    void (*write_details)(const struct browser *browser, size_t row, FILE *stream);
    /* What Enter shows; no frames = nothing. */
    struct stack (*stack_of)(const struct browser *browser, size_t row);
    /* Does the row belong to the text that is searched or filtered for? */
    bool (*matches)(const struct browser *browser, size_t row, const char *text);
    /* A key of its own; true: it was one. */
    bool (*handle_key)(struct browser *browser, int key);
    const struct terminal_key *keys; /* those, for the foot */
};

struct browse_tree {
    struct call_tree tree;
    bool *open;    /* by node */
    size_t *order; /* nodes as they are listed when all are open */
    bool *kept;    /* by node: in it, or below it, is what the filter asks for */
    char opened_for[TERMINAL_INPUT_SIZE]; /* the filter whose calls were opened */
};

struct browser {
    const struct report *report;
    struct view view;
    struct terminal *terminal;
    size_t process;
    enum browse_tab_id tab;
    struct terminal_list lists[TAB_MAX];
    struct browse_row *rows; /* of the tab */
    size_t count, capacity;
    struct terminal_input filter, search;

    bool default_show[VERDICT_MAX], all_verdicts;
    enum sort_order sort;
    struct heap_profile profile;
    struct browse_tree trees[2]; /* from main, and inverted; no nodes = not made yet */
    struct group_by_table sums;

    enum browse_mode { MODE_LIST, MODE_STACK, MODE_TEXT, MODE_HELP } mode;
    struct stack stack; /* MODE_STACK */
    struct terminal_list frames, text;
    size_t pane_lines;     /* of the pane, for details with source */
    size_t pane_first;     /* line of the pane that is on its top */
    int tab_ends[TAB_MAX]; /* columns of the line of tabs, for clicks */
    char message[128];     /* until the next key */
    bool unchanged;        /* the key only moved the selection: the rows are what they were */
    bool leave;
};

static inline const struct process *browser_process(const struct browser *browser)
{
    return &browser->report->processes[browser->process];
}

void browser_add_row(struct browser *browser, size_t index, size_t depth);
/* Adds a row of a list if it matches the filter. In a tree, rows above a match are kept, too. */
void browser_add_match(struct browser *browser, size_t index);
/* Fills the list of the tab again. */
void browser_refill(struct browser *browser);
bool browser_is_filtered(const struct browser *browser);

/* ---- source_pane.c --------------------------------------------------------------------------- */

/* "name  file:line", in so many columns. */
void browse_write_frame(const struct browser *browser, const struct frame *frame, size_t columns,
                        FILE *stream);
/* Writes so many lines of the source around the frame, and ">" before the frame's own. */
void browse_write_source(const struct browser *browser, const struct frame *frame, size_t lines,
                         FILE *stream);
bool browse_frame_has(const struct frame *frame, const char *text);
bool browse_stack_has(const struct stack *stack, const char *text);

/* ---- record_tabs.c, tree_tabs.c, owner_tabs.c: the tabs ---------------- */

bool browse_text_has(const char *text, const char *part); /* text may be NULL */

extern const struct browse_tab browse_records, browse_growth, browse_tree, browse_callers,
    browse_owners, browse_sums, browse_errors;

/* Forgets the trees, after the verdicts, the weight or the process have changed. */
void browse_trees_forget(struct browser *browser);
/* Selects the next node of the text, in the whole tree, and opens what is above it. */
bool browse_tree_search(struct browser *browser, int step);

#endif
