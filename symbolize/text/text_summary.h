/* text_summary.h - the last line of every text report, for scripts:
 * "libleak: pid=42 lost=48/4/2 ... resources=0".
 */
#ifndef SYMBOLIZE_TEXT_TEXT_SUMMARY_H
#define SYMBOLIZE_TEXT_TEXT_SUMMARY_H

#include <stdio.h>

#include "common/model/model.h"

void text_summary(int32_t pid, const struct totals *totals, FILE *stream);

/* What stands behind "libleak: pid=42", to the end of the line. */
void text_totals(const struct totals *totals, FILE *stream);

#endif
