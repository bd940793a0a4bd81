/* followed.h - leakrun --when-lost: which blocks of a record another run is to follow, and what that
 * run has recorded of them.
 */
#ifndef SYMBOLIZE_CLI_FOLLOWED_H
#define SYMBOLIZE_CLI_FOLLOWED_H

#include "common/names/resolve.h"
#include "symbolize/cli/options.h"

/* Adds what the recordings in the directories of --followed say to the records of the report. The
 * first directory is that of the run that follows several blocks, later ones refine it. Says so in a note of the first
 * process when no recording has blocks of its records. */
void followed_read(struct arena *mem, struct resolver *resolver, const struct options *options,
                   struct report *report);

/* Prints the value of follow_blocks= for the record of --blocks-to-follow. With --followed: of
 * one block, for a run that executes step by step what lies between the two calls known so far, and
 * watches who uses the block; nothing when there is nothing more to find out. False: there is no such record, or it is not lost; a line says why.
 */
bool followed_print_plan(const struct options *options, const struct report *report, FILE *stream);

#endif
