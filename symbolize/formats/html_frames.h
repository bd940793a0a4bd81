/* html_frames.h - the frames of a page, each once, and the source around them. */
#ifndef SYMBOLIZE_FORMATS_HTML_FRAMES_H
#define SYMBOLIZE_FORMATS_HTML_FRAMES_H

#include "common/encode/json_writer.h"
#include "common/base/hashmap.h"
#include "common/view/format_api.h"

/* A zeroed one is empty. */
struct html_frames {
    struct map ids; /* frame -> id + 1 */
    const struct frame **frames;
    size_t count, capacity;
};

/* Its place in "frames". */
uint64_t html_frames_id(struct html_frames *frames, const struct frame *frame);

/* "frames" and "source". */
void html_frames_write(struct json *json, const struct html_frames *frames,
                       const struct view *view);
void html_frames_end(struct html_frames *frames);

#endif
