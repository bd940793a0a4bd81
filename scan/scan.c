/* scan.c - the commands leakctl scan and leakreport core. */
#include "scan/scan.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/base/term_text.h"
#include "scan/image/core_image.h"
#include "scan/image/process_image.h"
#include "scan/report/report.h"

#define LOOKS_MOST 4

/* ---- Options of the commands ----------------------------------------------------------------- */

static const char *const formats[] = {"text", "json", NULL};
static const char *const shows[] = {"leaks", "all", NULL};
static const char *const pauses[] = {"short", "whole", NULL};

#define FIELD(field) .offset = offsetof(struct scan_options, field)
#define COMMON_ROWS                                                                                \
    {.name = "format",                                                                             \
     .value = "text|json",                                                                         \
     .type = OPTION_TYPE_WORD,                                                                     \
     FIELD(format),                                                                                \
     .words = formats,                                                                             \
     .help = "text (the default), or JSON: docs/scan.schema.json"},                                \
        {.name = "show",                                                                           \
         .value = "leaks|all",                                                                     \
         .type = OPTION_TYPE_WORD,                                                                 \
         FIELD(show),                                                                              \
         .words = shows,                                                                           \
         .help = "also list reachable blocks by size and class"},                                  \
        {.name = "top",                                                                            \
         .value = "N",                                                                             \
         .type = OPTION_TYPE_NUMBER,                                                               \
         FIELD(most),                                                                              \
         .least = 0,                                                                               \
         .most = 1000000000,                                                                       \
         .help = "list at most N records as text (20)"},                                           \
        {.name = "no-content", FIELD(no_content), .help = "show no bytes of blocks"},              \
        {.letter = 'h', .name = "help", FIELD(help), .help = "this text"},                         \
    {                                                                                              \
        0                                                                                          \
    }

const struct option_row scan_process_options[] = {
    {.name = "pause",
     .value = "short|whole",
     .type = OPTION_TYPE_WORD,
     FIELD(pause),
     .words = pauses,
     .help = "stop the process while its registers and stacks are read, and look twice (short), or "
             "until all its memory is copied"},
    COMMON_ROWS};

static const struct option_row core_options[] = {COMMON_ROWS};

/* ---- Steps of a scan ------------------------------------------------------------------------- */

struct scan {
    struct arena *mem;
    const struct scan_options *options;
    struct image image;
    struct objects objects;
    struct glibc_heap heap;
    struct roots roots;
    struct marking marking;
    struct lost_graph graph;
    struct scan_report report;
};

static bool complain(const char *tool, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", tool, term_text(what, strlen(what), 0).text);
    return false;
}

/* Frees the results of one examination of the process; the image stays. */
static void end_look(struct scan *scan)
{
    lost_graph_end(&scan->graph);
    mark_end(&scan->marking);
    roots_end(&scan->roots);
    glibc_heap_end(&scan->heap);
    if (scan->objects.image)
        objects_end(&scan->objects);
    scan->objects = (struct objects){0};
    scan->heap = (struct glibc_heap){0};
    scan->graph = (struct lost_graph){0};
    scan->marking = (struct marking){0};
    scan->roots = (struct roots){0};
}

/* Examines the process once: reads heap and roots from the image, and marks the blocks. False:
 * *trouble says why. */
static bool look(struct scan *scan, uint64_t seen_ns, const struct earlier_verdicts *earlier,
                 const char **trouble)
{
    objects_read(&scan->objects, &scan->image, seen_ns);
    if (!glibc_heap_read(&scan->heap, &scan->objects, trouble))
        return false;
    roots_find(&scan->roots, &scan->image, &scan->objects, &scan->heap);
    *trouble = "not enough memory";
    return mark_run(&scan->marking, &scan->objects, &scan->heap, &scan->roots, earlier);
}

static bool is_damaged(const struct glibc_heap *heap)
{
    bool broken = heap->lists_damaged;

    for (size_t i = 0; i < heap->arena_count; i++)
        broken |= heap->arenas[i].broken;
    return broken;
}

