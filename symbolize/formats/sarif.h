/* sarif.h - results for code scanning hosts and editors: SARIF 2.1.0.
 *
 * One run for all processes; equal processes are told once, with how often. What hosts refuse to
 * take is left out, the least first, and said.
 */
#ifndef SYMBOLIZE_FORMATS_SARIF_H
#define SYMBOLIZE_FORMATS_SARIF_H

#include "common/view/format_api.h"

void sarif_write(const struct report *report, const struct view *view, FILE *stream);

#endif
