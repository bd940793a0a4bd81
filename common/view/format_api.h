/* format_api.h - the interface between the model and the formats.
 *
 * A format is one function that writes a report to a stream, and one row in format_table.c. What
 * the user asked for arrives as a struct view; a writer looks at nothing else.
 */
#ifndef COMMON_VIEW_FORMAT_API_H
#define COMMON_VIEW_FORMAT_API_H

#include <stdio.h>

#include "common/view/report_set.h"
#include "common/model/model.h"
#include "common/names/source.h"

/* K(NAME, word on the command line, head of its column) */
#define BY_TABLE(K)                                                                                \
    K(FUNCTION, "function", "function")                                                            \
    K(FILE, "file", "file")                                                                        \
    K(MODULE, "module", "module")                                                                  \
    K(SIZE, "size", "size of a block, on average")                                                 \
    K(KIND, "kind", "kind")                                                                        \
    K(THREAD, "thread", "threads")                                                                 \
    K(SITE, "site", "site")                                                                        \
    K(TAG, "tag", "tag of the program's")

enum by_key {
    BY_NOTHING,
#define K(name, word, head) BY_##name,
    BY_TABLE(K)
#undef K
        BY_MAX
};

struct view {
    bool all_frames;    /* runtime and allocator frames, too */
    bool verbose;       /* all callers, all names in full */
    bool full_names;    /* names with template arguments and parameters, paths from the root */
    bool quiet;         /* the summary line only */
    bool exact;         /* frames with their depth, symbol, column, module, offset and build-id */
    bool apart;         /* each record by itself, not in entries */
    bool colour, links; /* the stream is a terminal that wants them */
    bool show[VERDICT_MAX];
    bool no_source;  /* lines of it */
    bool content;    /* what is in the blocks, too */
    bool suppressed; /* list what is suppressed, too */
    bool growing;    /* list what grows, and nothing else */
    bool owners;     /* what keeps reachable blocks alive, and nothing else */
    bool blocks;     /* each block that is known singly, and nothing else */
    enum by_key by;  /* a table by this, and nothing else */
    bool freed;      /* who freed this address, and nothing else */
    uint64_t freed_address;
    bool who;             /* what is at an address and points at it, and nothing else */
    size_t top;           /* records listed for each process, 0 = all */
    const char *again;    /* program line to run again, when the stores go away; else NULL */
    const char *relative; /* directory that paths are shown relative to, NULL = none */
    struct source_search source;
    const struct ledger *baseline; /* what was there before, NULL = nobody said */

    /* The text report's own, so that little fits a screen. */
    unsigned
        terse; /* 0 = all is said; 1 = two callers, 2 = one; lines of source: 3 = one, 4 = none */
    size_t written; /* lines before the first process */
    bool when_told; /* when blocks were allocated is said elsewhere */
};

/* Of a format. */
enum {
    FORMAT_RECENT = 1,    /* -v lists the recent frees */
    FORMAT_ALLOCATED = 2, /* wants to know what every stack allocated */
    FORMAT_BINARY = 4,    /* nothing for a terminal */
    FORMAT_CONTENT = 8,   /* shows what is in the blocks, asked or not */
    FORMAT_ALL = 16,      /* lists all verdicts unless --show says which */
    FORMAT_BY = 32,       /* has tables */
    FORMAT_BLOCKS = 64,   /* can list single blocks */
};

struct format {
    const char *name, *help;
    size_t top; /* records listed for each process unless asked otherwise, 0 = all */
    unsigned traits;
    void (*write)(const struct report *report, const struct view *view, FILE *stream);
};

/* Is it a shell's way to a program? What a child had was gone with its exec: nobody wants to know.
 */
bool report_passes(const struct process *process, const struct view *view);

/* Is a record listed by itself? What is lost with its owner is when that is asked for. */
bool report_lists(const struct record *record, const struct view *view);

/* Index behind the last record that is listed: "top" counts, and "quiet" lists none. */
size_t report_end(const struct process *process, const struct view *view);

/* The path of a source file as the user would type it; in buffer, or part of the texts given. */
const char *report_path(const struct view *view, const char *file, char *buffer, size_t size);

/* NULL when there is no format of this name; formats_at(i) is NULL behind the last one. */
const struct format *formats_find(const char *name);
const struct format *formats_at(size_t i);

#endif
