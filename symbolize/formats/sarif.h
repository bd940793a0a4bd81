/* sarif.h - the parts of a SARIF report: its rules, and frames as locations.
 *
 * A file below the directory that paths are relative to is a path of the base %SRCROOT%, and so is
 * a path that the compiler wrote as a relative one; others are whole URIs. Hosts reject locations
 * without a file, so the location of a frame without one is its module.
 */
#ifndef SYMBOLIZE_FORMATS_SARIF_H
#define SYMBOLIZE_FORMATS_SARIF_H

#include "common/encode/json_writer.h"
#include "common/view/format_api.h"

#define SARIF_BASE "%SRCROOT%"

/* ---- Rules: one for each verdict, type of error and type of resource ------------------------- */

struct sarif_rule {
    const char *id;
    const char *level; /* "error", "warning", "note" */
    const char *brief, *full, *help;
};

/* The rule with an id of the JSON report. Never NULL: unknown ids have the last rule. */
const struct sarif_rule *sarif_rule(const char *id);
size_t sarif_rule_index(const struct sarif_rule *rule);

/* "rules", into an open driver. */
void sarif_rules(struct json_writer *json);

/* ---- Locations ------------------------------------------------------------------------------- */

/* Into an open list, or as a key. id: 0 = none. message: or NULL. */
void sarif_location(struct json_writer *json, const char *key, const struct frame *frame,
                    uint64_t id, const char *message, const struct view *view);
/* A file without a frame. */
void sarif_file(struct json_writer *json, const char *file, uint32_t line, uint64_t id,
                const char *message, const struct view *view);

/* Foreign text for a message, without characters that messages interpret; free(3) it. */
char *sarif_escape(const char *text);

/* "codeFlows": the stack as steps, the outermost frame first. Nothing without files. */
void sarif_flow(struct json_writer *json, const struct frame *const *frames, size_t count,
                size_t user, const struct view *view);

/* An element of "stacks", with every frame, the innermost first. */
void sarif_stack(struct json_writer *json, const char *message, const struct stack *stack,
                 const struct view *view);

/* The frame that a result is about: with a file, if there is one. NULL = there is no frame. */
const struct frame *sarif_title_frame(const struct frame *const *frames, size_t count, size_t user);

#endif
