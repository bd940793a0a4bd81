/* followed.h - leakrun --when-lost: which blocks of a record another run is to follow, and what that
 * run has recorded of them.
 */
#ifndef SYMBOLIZE_CLI_FOLLOWED_H
#define SYMBOLIZE_CLI_FOLLOWED_H

#include "common/names/resolve.h"
#include "symbolize/cli/options.h"

/* Adds what the recordings in the directories of --followed say to the records of the report. The
 * first directory with blocks of these records is that of the run that follows several blocks, later
 * ones refine it. Returns the number of directories with such blocks; a note of the first process says that
 * there was none. */
size_t followed_read(struct arena *mem, struct resolver *resolver, const struct options *options,
                     struct report *report);

/* Prints the value of follow_blocks= for the record of --blocks-to-follow. agreed: as returned by
 * followed_read. 0: that of the second run; 1: of one block, for a run that executes step by step
 * what lies between the two calls known so far, and watches who uses the block. Prints nothing when
 * there is nothing more to find out, and when a run did not agree and the next one will not either:
 * the blocks are the first thread's. False: there is no such record, or it is not lost; a line says why.
 */
bool followed_print_plan(const struct options *options, size_t agreed, const struct report *report,
                         FILE *stream);

#endif
