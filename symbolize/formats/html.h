/* html.h - the parts of the HTML page: the frames, and the facts of a process.
 *
 * html_page.c writes the page: an empty frame with report.css and report.js (html_assets.S), and
 * the data that the script shows. Keys are short, and each frame is written once:
 *
 *     { verdicts, words, shown, processes: [{ records, entries, other, errors ... }],
 *       frames: [[function, file, line, module, role, inlined]],
 *       source: { frame: [line, [texts]] } }
 *
 * A browser reads the page, so its size is bounded: of a process the records beyond the first
 * 10,000 are sums, and source is written for the frames that users look at first.
 */
#ifndef SYMBOLIZE_FORMATS_HTML_H
#define SYMBOLIZE_FORMATS_HTML_H

#include "common/base/hashmap.h"
#include "common/encode/json_writer.h"
#include "common/view/format_api.h"

/* "name", "running", "headline": [errors, the rest], "facts": [[property, value]] */
void html_facts(struct json_writer *json, const struct process *process);

/* The frames of a page; a zeroed one is empty. */
struct html_frames {
    struct hashmap ids; /* frame -> id + 1 */
    const struct frame **frames;
    size_t count, capacity;
};

/* The index of a frame in "frames"; adds it. */
uint64_t html_frames_id(struct html_frames *frames, const struct frame *frame);

/* "frames" and "source". */
void html_frames_write(struct json_writer *json, const struct html_frames *frames,
                       const struct view *view);
void html_frames_end(struct html_frames *frames);

#endif
