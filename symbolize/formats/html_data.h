/* html_data.h - the report as the page's script wants it: short keys, each frame once.
 *
 *     { verdicts, words, shown, processes: [{ records, entries, other, errors ... }],
 *       frames: [[function, file, line, module, role, inlined]], source: { frame: [line, [texts]] }
 * }
 *
 * A page is read by a browser, so its size is bounded: records beyond the first RECORDS_MOST of a
 * process are told as sums, and source goes with the frames that people look at first.
 */
#ifndef SYMBOLIZE_FORMATS_HTML_DATA_H
#define SYMBOLIZE_FORMATS_HTML_DATA_H

#include "common/view/format_api.h"

/* JSON that may stand in a script element. */
void html_data(const struct report *report, const struct view *view, FILE *stream);

#endif
