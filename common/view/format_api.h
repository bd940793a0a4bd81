/* format_api.h - the interface between the model and the formats.
 *
 * A format is one function that writes a report to a stream, and one row in format_table.c. All
 * that the user asked for arrives as a struct view; a writer reads nothing else.
 */
#ifndef COMMON_VIEW_FORMAT_API_H
#define COMMON_VIEW_FORMAT_API_H

#include <stdio.h>

#include "common/view/report_set.h"
#include "common/model/model.h"
#include "common/names/source.h"

/* K(NAME, word on the command line, heading of its column) */
#define BY_TABLE(K)                                                                                \
    K(FUNCTION, "function", "function")                                                            \
    K(FILE, "file", "file")                                                                        \
    K(MODULE, "module", "module")                                                                  \
    K(SIZE, "size", "size of a block, on average")                                                 \
    K(KIND, "kind", "kind")                                                                        \
    K(THREAD, "thread", "threads")                                                                 \
    K(SITE, "site", "site")                                                                        \
    K(TAG, "tag", "tag of the program's")                                                          \
    K(TYPE, "type", "type")

/* What a stack is weighed by, in bytes and blocks. W(NAME, word, meaning) */
#define WEIGHT_TABLE(W)                                                                            \
    W(LISTED, "listed", "of the records that the report lists")                                    \
    W(LEAKED, "leaked", "lost and indirectly lost")                                                \
    W(LIVE, "live", "not freed, whatever the verdict")                                             \
    W(PEAK, "peak", "live when the heap was largest")                                              \
    W(ALLOCATED, "allocated", "ever allocated, freed or not")                                      \
    W(TEMPORARY, "temporary", "freed by their thread after a few more allocations, at most")

enum weight {
#define W(name, word, meaning) WEIGHT_##name,
    WEIGHT_TABLE(W)
#undef W
        WEIGHT_MAX
};

enum by_key {
    BY_NOTHING,
#define K(name, word, head) BY_##name,
    BY_TABLE(K)
#undef K
        BY_MAX
};

/* How JSON writes a stack: its frames, or indices in a table of all frames. */
enum json_frames { JSON_FRAMES_AUTO, JSON_FRAMES_INLINE, JSON_FRAMES_TABLE };

struct view {
    bool all_frames;    /* show runtime and allocator frames, too */
    bool verbose;       /* all callers, full names */
    bool full_names;    /* names with template arguments and parameters, absolute paths */
    bool quiet;         /* only the summary line */
    bool exact;         /* frames with their depth, symbol, column, module, offset and build-id */
    bool apart;         /* list each record by itself, not in groups */
    bool colour, links; /* the stream is a terminal that supports them */
    bool show[VERDICT_MAX];
    bool chosen;     /* show is what the user said, not the default */
    bool no_source;  /* omit source lines */
    bool content;    /* show the contents of blocks */
    bool suppressed; /* list suppressed records, too */
    bool growing;    /* list only what grows */
    bool owners;     /* list only what keeps reachable blocks alive */
    bool blocks;     /* list only single blocks, as far as they are known */
    enum by_key by;  /* write only a table by this key */
    enum json_frames json_frames;
    enum weight weight;
    bool inverted;    /* call trees from the allocations outwards */
    const char *heap; /* a graph file, which html shows as well; NULL: none */
    bool freed;       /* tell only which calls freed this address */
    uint64_t freed_address;
    bool who;             /* tell only what is at an address and points to it */
    size_t columns;       /* that lines may have, 0 = 80 */
    size_t rows;          /* of the terminal that shows the report, 0 = unknown */
    size_t top;           /* records to list for each process, 0 = all */
    const char *again;    /* program to suggest for another run, when the recording files are
                             temporary; else NULL */
    const char *relative; /* directory that paths are shown relative to, NULL = none */
    struct source_search source;
    const struct report_set *baseline; /* NULL = none given */

    /* State of the text report alone, which shortens itself to fit a screen. */
    unsigned terse;    /* 0 = everything, up to TEXT_TERSEST: see text_fit.c */
    size_t callers;    /* that each stack shows, 0 = the default of `terse` */
    const size_t *fit; /* likewise by place in the list of records; NULL = `callers` for all */
    bool no_next;      /* leave out the next command */
    size_t written;    /* lines before the first process */
    bool when_told;    /* the allocation times are shown elsewhere */
};

/* Traits of a format. */
enum {
    FORMAT_RECENT = 1,    /* -v lists the recent frees */
    FORMAT_ALLOCATED = 2, /* needs what every stack allocated */
    FORMAT_BINARY = 4,    /* not for a terminal */
    FORMAT_CONTENT = 8,   /* shows the contents of blocks even without --content */
    FORMAT_ALL = 16,      /* lists all verdicts unless --show restricts them */
    FORMAT_BY = 32,       /* supports --by */
    FORMAT_BLOCKS = 64,   /* supports --blocks */
    FORMAT_MODULES = 128, /* says what to do about modules without debug information */
    FORMAT_TYPES = 256,   /* says what the blocks are: of records with verdicts to show … */
    FORMAT_EVERY = 512,   /* … and of all others, which it has as well */
    FORMAT_LISTED = 1024, /* only if it lists records (text_tells_modules) */
    FORMAT_WEIGHT = 2048, /* supports --weight */
    FORMAT_TREE = 4096,   /* supports --inverted */
    FORMAT_VERB = 8192,   /* its name is a command of leakreport as well */
    FORMAT_SCREEN =
        16384, /* takes the whole terminal (browse_run); `write` is for where there is none */
};

struct format {
    const char *name, *help;
    size_t top; /* default of --top, 0 = all */
    unsigned traits;
    void (*write)(const struct report *report, const struct view *view, FILE *stream);
};

/* Says whether the report leaves out a process. True for a forked child that then called exec, as a
 * shell does, and for a program that was replaced by the next one of its process, as a wrapper
 * script is: its memory vanished with exec, so only -v shows it, and --show the latter. */
bool report_omits_process(const struct process *process, const struct view *view);

/* Is a record listed by itself? Indirectly lost records only when the view shows that verdict. */
bool report_lists_record(const struct record *record, const struct view *view);

/* Index after the last listed record: honours "top"; "quiet" lists none. */
size_t report_listed_end(const struct process *process, const struct view *view);

/* The path of a source file as the user would type it; in buffer, or part of the given strings. */
const char *report_display_path(const struct view *view, const char *file, char *buffer,
                                size_t size);

/* Iterates over the listed records, for formats that list each record by itself. Suppressed records
 * only on request. Indirectly lost records are listed beside lost ones. */
struct listing {
    const struct process *process;
    const struct view *view;
    size_t at, given; /* index of the next record; number of records returned */
    bool owners;      /* skip records owned by a listed one, unless the view shows that verdict */
    bool suppressed;  /* return suppressed records in any case */
};

/* NULL = no more. Begin with {process, view}. */
const struct record *listing_next(struct listing *listing);

/* format_find(): NULL when no format has this name. format_at(i): NULL after the last one. */
const struct format *format_find(const char *name);
const struct format *format_at(size_t i);

#endif
