/* followed.h - leakrun --when-lost: runs the program again and follows lost blocks to the place
 * where their last pointer was lost. This module chooses the blocks that the next run follows, and
 * adds what a run recorded about them to the report.
 */
#ifndef SYMBOLIZE_CLI_FOLLOWED_H
#define SYMBOLIZE_CLI_FOLLOWED_H

#include "common/names/resolve.h"
#include "symbolize/cli/options.h"

/* Adds the results of further runs, whose recording files are in the directories of --followed, to
 * the records of the report. The first directory with results is that of the run that followed
 * several blocks; results of later ones are more precise and replace them. Returns the number of
 * directories with results; if it is 0, adds a note to the first process. */
size_t followed_read(struct arena *mem, struct resolver *resolver, const struct options *options,
                     struct report *report);

/* Prints the value of the option follow_blocks= for the next run, which shall follow blocks of the
 * record of --blocks-to-follow. agreed: the number of runs with results, as followed_read()
 * returned it. 0: the next run follows several blocks. 1: it follows one block, executes the code
 * between the last two known calls step by step, and watches which code uses the block. Prints
 * nothing when a further run can find nothing new, or when a run had no results and the next run
 * would have none either. False: there is no such record, or it is not lost; a message says so. */
bool followed_print_plan(const struct options *options, size_t agreed, const struct report *report,
                         FILE *stream);

#endif
