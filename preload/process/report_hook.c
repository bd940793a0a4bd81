#include "preload/process/report_hook.h"
#include "preload/base/log.h"
#include "preload/base/sys.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

bool shown_begin(struct shown *shown)
{
    shown->made = sys_memory_file_kept("report");
    shown->left = shown->made < 0 ? -1 : sys_memory_file_kept("lines");
    if (shown->left >= 0)
        return true;
    if (shown->made >= 0)
        sys_close(shown->made);
    return false;
}

void shown_end(const struct shown *shown)
{
    sys_close(shown->made);
    sys_close(shown->left);
}

/* How many of these bytes go on; one of them is the place for its end. */
static size_t show(const struct shown *shown, char *line, size_t length)
{
    size_t left = 0;
    line[length] = '\0';
    int answer = log_show(line);
    line[length] = '\n';
    if (answer != LOG_SWALLOW)
        left = length + 1;
    if (left && sys_write(shown->left, line, left) != (ssize_t)left)
        left = 0;
    if (answer == LOG_TRAP)
        sys_trap();
    return left;
}

static bool show_all(const struct shown *shown, char *text, size_t size)
{
    size_t left = 0;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - (text + at)) : size - at;
        left += show(shown, text + at, length);
        at += length + 1;
    }
    return left;
}

/* A byte more than there is: for the end of a last line without one. */
bool shown_lines(const struct shown *shown)
{
    struct stat now;
    if (sys_fstat(shown->made, &now) < 0 || now.st_size <= 0)
        return false;
    size_t size = (size_t)now.st_size;
    if (sys_limit(RLIMIT_FSIZE) <= size) { /* SIGXFSZ, even for memory */
        log_line("no report: the file size limit (ulimit -f) leaves no room to show its lines",
                 NULL);
        return false;
    }
    char *text =
        sys_truncate(shown->made, size + 1) < 0 ? NULL : sys_map_file(shown->made, size + 1);
    if (!text)
        return false;
    bool left = show_all(shown, text, size);
    sys_unmap(text, size + 1);
    return left;
}
