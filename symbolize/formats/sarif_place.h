/* sarif_place.h - frames as locations of SARIF.
 *
 * A file below the directory that paths are shown relative to is a path of the base %SRCROOT%, as
 * is a path that the compiler wrote as a relative one; others are whole URIs. Hosts refuse
 * locations without a file, so a frame without one has its module in its place.
 */
#ifndef SYMBOLIZE_FORMATS_SARIF_PLACE_H
#define SYMBOLIZE_FORMATS_SARIF_PLACE_H

#include "common/encode/json_writer.h"
#include "common/view/format_api.h"

#define SARIF_BASE "%SRCROOT%"

/* Into an open list, or as a key. id: 0 = none. message, also NULL. */
void sarif_location(struct json *json, const char *key, const struct frame *frame, uint64_t id,
                    const char *message, const struct view *view);
/* The same of a file alone. */
void sarif_file(struct json *json, const char *file, uint32_t line, uint64_t id,
                const char *message, const struct view *view);

/* Foreign text in a message: without what messages give a meaning to. malloc'd. */
char *sarif_words(const char *text);

/* "codeFlows": how the program got there, the outermost frame first. Nothing without files. */
void sarif_flow(struct json *json, const struct frame *const *frames, size_t count, size_t user,
                const struct view *view);

/* One of "stacks", with every frame, the innermost first. */
void sarif_stack(struct json *json, const char *message, const struct stack *stack,
                 const struct view *view);

/* The frame that a result is about: with a file, if there is one. NULL = there is no frame. */
const struct frame *sarif_title(const struct frame *const *frames, size_t count, size_t user);

#endif
