/* tree_tabs.c - the tabs with call trees, whose nodes can be opened and closed; described in
 * browser.h.
 */
#include "symbolize/browse/browser.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"

static size_t tree_number(const struct browser *browser)
{
    return browser->tab == TAB_CALLERS;
}

static const struct browse_tree *tree_of(const struct browser *browser)
{
    return &browser->trees[tree_number(browser)];
}

static const struct call_node *node_at(const struct browser *browser, size_t row)
{
    return &tree_of(browser)->tree.nodes[browser->rows[row].index];
}

/* ---- Making and freeing a tree --------------------------------------------------------------- */

static void list_order(struct browse_tree *tree)
{
    const struct call_node *nodes = tree->tree.nodes;
    size_t count = 0;

    tree->order = array_grow(NULL, &(size_t){0}, tree->tree.count, sizeof(*tree->order));
    for (uint32_t at = nodes[0].first; at;) {
        tree->order[count++] = at;
        if (nodes[at].first) {
            at = nodes[at].first;
            continue;
        }
        while (at && !nodes[at].next)
            at = nodes[at].up;
        at = nodes[at].next;
    }
}

/* Opens the nodes up to the first branch, because a chain of calls without branches says little. */
static void open_first_calls(struct browse_tree *tree)
{
    uint32_t at = tree->tree.nodes[0].first;

    for (; at && !tree->tree.nodes[at].next; at = tree->tree.nodes[at].first)
        tree->open[at] = true;
}

static void make_tree(struct browser *browser)
{
    struct browse_tree *tree = &browser->trees[tree_number(browser)];

    if (tree->tree.count)
        return;
    if (!browser->profile.report)
        browser->profile = heap_profile_begin(browser->report, &browser->view, false);
    tree->tree =
        call_tree_begin(&browser->profile, browser->view.weight, browser->tab == TAB_CALLERS);
    tree->open = array_grow(NULL, &(size_t){0}, tree->tree.count, sizeof(*tree->open));
    tree->kept = array_grow(NULL, &(size_t){0}, tree->tree.count, sizeof(*tree->kept));
    memset(tree->open, 0, tree->tree.count * sizeof(*tree->open));
    list_order(tree);
    open_first_calls(tree);
}

void browse_trees_forget(struct browser *browser)
{
    for (size_t i = 0; i < 2; i++) {
        call_tree_end(&browser->trees[i].tree);
        free(browser->trees[i].open);
        free(browser->trees[i].order);
        free(browser->trees[i].kept);
        browser->trees[i] = (struct browse_tree){0};
    }
    if (browser->profile.report)
        heap_profile_end(&browser->profile);
    browser->profile = (struct heap_profile){0};
}

/* ---- Rows of the tree ------------------------------------------------------------------------ */

static bool node_has(const struct call_node *node, const char *text)
{
    char buffer[FRAME_NAME_SIZE];

    return node->frame ? browse_frame_has(node->frame, text)
                       : browse_text_has(call_node_name(node, buffer), text);
}

/* Opens the nodes above calls with the filter's text. Does so once for each text, so that the user
 * can close them again. */
static void open_matches(struct browse_tree *tree, const char *text)
{
    const struct call_node *nodes = tree->tree.nodes;

    if (strcmp(tree->opened_for, text) == 0)
        return;
    snprintf(tree->opened_for, sizeof(tree->opened_for), "%s", text);
    for (size_t i = 1; i < tree->tree.count; i++)
        for (uint32_t up = node_has(&nodes[i], text) ? nodes[i].up : 0; up && !tree->open[up];
             up = nodes[up].up)
            tree->open[up] = true;
}

/* Marks the nodes that the filter keeps: those with the text, and all nodes above and below
 * them. */
static void mark_kept(struct browse_tree *tree, const char *text)
{
    struct call_node *nodes = tree->tree.nodes;

    for (size_t i = 0; i < tree->tree.count; i++)
        tree->kept[i] = i && (tree->kept[nodes[i].up] || node_has(&nodes[i], text));
    tree->kept[0] = false;
    for (size_t i = tree->tree.count; i-- > 1;)
        if (tree->kept[i])
            tree->kept[nodes[i].up] = true;
}

static void add_calls(struct browser *browser, const struct browse_tree *tree, uint32_t up,
                      size_t depth)
{
    const struct call_node *nodes = tree->tree.nodes;

    for (uint32_t at = nodes[up].first; at; at = nodes[at].next) {
        if (browser_is_filtered(browser) && !tree->kept[at])
            continue;
        browser_add_row(browser, at, depth);
        if (tree->open[at])
            add_calls(browser, tree, at, depth + 1);
    }
}

static void fill_tree(struct browser *browser)
{
    struct browse_tree *tree;

    make_tree(browser);
    tree = &browser->trees[tree_number(browser)];
    if (browser_is_filtered(browser)) {
        mark_kept(tree, browser->filter.text);
        open_matches(tree, browser->filter.text);
    }
    add_calls(browser, tree, 0, 0);
}

static void write_tree_heading(const struct browser *browser, FILE *stream)
{
    const struct browse_tree *tree = tree_of(browser);

    fprintf(stream, "%7s %11s %8s  %s of %s, %s", "SHARE", "BYTES", "BLOCKS",
            browser->tab == TAB_CALLERS ? "ALLOCATIONS" : "CALLS",
            term_size(tree->tree.count ? tree->tree.nodes[0].all.bytes : 0).text,
            weight_word[browser->view.weight]);
}