/* ---- Notes on how certain the verdicts are --------------------------------------------------- */

static void note_heap(struct scan *scan)
{
    const struct glibc_heap *heap = &scan->heap;
    size_t broken = 0;

    for (size_t i = 0; i < heap->arena_count; i++)
        broken += heap->arenas[i].broken;
    if (broken)
        report_note(&scan->report,
                    arena_format(scan->mem,
                                 "Warning: the heap of %s is damaged or not complete: %s of it "
                                 "could not be divided into blocks and only counts as a root",
                                 term_count(broken, "arena").text,
                                 term_size(heap->unknown_bytes).text));
    if (heap->lists_damaged)
        report_note(&scan->report,
                    "Warning: a fast bin is damaged: free blocks may be called lost");
    if (!heap->version)
        report_note(&scan->report, "Warning: the version of glibc is not known");
}

static void note_libleak(struct scan *scan)
{
    for (size_t i = 0; i < scan->objects.count; i++)
        if (object_is_named(&scan->objects.object[i], "libleak.so"))
            report_note(&scan->report,
                        "The process runs under libleak: leakctl snapshot knows the call stacks");
}

/* Makes the groups of blocks and writes the report. */
static bool finish(struct scan *scan, uint64_t since)
{
    struct groups groups;

    if (!lost_graph_build(&scan->graph, &scan->marking))
        return false;
    groups_make(&groups, &scan->marking, &scan->graph, scan->options->show == SCAN_ALL);
    note_heap(scan);
    note_libleak(scan);
    scan->report.image = &scan->image;
    scan->report.heap = &scan->heap;
    scan->report.groups = &groups;
    scan->report.root_bytes = scan->roots.bytes;
    scan->report.most = scan->options->most;
    scan->report.content = !scan->options->no_content;
    scan->report.check_ns = time_steady_ns() - since;
    if (scan->options->format == SCAN_JSON)
        report_write_json(&scan->report, stdout);
    else
        report_write_text(&scan->report, stdout);
    groups_end(&groups);
    return true;
}

static void begin(struct scan *scan, const struct scan_options *options)
{
    *scan = (struct scan){.mem = arena_begin(), .options = options};
    image_begin(&scan->image, scan->mem);
}

static void end(struct scan *scan)
{
    end_look(scan);
    image_end(&scan->image);
    arena_end(scan->mem);
}

/* ---- Scanning a running process -------------------------------------------------------------- */

static bool stop_and_read(struct scan *scan, struct process_image *process, bool whole,
                          const char **trouble)
{
    uint64_t paused;

    if (!process_image_stop(process, whole, trouble))
        return false;
    paused = process_image_resume(process);
    scan->report.pause_ns += paused;
    if (paused > scan->report.longest_ns)
        scan->report.longest_ns = paused;
    scan->report.looks++;
    return true;
}

/* Examines a process until two examinations agree. If the heap changed while it was read, the whole
 * memory is copied while the process is stopped. False: *trouble says why. */
static bool look_at_process(struct scan *scan, struct process_image *process, const char **trouble)
{
    struct earlier_verdicts earlier = {0};
    bool whole = scan->options->pause == SCAN_PAUSE_WHOLE, done = false, good = true;

    while (good && !done) {
        bool first = !earlier.count;

        end_look(scan);
        good = stop_and_read(scan, process, whole, trouble) &&
               look(scan, time_now_ns(), earlier.count ? &earlier : NULL, trouble);
        if (!good || whole)
            break;
        if (is_damaged(&scan->heap)) {
            whole = true;
            mark_forget(&earlier);
            continue;
        }
        if (first)
            mark_remember(&scan->marking, &earlier);
        done = !first || !earlier.count || scan->report.looks >= LOOKS_MOST;
    }
    mark_forget(&earlier);
    return good;
}

