/* tree_list.c - writes a call tree as an indented list; described in explore.h.
 *
 * A function with a single listed call does not indent that call, so long chains stay in one
 * column.
 */
#include "symbolize/explore/explore.h"

#include <inttypes.h>
#include <string.h>

#include "common/view/text_frame.h"
#include "symbolize/profile/profile.h"
#include "symbolize/text/text.h"

#define SHARE_LEAST 200 /* a call with less than 1/200 of all bytes is not listed, but summed up */
#define INDENT_MOST 30

struct listing_tree {
    const struct call_tree *tree;
    const struct view *view;
    FILE *stream;
};

static void write_tree_numbers(const struct listing_tree *listing, struct amount amount)
{
    uint64_t all = listing->tree->nodes[0].all.bytes;

    fprintf(listing->stream, "%6.1f %% %10s %9s  ",
            all ? 100.0 * (double)amount.bytes / (double)all : 0, term_size(amount.bytes).text,
            term_number(amount.blocks).text);
}

static void write_call(const struct listing_tree *listing, const struct call_node *node, int indent)
{
    const struct view *view = listing->view;
    char buffer[FRAME_NAME_SIZE];
    struct term_text place = {.text = ""}, name;
    size_t room = text_columns(view) - 31 - (size_t)indent;

    if (node->frame)
        place = text_place(node->frame, view);
    if (view->full_names || view->verbose)
        room = 0;
    else
        room = room > place.columns + 12 ? room - place.columns - 2 : 10;
    if (node->frame) {
        name = text_function_name(node->frame, view, room);
    } else {
        const char *text = call_node_name(node, buffer);

        name = term_text(text, strlen(text), room);
    }
    write_tree_numbers(listing, node->all);
    fprintf(listing->stream, "%*s", indent, "");
    text_style(view, listing->stream, STYLE_NAME);
    fputs(name.text, listing->stream);
    text_style(view, listing->stream, STYLE_PLAIN);
    if (place.columns) {
        text_style(view, listing->stream, STYLE_FAINT);
        fprintf(listing->stream, "  %s", place.text);
        text_style(view, listing->stream, STYLE_PLAIN);
    }
    putc('\n', listing->stream);
}

static bool is_listed_call(const struct listing_tree *listing, const struct call_node *node)
{
    return listing->view->verbose ||
           node->all.bytes >= listing->tree->nodes[0].all.bytes / SHARE_LEAST;
}

/* Writes the calls that the function of node `up` makes. indent: the column in which these calls
 * begin. */
static void write_tree_calls(const struct listing_tree *listing, uint32_t up, int indent)
{
    const struct call_node *nodes = listing->tree->nodes;
    struct amount small = {0};
    size_t listed = 0, hidden = 0;

    for (uint32_t at = nodes[up].first; at; at = nodes[at].next) {
        if (is_listed_call(listing, &nodes[at])) {
            listed++;
        } else {
            hidden++;
            amount_add(&small, nodes[at].all);
        }
    }
    for (uint32_t at = nodes[up].first; at; at = nodes[at].next) {
        bool alone = listed + hidden == 1 && nodes[at].first && !nodes[nodes[at].first].next;

        if (!is_listed_call(listing, &nodes[at]))
            continue;
        write_call(listing, &nodes[at], indent);
        write_tree_calls(listing, at, alone || indent >= INDENT_MOST ? indent : indent + 2);
    }
    if (hidden && (small.bytes || !listed)) {
        write_tree_numbers(listing, small);
        fprintf(listing->stream, "%*s%s (-v lists them)\n", indent, "",
                term_count(hidden, "smaller call").text);
    }
}

static const char *empty_tree_words(enum weight weight)
{
    switch (weight) {
    case WEIGHT_LISTED:
        return "The report lists no records; try --weight=live, peak, allocated or temporary.\n";
    case WEIGHT_PEAK:
        return "What the heap consisted of at its peak is not known: the run was shorter than an "
               "eighth of a second.\n";
    default:
        return "There is nothing of this weight; try --weight=live or allocated.\n";
    }
}

static void write_tree_head(const struct report *report, const struct heap_profile *profile,
                            const struct view *view, FILE *stream)
{
    const struct amount *total = &profile->total[view->weight];

    if (report->process_count == 1)
        text_process_title(&report->processes[0], false, stream);
    else
        fprintf(stream, "%zu processes", report->process_count);
    fprintf(stream, ": %s in %s, %s;\n%s\n\n", term_size(total->bytes).text,
            term_count(total->blocks, "block").text, weight_words[view->weight],
            view->inverted ? "from the allocations to their callers"
                           : "from main to the allocations (--inverted: the other way round)");
    fputs("  share      bytes    blocks  function\n", stream);
}

void tree_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct heap_profile profile = heap_profile_begin(report, view, false);
    struct call_tree tree = call_tree_begin(&profile, view->weight, view->inverted);
    struct listing_tree listing = {&tree, view, stream};

    if (tree.count > 1) {
        write_tree_head(report, &profile, view, stream);
        write_tree_calls(&listing, 0, 0);
    } else if (!view->quiet) {
        fputs(empty_tree_words(view->weight), stream);
    }
    call_tree_end(&tree);
    heap_profile_end(&profile);
}

void peak_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct view peak = *view;

    peak.weight = WEIGHT_PEAK;
    tree_write(report, &peak, stream);
}
