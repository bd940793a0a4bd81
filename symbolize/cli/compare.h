/* compare.h - the verbs of leakreport over several reports: diff and merge.
 *
 * Each takes stores, and reports that were written as JSON, and answers the exit status.
 */
#ifndef SYMBOLIZE_CLI_COMPARE_H
#define SYMBOLIZE_CLI_COMPARE_H

#include "symbolize/cli/options.h"

int compare_diff(struct options *options);
int compare_merge(struct options *options);

/* diff --survivors A B C: leaves C, seen through the window between the looks of the other two, to
 * be reported. False: said on stderr why not. */
bool compare_survivors(struct options *options);

#endif
