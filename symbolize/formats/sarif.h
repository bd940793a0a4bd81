/* sarif.h - writes parts of a SARIF report: its rules, and frames as locations.
 *
 * A file below the source directory (--relative) is written relative to the base %SRCROOT%, and so
 * is a relative path in the debug information; other paths are whole URIs. Hosts reject locations
 * without a file, so the location of a frame without one is its module.
 */
#ifndef SYMBOLIZE_FORMATS_SARIF_H
#define SYMBOLIZE_FORMATS_SARIF_H

#include "common/encode/json_writer.h"
#include "common/view/format_api.h"

#define SARIF_BASE "%SRCROOT%"

/* ---- sarif_rules.c: one rule for each verdict, type of error and type of resource ------------ */

struct sarif_rule {
    const char *id;
    const char *level; /* one of "error", "warning", "note" */
    const char *brief, *full, *help;
};

/* Finds the rule for a verdict, or for a type of error or resource, named by its word in the JSON
 * report. Never NULL: for unknown words it is the last rule. */
const struct sarif_rule *sarif_rule(const char *id);
size_t sarif_rule_index(const struct sarif_rule *rule);

/* Writes the list "rules" into the open object "driver". */
void sarif_rules(struct json_writer *json);

/* ---- sarif_locations.c: frames, files and stacks as locations -------------------------------- */

/* Writes the location of a frame, as member `key` of an object or, with NULL, into an open list.
 * id: 0 = the location has none. message: NULL = none. */
void sarif_location(struct json_writer *json, const char *key, const struct frame *frame,
                    uint64_t id, const char *message, const struct view *view);
/* Writes the location of a file that belongs to no frame. */
void sarif_file(struct json_writer *json, const char *file, uint32_t line, uint64_t id,
                const char *message, const struct view *view);

/* Escapes text of the program for a message of SARIF, in which some characters have a meaning. The
 * caller frees the result with free(3). */
char *sarif_escape(const char *text);

/* Writes "codeFlows": the frames of the stack as steps, the outermost first. Writes nothing if no
 * frame has a file. */
void sarif_flow(struct json_writer *json, const struct frame *const *frames, size_t count,
                size_t user, const struct view *view);

/* Writes an element of the list "stacks", with all frames, the innermost first. */
void sarif_stack(struct json_writer *json, const char *message, const struct stack *stack,
                 const struct view *view);

/* Returns the frame that the location of a SARIF result shows: a user frame with a file, if there
 * is one. NULL = the stack has no frames. */
const struct frame *sarif_title_frame(const struct frame *const *frames, size_t count, size_t user);

#endif
