/* foreign_options.c - answers options of valgrind and heaptrack; described in foreign_options.h. */
#include "live/foreign_options.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/error.h"
#include "common/base/string_list.h"

#define FRAMES_DEFAULT 128 /* frames of a stack that libleak records by default (depth=) */

static bool refuse(const struct option_row *row, const char *value, const char *answer)
{
    print_notice("no such option: %s%s%s%s (%s)", row->name[1] ? "--" : "-", row->name,
                 value ? "=" : "", value ? value : "", answer);
    return false;
}

/* Prints the answer to an option of another tool. row->words: the answer, then those values of the
 * option that are accepted without an answer, because leakrun always does what they ask for. False:
 * an answer was printed, so the option is refused. */
static bool answer_option(void *options, const struct option_row *row, const char *value)
{
    (void)options;
    for (size_t i = 1; value && row->words[i]; i++)
        if (strcmp(row->words[i], value) == 0)
            return true;
    return refuse(row, value, row->words[0]);
}

/* Accepts a number of frames up to FRAMES_DEFAULT, because leakrun records at least as many; for a
 * larger number, names the option of leakrun and returns false. */
static bool take_frames(void *options, const struct option_row *row, const char *value)
{
    char *end;
    unsigned long frames = strtoul(value, &end, 10);
    (void)options;
    return (*value && !*end && frames <= FRAMES_DEFAULT) || refuse(row, value, row->words[0]);
}

static const char *verdicts_of(const char *kind, size_t length)
{
    static const char *const kinds[][2] = {{"definite", "lost"},
                                           {"indirect", "indirect"},
                                           {"possible", "possible,hidden,unfreed"},
                                           {"reachable", "reachable"},
                                           {"all", "all"},
                                           {"none", "none"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i][0]) == length && memcmp(kinds[i][0], kind, length) == 0)
            return kinds[i][1];
    return NULL;
}

char *foreign_show(const char *kinds)
{
    char *show = string_format("%s", "");
    for (const char *kind = kinds;; kind++) {
        size_t length = strcspn(kind, ",");
        const char *verdicts = verdicts_of(kind, length);
        char *longer =
            verdicts ? string_format("%s%s%s", show, kind == kinds ? "" : ",", verdicts) : NULL;
        free(show);
        show = longer;
        kind += length;
        if (!show || !*kind)
            return show;
    }
}

#define ROW(word, given, function, ...)                                                            \
    {                                                                                              \
        .name = word, .value = given, .type = OPTION_TYPE_CALL, .parse = function,                 \
        .words = (const char *const[])                                                             \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }
#define VALGRIND(word, ...) ROW(word, "X", answer_option, __VA_ARGS__)
#define HEAPTRACK(word, given, ...) ROW(word, given, answer_option, __VA_ARGS__)
#define HEAPTRACK_LETTER(sign, text)                                                               \
    {                                                                                              \
        .letter = sign, .name = (const char[]){sign, 0}, .type = OPTION_TYPE_CALL,                 \
        .parse = answer_option, .words = (const char *const[])                                     \
        {                                                                                          \
            text, NULL                                                                             \
        }                                                                                          \
    }

#define NO_ATTACH "heaptrack's; leakrun starts programs; of one that runs: leakctl attach PID"
#define NO_ANALYSIS "heaptrack's; leakreport FILE.leak reads a recording: leakrun --keep=FILE.leak"
#define NO_MEMCHECK "Valgrind's; leakrun finds leaks and wrong frees, not uninitialised values"

const struct option_row foreign_options[] = {
    VALGRIND("leak-check", "Valgrind's; leakrun always checks completely: leave it out", "full",
             "yes"),
    VALGRIND("show-reachable", "Valgrind's; here --show=all", "no"),
    VALGRIND("errors-for-leak-kinds", "Valgrind's; here --errors-for=SET"),
    ROW("num-callers", "N", take_frames, "Valgrind's; here --depth=N"),
    VALGRIND(
        "track-fds",
        "Valgrind's; leakrun reports open descriptors; --track=file,dir,thread leaves them out",
        "yes", "all"),
    VALGRIND("trace-children", "Valgrind's; leakrun follows children; --follow=none does not",
             "yes"),
    VALGRIND("tool", "Valgrind's; leakrun finds leaks and wrong frees, as memcheck does",
             "memcheck"),
    VALGRIND("leak-resolution", "Valgrind's; leakrun always compares whole call stacks", "high"),
    VALGRIND("log-file", "Valgrind's; here -o FILE"),
    VALGRIND("xml", "Valgrind's; here --format=xml", "no"),
    VALGRIND("xml-file", "Valgrind's; here --format=xml -o FILE"),
    VALGRIND("vgdb", "Valgrind's; here --gdb", "no"),
    VALGRIND("track-origins", NO_MEMCHECK, "no"),
    VALGRIND("undef-value-errors", NO_MEMCHECK, "no"),
    HEAPTRACK_LETTER('p', NO_ATTACH),
    HEAPTRACK("pid", "PID", NO_ATTACH),
    HEAPTRACK_LETTER('a', NO_ANALYSIS),
    HEAPTRACK("analyze", "FILE", NO_ANALYSIS),
    HEAPTRACK_LETTER('r', "heaptrack's; here --keep=FILE.leak --no-report"),
    HEAPTRACK("record-only", NULL, "heaptrack's; here --keep=FILE.leak --no-report"),
    HEAPTRACK("raw", NULL, "heaptrack's; here --keep=FILE.leak --no-report"),
    HEAPTRACK_LETTER('d', "heaptrack's; here --gdb"),
    {0}};
