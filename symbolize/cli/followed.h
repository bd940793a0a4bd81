/* followed.h - leakrun --when-lost: runs the program again and follows lost blocks to the place
 * where their last pointer was lost. This module chooses the blocks that the next run follows, and
 * adds what a run recorded about them to the report.
 */
#ifndef SYMBOLIZE_CLI_FOLLOWED_H
#define SYMBOLIZE_CLI_FOLLOWED_H

#include "common/names/resolve.h"
#include "symbolize/cli/options.h"

/* Adds the results of further runs, whose recording files are in the directories of --followed, to
 * the records of the report. Results of later runs, which followed a single block, are more precise
 * and replace those of earlier ones. Without results, adds a note to the first process with
 * lost blocks. */
void followed_read(struct arena *mem, struct resolver *resolver, const struct options *options,
                   struct report *report);

/* Reads the results of the runs so far, and prints the values of the option follow_blocks= for the
 * next runs, one in a line. The first run follows blocks of the entry of --blocks-to-follow, or of
 * the first lost entries of the list. Then, for each of these entries, a run follows one block,
 * executes the code between the last two known calls step by step, and watches which code uses the
 * block; and another run records the functions that the block goes through. One run follows
 * blocks of some entries behind these first ones. A run without results is
 * repeated if the next one may have results. A '+' begins the line of a run that is for another
 * entry than the first one. A last line "again" says that more runs may follow: the results of these
 * decide. Prints nothing when a further run can find nothing new. False: there is no such record, or
 * it is not lost; a message says so. */
bool followed_print_plan(struct arena *mem, struct resolver *resolver,
                         const struct options *options, struct report *report, FILE *stream);

#endif
