/* massif.c - writes the heap over time for ms_print and massif-visualizer; described in formats.h.
 *
 * Each recorded moment is a snapshot. The peak and the end also have trees, from the allocating
 * functions to their callers.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <string.h>

#include "leak_escape.h"
#include "symbolize/profile/profile.h"

/* A call with less than 1/1000 of the bytes of its tree is not written by itself; such calls of one
 * function are summed up. (Valgrind's default is 1 %.) */
#define SMALLEST_SHARE 1000

struct writing {
    FILE *stream;
    const struct process *process;
    struct heap_profile profile;
    uint64_t started_ns, snapshots;
    uint64_t ms; /* time of the last snapshot, in milliseconds since the start of the process:
                  * programs that read the file want ascending times */
};

/* Writes a text with '#' replaced, because '#' begins a comment. */
static void write_massif_text(const char *text, FILE *stream)
{
    while (*text) {
        char shown[LEAK_ESCAPE_SIZE];
        size_t length = leak_escape(text, shown);

        fputs(*text == '#' ? "_" : shown, stream);
        text += length;
    }
}

/* ---- Writing a tree -------------------------------------------------------------------------- */

static bool is_small(const struct call_tree *tree, const struct call_node *node)
{
    return node->all.bytes < tree->nodes[0].all.bytes / SMALLEST_SHARE;
}

static void write_call_words(const struct call_node *node, FILE *stream)
{
    char buffer[FRAME_NAME_SIZE];
    const struct frame *frame = node->frame;

    if (frame && frame->has_offset)
        fprintf(stream, "0x%" PRIX64 ": ", frame->offset);
    else
        fputs("0x0: ", stream);
    write_massif_text(call_node_name(node, buffer), stream);
    fputs(" (", stream);
    if (frame && frame->file) {
        write_massif_text(base_name(frame->file), stream);
        fprintf(stream, ":%" PRIu32, frame->line);
    } else {
        fputs("in ", stream);
        write_massif_text(frame && frame->module ? frame->module : "no file", stream);
    }
    fputs(")\n", stream);
}

static void write_calls(const struct call_tree *tree, uint32_t index, int depth, FILE *stream)
{
    struct amount small = {0};
    size_t shown = 0, hidden = 0;

    for (uint32_t at = tree->nodes[index].first; at; at = tree->nodes[at].next) {
        if (is_small(tree, &tree->nodes[at])) {
            amount_add(&small, tree->nodes[at].all);
            hidden++;
        } else {
            shown++;
        }
    }
    fprintf(stream, "%*sn%zu: %" PRIu64 " ", depth, "", shown + (hidden != 0),
            tree->nodes[index].all.bytes);
    if (index)
        write_call_words(&tree->nodes[index], stream);
    else
        fputs("(heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n", stream);
    for (uint32_t at = tree->nodes[index].first; at; at = tree->nodes[at].next)
        if (!is_small(tree, &tree->nodes[at]))
            write_calls(tree, at, depth + 1, stream);
    if (hidden)
        fprintf(stream, "%*sn0: %" PRIu64 " in %zu places, all below massif's threshold (%.2f%%)\n",
                depth + 1, "", small.bytes, hidden, 100.0 / SMALLEST_SHARE);
}

/* ---- Writing the snapshots ------------------------------------------------------------------- */

/* Writes one snapshot. kind: "empty" = it has no tree. In a snapshot with a tree the bytes are
 * those of the tree, because readers want the two to be equal. */
static void write_snapshot(struct writing *writing, const struct moment *moment, const char *kind,
                           enum weight weight)
{
    uint64_t started = writing->started_ns, bytes = moment->bytes, ms = writing->ms;
    struct call_tree tree = {0};

    if (strcmp(kind, "empty") != 0) {
        tree = call_tree_begin(&writing->profile, weight, true);
        bytes = tree.nodes[0].all.bytes;
    }
    if (started && moment->time_ns > started + ms * 1000000)
        ms = (moment->time_ns - started) / 1000000;
    writing->ms = ms;
    fprintf(writing->stream,
            "#-----------\nsnapshot=%" PRIu64 "\n#-----------\ntime=%" PRIu64
            "\nmem_heap_B=%" PRIu64 "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
            writing->snapshots++, ms, bytes, kind);
    if (tree.count)
        write_calls(&tree, 0, 0, writing->stream);
    call_tree_end(&tree);
}

static void write_snapshots(struct writing *writing)
{
    const struct process *process = writing->process;
    const char *kind = writing->profile.total[WEIGHT_PEAK].bytes ? "peak" : "empty";
    struct moment top = process->peak;
    bool peak;
    struct moment end = {process->until_ns, process->live_bytes, process->live_blocks};

    if (!top.bytes) /* the stacks of the blocks at the peak are unknown */
        top = (struct moment){process->peak_ns, process->peak_bytes, 0};
    peak = top.bytes > end.bytes || *kind == 'p';
    for (size_t i = 0; i < process->history_count; i++) {
        const struct moment *moment = &process->history[i];

        if (peak && moment->time_ns >= top.time_ns) {
            write_snapshot(writing, &top, kind, WEIGHT_PEAK);
            peak = false;
        } else if (moment->time_ns < end.time_ns) {
            write_snapshot(writing, moment, "empty", WEIGHT_LIVE);
        }
    }
    if (peak)
        write_snapshot(writing, &top, kind, WEIGHT_PEAK);
    write_snapshot(writing, &end, "detailed", WEIGHT_LIVE);
}

/* Makes a report of the first process that the report does not omit; with --quiet, of none. */
static struct report report_of_one(const struct report *report, const struct view *view)
{
    struct report one = *report;
    size_t left = report->process_count;

    while (left && report_omits_process(one.processes, view)) {
        one.processes++;
        left--;
    }
    one.process_count = left && !view->quiet ? 1 : 0;
    return one;
}

void massif_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct report one = report_of_one(report, view);
    struct writing writing = {.stream = stream, .process = one.processes};

    fputs("desc: libleak " LEAK_VERSION, stream);
    if (report->process_count > 1)
        fprintf(stream, "; the first of %zu processes", report->process_count);
    fputs("\ncmd: ", stream);
    for (size_t i = 0; one.process_count && i < writing.process->argc; i++) {
        fputs(i ? " " : "", stream);
        write_massif_text(writing.process->argv[i], stream);
    }
    fputs("\ntime_unit: ms\n", stream);
    writing.profile = heap_profile_begin(&one, view, true);
    /* readers want at least one snapshot */
    write_snapshot(&writing, &(struct moment){0}, "empty", WEIGHT_LIVE);
    if (one.process_count) {
        writing.started_ns = writing.process->started_ns;
        write_snapshots(&writing);
    }
    heap_profile_end(&writing.profile);
}