bool scan_process(const char *tool, int pid, const struct scan_options *options)
{
    struct scan scan;
    uint64_t since = time_steady_ns();
    const char *trouble = NULL;
    struct process_image *process;
    bool good;

    begin(&scan, options);
    process = process_image_open(&scan.image, pid, &trouble);
    good = process && look_at_process(&scan, process, &trouble);
    if (good && process_image_missed(process))
        report_note(&scan.report,
                    arena_format(scan.mem,
                                 "Warning: %s could not be stopped: registers unknown, "
                                 "the stack read whole",
                                 term_count(process_image_missed(process), "thread").text));
    if (good && !finish(&scan, since)) {
        trouble = "not enough memory";
        good = false;
    }
    if (!good && kill(pid, 0) != 0 && errno == ESRCH)
        trouble = process ? "it ended while it was read" : "no such process";
    if (!good)
        complain(tool, arena_format(scan.mem, "%d: %s", pid, trouble));
    process_image_close(process);
    end(&scan);
    return good;
}

/* ---- Scanning a core file -------------------------------------------------------------------- */

static void note_core(struct scan *scan, const struct core_image *core)
{
    uint64_t truncated = core_image_truncated(core), missing = scan->image.missing_bytes;

    if (truncated)
        report_note(&scan->report,
                    arena_format(scan->mem,
                                 "Warning: the core file is truncated: %s are missing and may "
                                 "hold any block, so none is called lost but possibly lost",
                                 term_size(truncated).text));
    else if (missing)
        report_note(&scan->report,
                    arena_format(scan->mem,
                                 "Warning: %s of writable memory are not in the core "
                                 "file: what only they hold is called lost",
                                 term_size(missing).text));
    if (!scan->image.thread_count)
        report_note(&scan->report,
                    "Warning: the core file has no registers: stacks are read whole");
}

bool scan_core(const char *tool, const char *path, const char *program,
               const struct scan_options *options)
{
    struct scan scan;
    uint64_t since = time_steady_ns();
    const char *trouble = NULL;
    struct core_image *core;
    bool good;

    begin(&scan, options);
    core = core_image_open(&scan.image, path, program, &trouble);
    good = core != NULL;
    good = good && look(&scan, core_image_time_ns(core), NULL, &trouble);
    scan.report.core = path;
    scan.report.looks = 1;
    if (good)
        note_core(&scan, core);
    if (good && core_image_truncated(core))
        mark_doubt_lost(&scan.marking);
    if (good && !finish(&scan, since)) {
        trouble = "not enough memory";
        good = false;
    }
    if (!good && core && core_image_truncated(core))
        trouble = arena_format(scan.mem, "the core file is truncated (%s are missing): %s",
                               term_size(core_image_truncated(core)).text, trouble);
    if (!good)
        complain(tool, arena_format(scan.mem, "%s: %s", path, trouble));
    core_image_close(core);
    end(&scan);
    return good;
}

static int print_core_help(void)
{
    puts("usage: leakreport core CORE [PROGRAM] [option...]\n"
         "Looks for leaks in a core file, of a program that ran without libleak. PROGRAM: its "
         "file,\n"
         "if it is not where the core says. Exit status: 0, 2 for usage or an unusable file.");
    command_line_print_table(core_options, 26, stdout);
    return 0;
}

int scan_core_command(int argc, char **argv)
{
    struct command_line line = {
        .tool = "leakreport", .hint = "leakreport core --help", .tables = {core_options}};
    struct scan_options options = {.most = SCAN_RECORDS_SHOWN};
    const char *files[2] = {NULL, NULL};
    int count = 0;

    for (int i = 2; i < argc;) { /* the arguments behind "leakreport core" */
        if (command_line_is_option(argv[i])) {
            if (!command_line_parse(&line, &options, argv, &i))
                return 2;
        } else if (count == 2) {
            command_line_complain(&line, "too many words", argv[i]);
            return 2;
        } else {
            files[count++] = argv[i++];
        }
    }
    if (options.help)
        return print_core_help();
    if (!count) {
        command_line_complain(&line, "name a core file", "");
        return 2;
    }
    return scan_core("leakreport", files[0], files[1], &options) ? 0 : 2;
}
