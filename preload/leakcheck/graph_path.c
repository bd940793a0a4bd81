#include "preload/leakcheck/graph_path.h"
#include "preload/base/sys.h"
#include "preload/options/options.h"
#include "preload/store/file_pattern.h"
#include "preload/store/store.h"

#include <limits.h>
#include <sys/stat.h>

#define NUMBERS 10000

static char pattern[PATH_MAX]; /* the option graph= as an absolute path; empty: not set */
static char option_path[PATH_MAX], request_path[PATH_MAX], program[64];
/* Path of the graph file that this process wrote last, which it may replace. */
static char own[PATH_MAX];

void graph_path_start(void)
{
    struct strbuf text = STRBUF_ON(pattern), name = STRBUF_ON(program);
    char executable[PATH_MAX];
    strbuf_add(&name, process_info_program_name(executable, sizeof executable));
    if (options_current.graph[0])
        file_pattern_make_absolute(&text, options_current.graph);
}

static bool is_free(const char *name)
{
    struct stat info;
    return sys_lstat(name, &info) < 0 || strcmp(name, own) == 0;
}

/* Replaces %p (pid), %e (program name) and %n (a number from 1) in a pattern. With %n the result
 * has the first number for which there is no such file. */
static struct strbuf expand_path(char buffer[PATH_MAX], const char *from)
{
    bool numbered = strstr(from, "%n");
    struct strbuf text = {0};
    for (uint64_t n = 1; n < NUMBERS; n++) {
        text = strbuf_on(buffer, PATH_MAX);
        file_pattern_expand(&text, from, program, n);
        if (!numbered || is_free(buffer))
            break;
    }
    return text;
}

const char *graph_path_of_option(void)
{
    if (!pattern[0])
        return NULL;
    struct strbuf text = expand_path(option_path, pattern);
    if (!is_free(option_path)) {
        strbuf_add(&text, ".");
        strbuf_add_number(&text, sys_getpid());
    }
    return option_path;
}

const char *graph_path_of_request(const char *file)
{
    char absolute[PATH_MAX];
    struct strbuf text = STRBUF_ON(absolute);
    file_pattern_make_absolute(&text, file);
    expand_path(request_path, absolute);
    return request_path;
}

void graph_path_note_written(const char *written)
{
    struct strbuf text = STRBUF_ON(own);
    strbuf_add(&text, written);
}

void graph_path_fork_child(void)
{
    own[0] = '\0';
}
