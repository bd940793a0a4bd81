/* format_api.h - the interface between the model and the formats.
 *
 * A format is one function that writes a report to a stream, and one row in format_table.c. All
 * options of the user that matter for it are in a struct view.
 */
#ifndef COMMON_VIEW_FORMAT_API_H
#define COMMON_VIEW_FORMAT_API_H

#include <stdio.h>

#include "common/view/report_set.h"
#include "common/model/model.h"
#include "common/names/source.h"

/* The keys of --by. K(NAME, word on the command line, heading of its column) */
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

/* The weights of --weight: what is summed in bytes and blocks for each stack. W(NAME, word,
 * meaning) */
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

/* How JSON writes a stack (--json-frames): its frames, or indices in a table of all frames. */
enum json_frames { JSON_FRAMES_AUTO, JSON_FRAMES_INLINE, JSON_FRAMES_TABLE };

struct view {
    bool all_frames;    /* also show runtime and allocator frames */
    bool verbose;       /* show all callers and full names */
    bool full_names;    /* names with template arguments and parameters, absolute paths */
    bool quiet;         /* print only the summary line */
    bool exact;         /* show depth, symbol, column, module, offset and build-id of each frame */
    bool apart;         /* list each record separately, not grouped in entries */
    bool colour, links; /* the stream is a terminal with colours, with hyperlinks */
    bool show[VERDICT_MAX];
    bool chosen;     /* the user set `show` (--show), else it has the default */
    bool no_source;  /* leave source lines out */
    bool content;    /* show the contents of blocks */
    bool suppressed; /* also list suppressed records */
    bool growing;    /* list only growing records */
    bool owners;     /* list only roots, with what they keep alive */
    bool blocks;     /* list only single blocks, as far as the recording has them */
    enum by_key by;  /* write only a table of sums by this key */
    enum json_frames json_frames;
    enum weight weight;
    bool inverted;    /* show call trees from the allocations to their callers */
    const char *heap; /* graph file that html shows as well; NULL: none */
    bool freed;       /* show only the calls that freed freed_address */
    uint64_t freed_address;
    bool who;             /* show only what is at the address of --who, and what points to it */
    size_t columns;       /* width of lines, 0 = 80 */
    size_t rows;          /* height of the terminal that shows the report, 0 = unknown */
    size_t top;           /* most records to list for each process, 0 = all */
    const char *again;    /* program that the report suggests to run again, since the recordings
                           * are temporary; else NULL */
    const char *relative; /* paths below this directory are shown relative to it, NULL = none */
    struct source_search source;
    const struct report_set *baseline; /* an earlier report to compare with, NULL = none */

    /* State of the text report, which shortens itself to fit a screen. */
    unsigned terse;       /* level of shortening: 0 = everything, up to TEXT_TERSEST (text_fit.c) */
    unsigned terse_first; /* the level for the first record if `fit` is set */
    size_t callers;       /* number of callers that each stack shows, 0 = the default for `terse` */
    const size_t *fit;    /* number of callers for each record, by its place in the list; NULL =
                        * `callers` for all */
    bool no_next;         /* leave out the suggestion of a next command */
    bool no_handover;     /* leave out to which functions callers pass the blocks */
    size_t written;       /* number of lines that the report has before its first process */
    bool when_told;       /* another part of the report shows the allocation times */
};

/* Traits of a format, as bits. */
enum {
    FORMAT_RECENT = 1,    /* lists recent frees with -v */
    FORMAT_ALLOCATED = 2, /* needs the blocks that every stack allocated */
    FORMAT_BINARY = 4,    /* binary, so not written to a terminal */
    FORMAT_CONTENT = 8,   /* shows the contents of blocks even without --content */
    FORMAT_ALL = 16,      /* lists all verdicts unless --show restricts them */
    FORMAT_BY = 32,       /* supports --by */
    FORMAT_BLOCKS = 64,   /* supports --blocks */
    FORMAT_MODULES = 128, /* says how to get debug information for modules that have none */
    FORMAT_TYPES = 256,   /* shows the types of blocks, for records whose verdicts --show lists */
    FORMAT_EVERY = 512,   /* with FORMAT_TYPES: shows the types for all records, not only for those
                           * that --show lists */
    FORMAT_LISTED = 1024, /* applies FORMAT_MODULES only if the report lists a record */
    FORMAT_WEIGHT = 2048, /* supports --weight */
    FORMAT_TREE = 4096,   /* supports --inverted */
    FORMAT_VERB = 8192,   /* the format's name is also a command of leakreport */
    FORMAT_SCREEN =
        16384, /* takes the whole terminal; if the output is no terminal, `write` is called */
};

struct format {
    const char *name, *help;
    size_t top; /* default of --top, 0 = all */
    unsigned traits;
    void (*write)(const struct report *report, const struct view *view, FILE *stream);
};

/* Says whether the report leaves out a process because it lost its memory by calling exec: a forked
 * child, as a shell makes; or a program that a later program of the same process replaced, as in a
 * wrapper script. -v shows both; --show shows replaced programs. */
bool report_omits_process(const struct process *process, const struct view *view);

/* Says whether a record is listed by itself. An indirectly lost record is listed by itself only if
 * the view shows that verdict; else it appears with the lost record that owns it. */
bool report_lists_record(const struct record *record, const struct view *view);

/* Returns the index in the process's records after the last listed one: at most `top` are listed,
 * none if `quiet`. */
size_t report_listed_end(const struct process *process, const struct view *view);

/* The path of a source file as the user would type it: after the path substitutions of the user,
 * relative to view->relative. It is in buffer, or part of the given strings. */
const char *report_display_path(const struct view *view, const char *file, char *buffer,
                                size_t size);

/* Iterates over the records for formats that list each record by itself. Suppressed records are
 * skipped unless requested. Indirectly lost records are listed beside lost ones. */
struct listing {
    const struct process *process;
    const struct view *view;
    size_t at, given; /* index of the next record; number of records returned */
    bool owners;      /* skip indirectly lost records whose owner is listed, unless the view
                       * shows that verdict */
    bool suppressed;  /* include suppressed records in any case */
};

/* The next record of a listing that began as {process, view}; NULL = no more. */
const struct record *listing_next(struct listing *listing);

/* Find a format: by its name, NULL = none; by its place in the table, from 0, NULL after the last
 * one. */
const struct format *format_find(const char *name);
const struct format *format_at(size_t i);

#endif
