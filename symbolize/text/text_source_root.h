/* text_source_root.h - where the sources are that a report tells of, when that is not here.
 *
 * Whoever reads a report in the project's directory sees paths from there. Elsewhere each place
 * would carry the same long path: then it is said once.
 */
#ifndef SYMBOLIZE_TEXT_TEXT_SOURCE_ROOT_H
#define SYMBOLIZE_TEXT_TEXT_SOURCE_ROOT_H

#include <limits.h>

#include "common/view/format_api.h"

/* The directory that all user frames of the first records are below, NULL = there is none that is
 * long enough to be worth it, or some are near already. In the buffer. */
const char *text_base(const struct report *report, const struct view *view, char buffer[PATH_MAX]);

#endif
