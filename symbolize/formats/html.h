/* html.h - writes parts of the HTML page: the stacks, and the facts of a process.
 *
 * html_page.c writes the page: an empty frame with the style and the scripts of page/
 * (html_assets.S), and the data that the scripts show. Keys are short, and texts, frames and the
 * beginnings of stacks are written only once.
 *
 *     { verdicts, words, shown, processes: [{ records, entries, other, errors ... }],
 *       frames: { fn: [], file: [], line: [], module: [], kind: [] },
 *       stacks: { up: [], frame: [] },
 *       source: { frame: [line, [texts]] },
 *       texts: [null, ...] }
 *
 * A frame is its index in the five lists of "frames"; the elements of fn, file and module are
 * indices in "texts". A stack is the index of its innermost frame in "stacks"; index - "up" is the
 * stack of the caller. Stack 0 has no frames, and the caller's index is below its own for all
 * others.
 *
 * The page of a comparison (diff_html.c) has one process, and "changes", the words for the kinds of
 * change; its records have "ch", an index in "changes", and "ob" and "on", their bytes and blocks
 * in the old report.
 *
 * A browser must be able to load the page, so its size is limited: the records of a process beyond
 * the first 100,000 are summed up, and only frames that users look at first have source lines.
 */
#ifndef SYMBOLIZE_FORMATS_HTML_H
#define SYMBOLIZE_FORMATS_HTML_H

#include "common/base/arena.h"
#include "common/base/hashmap.h"
#include "common/encode/json_writer.h"
#include "common/view/format_api.h"
#include "symbolize/formats/html_shell.h"

/* most records of a process, or of a comparison, that are written; the others are summed up */
#define HTML_RECORDS_MOST 100000

/* Writes the headline and the facts of a process: "name", "running", "headline": [text about leaks,
 * other text], "facts": [[property, value]]. */
void html_facts(struct json_writer *json, const struct process *process);

/* Writes the heap graph of --heap, behind the other data; writes nothing without this option. If
 * the graph cannot be read, prints a message, and the page has no graph. */
void html_put_heap(const struct view *view, FILE *stream);

struct html_stack {
    uint32_t up, frame;
};

/* The stacks, frames and texts of a page; a zeroed struct is empty. */
struct html_stacks {
    struct arena *mem;
    struct hashmap frame_ids; /* frame -> index in `frames` + 1 */
    const struct frame **frames;
    size_t frame_count, frame_capacity;
    struct hashmap stack_ids; /* hash of the caller's stack and a frame -> index in `stacks` */
    struct html_stack *stacks;
    size_t stack_count, stack_capacity;
    struct hashmap text_ids; /* hash of a text -> index in `texts` */
    const char **texts;
    size_t text_count, text_capacity;
};

/* Return the index of a frame or a text in the page; add it if it is new. The frames must live
 * longer than this struct. */
uint32_t html_frame_id(struct html_stacks *stacks, const struct frame *frame);
uint32_t html_text_id(struct html_stacks *stacks, const char *text); /* NULL and "" have index 0 */

struct html_trace {
    const struct frame *const *frames;
    size_t count, user; /* user: index of the user frame */
};

/* Writes two members of an object: `key` with the index of the stack, and `user_key` with the
 * number of frames between the innermost frame and the user frame. */
void html_put_stack(struct json_writer *json, struct html_stacks *stacks, const struct view *view,
                    const char *key, const char *user_key, const struct html_trace *trace);

/* Writes the members "frames", "stacks", "source" and "texts". */
void html_stacks_write(struct json_writer *json, struct html_stacks *stacks,
                       const struct view *view);
void html_stacks_end(struct html_stacks *stacks);

#endif
