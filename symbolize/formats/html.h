/* html.h - the parts of the HTML page: the stacks, and the facts of a process.
 *
 * html_page.c writes the page: an empty frame with the style and the scripts of page/
 * (html_assets.S), and the data that the scripts show. Keys are short, and what repeats is written
 * once: texts, frames, and the beginnings of stacks.
 *
 *     { verdicts, words, shown, processes: [{ records, entries, other, errors ... }],
 *       frames: { fn: [], file: [], line: [], module: [], kind: [] },
 *       stacks: { up: [], frame: [] },
 *       source: { frame: [line, [texts]] },
 *       texts: [null, ...] }
 *
 * A frame is its index in the columns of "frames"; fn, file and module are indices in "texts". A
 * stack is the index of its innermost frame in "stacks"; index - "up" is the stack of the caller.
 * Stack 0 has no frames, and the caller's index is below its own for all others.
 *
 * The page of a comparison (diff_html.c) has "changes", the words of what may happen to a record,
 * and one process; its records have "ch", an index in these words, and "ob", "on", their bytes and
 * blocks before.
 *
 * A browser reads the page, so its size is bounded: of a process the records beyond the first
 * 100,000 are sums, and source is written for the frames that users look at first.
 */
#ifndef SYMBOLIZE_FORMATS_HTML_H
#define SYMBOLIZE_FORMATS_HTML_H

#include "common/base/arena.h"
#include "common/base/hashmap.h"
#include "common/encode/json_writer.h"
#include "common/view/format_api.h"
#include "symbolize/formats/html_shell.h"

#define HTML_RECORDS_MOST 100000 /* of a process, or a comparison */

/* "name", "running", "headline": [errors, the rest], "facts": [[property, value]] */
void html_facts(struct json_writer *json, const struct process *process);

/* The graph of --heap, behind the data; nothing without the option. Where it cannot be read a message
 * says so, and the page is without it. */
void html_put_heap(const struct view *view, FILE *stream);

struct html_stack {
    uint32_t up, frame;
};

/* The stacks, frames and texts of a page; begin with a zeroed one. */
struct html_stacks {
    struct arena *mem;
    struct hashmap frame_ids; /* frame -> index + 1 */
    const struct frame **frames;
    size_t frame_count, frame_capacity;
    struct hashmap stack_ids; /* up and frame -> index */
    struct html_stack *stacks;
    size_t stack_count, stack_capacity;
    struct hashmap text_ids; /* hash -> index */
    const char **texts;
    size_t text_count, text_capacity;
};

/* The index of a frame or a text; adds it. The frames must outlive the page. */
uint32_t html_frame_id(struct html_stacks *stacks, const struct frame *frame);
uint32_t html_text_id(struct html_stacks *stacks, const char *text); /* NULL, "" = 0 */

struct html_trace {
    const struct frame *const *frames;
    size_t count, user; /* user: index of the frame that it is about */
};

/* Two members: the stack, and the index of its user frame from the innermost one. */
void html_put_stack(struct json_writer *json, struct html_stacks *stacks, const struct view *view,
                    const char *key, const char *user_key, const struct html_trace *trace);

/* "frames", "stacks", "source" and "texts". */
void html_stacks_write(struct json_writer *json, struct html_stacks *stacks,
                       const struct view *view);
void html_stacks_end(struct html_stacks *stacks);

#endif
