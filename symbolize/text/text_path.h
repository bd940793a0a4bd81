/* text_path.h - the way from a root to a block, for people:
 *
 *     g_cache (cache.c:12) +0x10 -> 4,096 B from hash_new() +0x38 -> 64 B from node_new()
 */
#ifndef SYMBOLIZE_TEXT_TEXT_PATH_H
#define SYMBOLIZE_TEXT_TEXT_PATH_H

#include "common/view/format_api.h"

/* In lines of its own, each indented so far. */
void text_path(const struct path *path, size_t indent, const struct view *view, FILE *stream);

/* "f()", or a place in a module; "an unknown place" of NULL. */
struct shown text_call(const struct frame *frame, const struct view *view, size_t columns);

#endif
