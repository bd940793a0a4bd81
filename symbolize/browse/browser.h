/* browser.h - the internal interface of `leakreport browse`: one screen with several tabs.
 *
 *     title                      the headline of the process
 *     1 records  2 tree ...      the tabs
 *     heading                    of the list
 *     list                       rows of the tab; beside or below it
 *     pane                       details of the selected row
 *     foot                       keys
 *
 * A tab is a struct browse_tab: it fills the list with rows, each of which is an index in data of
 * the tab, and writes the rows. browser.c draws the screen and handles the keys that all tabs have.
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
    /* index of what the row shows: a record, a node of the tree …, as its tab defines it */
    size_t index;
    size_t depth; /* depth of the node, in a tab that shows a tree */
};

struct browser;

struct browse_tab {
    const char *name, *empty; /* empty: the text of the tab if it has no rows */
    void (*fill)(struct browser *browser);
    void (*write_heading)(const struct browser *browser, FILE *stream);
    void (*write_row)(const struct browser *browser, size_t row, size_t columns, FILE *stream);
    /* NULL: all rows have the plain style */
    enum terminal_style (*style_row)(const struct browser *browser, size_t row);
    void (*write_details)(const struct browser *browser, size_t row, FILE *stream);
    /* Returns the stack that the key Enter shows; no frames: the row has no stack. */
    struct stack (*stack_of)(const struct browser *browser, size_t row);
    /* Says whether the row has the text that the user searches or filters for. */
    bool (*matches)(const struct browser *browser, size_t row, const char *text);
    /* Handles a key that only this tab has. False: it has no such key. */
    bool (*handle_key)(struct browser *browser, int key);
    /* the keys that handle_key() handles, for the line of keys at the foot of the screen */
    const struct terminal_key *keys;
};

struct browse_tree {
    struct call_tree tree;
    bool *open;    /* index of a node -> are the calls below it shown? */
    size_t *order; /* all nodes in the order of the list, as if all were open */
    /* index of a node -> does this node, or one above or below it, match the filter? */
    bool *kept;
    /* the filter text for which nodes were opened the last time */
    char opened_for[TERMINAL_INPUT_SIZE];
};

struct browser {
    const struct report *report;
    struct view view;
    struct terminal *terminal;
    size_t process;
    enum browse_tab_id tab;
    struct terminal_list lists[TAB_MAX];
    struct browse_row *rows; /* the rows of the shown tab */
    size_t count, capacity;
    struct terminal_input filter, search;

    bool default_show[VERDICT_MAX], all_verdicts;
    enum sort_order sort;
    struct heap_profile profile;
    /* the tree from main, and the inverted one; no nodes = not made yet */
    struct browse_tree trees[2];
    struct group_by_table sums;

    enum browse_mode { MODE_LIST, MODE_STACK, MODE_TEXT, MODE_HELP } mode;
    struct stack stack; /* the stack that MODE_STACK shows */
    struct terminal_list frames, text;
    size_t pane_lines; /* number of lines of the pane that details may use for source lines */
    size_t pane_first; /* number, from 0, of the line of the details that the pane shows at its
                        * top */
    /* the columns where the names of the tabs end, to find the tab that was clicked */
    int tab_ends[TAB_MAX];
    char message[128]; /* shown until the user presses the next key */
    /* the last key only moved the selection, so the list need not be filled again */
    bool unchanged;
    bool leave;
};

static inline const struct process *browser_process(const struct browser *browser)
{
    return &browser->report->processes[browser->process];
}

void browser_add_row(struct browser *browser, size_t index, size_t depth);
/* Adds a row for data with this index if the row matches the filter. */
void browser_add_match(struct browser *browser, size_t index);
/* Fills the list of the shown tab again. */
void browser_refill(struct browser *browser);
bool browser_is_filtered(const struct browser *browser);

/* ---- source_pane.c: frames, and the source lines around them --------------------------------- */

/* Writes "name  file:line", in at most `columns` columns. */
void browse_write_frame(const struct browser *browser, const struct frame *frame, size_t columns,
                        FILE *stream);
/* Writes `lines` lines of the source around the line of a frame; a ">" marks the line itself. */
void browse_write_source(const struct browser *browser, const struct frame *frame, size_t lines,
                         FILE *stream);
bool browse_frame_has(const struct frame *frame, const char *text);
bool browse_stack_has(const struct stack *stack, const char *text);

/* ---- record_tabs.c, tree_tabs.c, owner_tabs.c: the tabs -------------------------------------- */

/* Says whether the text contains `part`, in upper or lower case. False if text is NULL. */
bool browse_text_has(const char *text, const char *part);

extern const struct browse_tab browse_records, browse_growth, browse_tree, browse_callers,
    browse_owners, browse_sums, browse_errors;

/* Frees the trees. Call it after the user has chosen other verdicts, another weight or another
 * process. */
void browse_trees_forget(struct browser *browser);
/* Selects the next node with the text that the user searches for, in the whole tree, and opens the
 * nodes above it. step: 1 = forwards, -1 = backwards, 0 = begins with the selected node. False: no
 * node has the text. */
bool browse_tree_search(struct browser *browser, int step);

#endif