static void write_tree_row(const struct browser *browser, size_t row, size_t columns, FILE *stream)
{
    const struct browse_tree *tree = tree_of(browser);
    const struct call_node *node = node_at(browser, row);
    uint64_t all = tree->tree.nodes[0].all.bytes;
    size_t indent = browser->rows[row].depth * 2, most = columns > 60 ? columns - 60 : 0;
    char buffer[FRAME_NAME_SIZE];

    if (indent > most)
        indent = most;
    fprintf(stream, "%5.1f %% %11s %8s  %*s%c ",
            all ? 100.0 * (double)node->all.bytes / (double)all : 0,
            term_size(node->all.bytes).text, term_number(node->all.blocks).text, (int)indent, "",
            !node->first                           ? ' '
            : tree->open[browser->rows[row].index] ? '-'
                                                   : '+');
    if (node->frame)
        browse_write_frame(browser, node->frame, columns > indent + 43 ? columns - indent - 33 : 10,
                           stream);
    else
        fputs(call_node_name(node, buffer), stream);
}

static void write_tree_details(const struct browser *browser, size_t row, FILE *stream)
{
    const struct call_node *node = node_at(browser, row);
    char buffer[FRAME_NAME_SIZE];

    fprintf(stream, "%s: %s in %s", call_node_name(node, buffer), term_size(node->all.bytes).text,
            term_count(node->all.blocks, "block").text);
    if (node->own.blocks)
        fprintf(stream, ", of these %s in %s %s", term_size(node->own.bytes).text,
                term_count(node->own.blocks, "block").text,
                browser->tab == TAB_CALLERS ? "with no caller above" : "allocated by itself");
    fputs("\n", stream);
    if (node->frame)
        browse_write_source(browser, node->frame, browser->pane_lines - 1, stream);
}

static bool tree_row_has(const struct browser *browser, size_t row, const char *text)
{
    return node_has(node_at(browser, row), text);
}

bool browse_tree_search(struct browser *browser, int step)
{
    const struct browse_tree *tree = tree_of(browser);
    size_t count = tree->tree.count ? tree->tree.count - 1 : 0, at = 0;
    size_t selected =
        browser->count ? browser->rows[browser->lists[browser->tab].selected].index : 0;
    uint32_t node, found;

    while (at < count && tree->order[at] != selected)
        at++;
    for (size_t i = step ? 1 : 0; i <= count && count; i++) {
        size_t place = (at + (step < 0 ? 2 * count - i : i)) % count;

        found = (uint32_t)tree->order[place];
        if (!node_has(&tree->tree.nodes[found], browser->search.text) ||
            (browser_is_filtered(browser) && !tree->kept[found]))
            continue;
        for (node = tree->tree.nodes[found].up; node; node = tree->tree.nodes[node].up)
            tree->open[node] = true;
        browser_refill(browser);
        for (size_t row = 0; row < browser->count; row++)
            if (browser->rows[row].index == found)
                terminal_list_select(&browser->lists[browser->tab], row);
        return true;
    }
    return false;
}

/* ---- Handling keys of the tree --------------------------------------------------------------- */

static void select_caller(struct browser *browser)
{
    struct terminal_list *list = &browser->lists[browser->tab];
    uint32_t up = node_at(browser, list->selected)->up;

    for (size_t row = 0; row < list->selected; row++)
        if (browser->rows[row].index == up)
            terminal_list_select(list, row);
}

static void open_all(struct browse_tree *tree, uint32_t at)
{
    tree->open[at] = true;
    for (uint32_t below = tree->tree.nodes[at].first; below; below = tree->tree.nodes[below].next)
        open_all(tree, below);
}

static bool handle_tree_key(struct browser *browser, int key)
{
    struct browse_tree *tree = &browser->trees[tree_number(browser)];
    struct terminal_list *list = &browser->lists[browser->tab];
    size_t node = browser->count ? browser->rows[list->selected].index : 0;

    switch (key) {
    case 'w':
        browser->view.weight = (browser->view.weight + 1) % WEIGHT_MAX;
        browse_trees_forget(browser);
        snprintf(browser->message, sizeof(browser->message), "%s: %s",
                 weight_word[browser->view.weight], weight_words[browser->view.weight]);
        return true;
    case '\n':
        tree->open[node] = !tree->open[node];
        return true;
    case KEY_RIGHT:
    case '+':
        tree->open[node] = true;
        return true;
    case KEY_LEFT:
    case '-':
        if (tree->open[node] && tree->tree.nodes[node].first)
            tree->open[node] = false;
        else if (browser->count)
            select_caller(browser);
        return true;
    case '*':
        open_all(tree, (uint32_t)node);
        return true;
    default:
        return false;
    }
}

static const struct terminal_key tree_keys[] = {{'\n', "Enter", "open, close"},
                                                {'*', "*", "open all"},
                                                {'w', "w", "weight"},
                                                {'a', "a", "all verdicts"},
                                                {0}};

#define TREE_TAB                                                                                   \
    .empty = "There is nothing of this weight. w: another one.", .fill = fill_tree,                \
    .write_heading = write_tree_heading, .write_row = write_tree_row,                              \
    .write_details = write_tree_details, .matches = tree_row_has, .handle_key = handle_tree_key,   \
    .keys = tree_keys

const struct browse_tab browse_tree = {.name = "tree", TREE_TAB};
const struct browse_tab browse_callers = {.name = "bottom-up", TREE_TAB};
