/* report.h - the interface between the model and the formats.
 *
 * A format is one function that writes a report to a stream, and one row in reports.c. What the
 * user asked for arrives as a struct view; a writer looks at nothing else.
 */
#ifndef SYMBOLIZE_REPORT_H
#define SYMBOLIZE_REPORT_H

#include <stdio.h>

#include "symbolize/model.h"
#include "symbolize/source.h"

struct view {
    bool all_frames;    /* runtime and allocator frames, too */
    bool verbose;       /* all callers, all names in full */
    bool quiet;         /* the summary line only */
    bool colour, links; /* the stream is a terminal that wants them */
    bool show[VERDICT_MAX];
    bool no_source; /* lines of it */
    bool content; /* what is in the blocks, too */
    bool suppressed; /* list what is suppressed, too */
    bool owners; /* what keeps reachable blocks alive, and nothing else */
    bool freed; /* who freed this address, and nothing else */
    uint64_t freed_address;
    size_t top;           /* records listed for each process, 0 = all */
    const char *again;    /* program line to run again, when the stores go away; else NULL */
    const char *relative; /* directory that paths are shown relative to, NULL = none */
    struct source_search source;
};

struct format {
    const char *name, *help;
    size_t top;  /* records listed for each process unless asked otherwise, 0 = all */
    bool recent; /* -v lists the recent frees */
    bool content; /* it shows what is in the blocks, asked or not */
    void (*write)(const struct report *report, const struct view *view, FILE *stream);
};

/* NULL when there is no format of this name; formats_at(i) is NULL behind the last one. */
const struct format *formats_find(const char *name);
const struct format *formats_at(size_t i);

#endif
