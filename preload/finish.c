#include "preload/finish.h"
#include "preload/arena.h"
#include "preload/atomic.h"
#include "preload/eventlog.h"
#include "preload/log.h"
#include "preload/options.h"
#include "preload/resources.h"
#include "preload/snapshot.h"
#include "preload/store.h"
#include "preload/sys.h"
#include "preload/text.h"
#include "preload/tool.h"
#include "preload/track.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The program's environment without what would load us again. */
static char **clean_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **clean = arena_map((count + 1) * sizeof *clean);
    for (size_t i = 0; clean && i < count; i++)
        if (!text_starts(environ[i], "LD_PRELOAD="))
            clean[kept++] = environ[i];
    return clean;
}

/* An account in memory only is handed over as an anonymous file. */
static int copy_to_memory_file(char *path, size_t size)
{
    int fd = sys_memory_file("leak");
    if (fd < 0)
        return fd;
    const char *from = (const char *)store_header;
    for (uint64_t left = store_header->used; left;) {
        ssize_t written = sys_write(fd, from, left);
        if (written <= 0)
            break;
        from += written;
        left -= written;
    }
    struct text text = text_on(path, size);
    text_add(&text, "/proc/self/fd/");
    text_add_number(&text, fd);
    return fd;
}

static void report(void)
{
    const char *tool;
    char buffer[64];
    char *path = (char *)store_path();
    int memory = -1;
    if (!log_usable())
        return;
    if (!(tool = tool_find())) {
        log_line("leakreport not found beside libleak.so nor in " TOOL_BINDIR
                 "; run it by hand on ",
                 path, NULL);
        return;
    }
    if (!path[0]) {
        if (sys_limit(RLIMIT_FSIZE) < store_header->used) { /* SIGXFSZ, even for memory */
            log_line("no report: the file size limit (ulimit -f) leaves no room to hand it over",
                     NULL);
            return;
        }
        memory = copy_to_memory_file(buffer, sizeof buffer);
        path = buffer;
    }
    char *arguments[] = {"leakreport", path, NULL};
    char **environment = clean_environment();
    if (!environment || tool_run(tool, arguments, environment, -1, STDERR_FILENO) < 0)
        log_line("leakreport could not be started; run it by hand on ", path, NULL);
    if (memory >= 0)
        sys_close(memory);
}

void finish_tell(void)
{
    if (track_options.report == REPORT_EXIT)
        report();
    else if (track_options.verbosity && store_path()[0])
        log_line("now: leakreport ", store_path(), NULL);
}

void finish_now(int status, const struct roots_taker *taker, enum leak_occasion occasion)
{
    struct leak_header *header = store_header;
    /* A signal that should have killed: a debugger kept it back. */
    if (header->end_how != LEAK_END_NONE && header->end_how != LEAK_END_SIGNAL)
        return;
    snapshot_late(taker, occasion);
    resources_settle();
    header->end_value = status & 0xff;
    header->ended_ns = sys_clock_ns(CLOCK_REALTIME);
    store_release(&header->end_how, LEAK_END_EXIT);
    track_tick();
    eventlog_end(true);
    finish_tell();
}

static void at_exit(int status, void *argument UNUSED)
{
    struct frame caller = CALLER_FRAME();
    struct roots_taker taker = SNAPSHOT_TAKER(&caller);
    if (sys_getpid() == store_header->pid)
        finish_now(status, &taker, LEAK_OCCASION_LATE);
}

static int expected_status;

void finish_expect(int status)
{
    expected_status = status;
}

static void at_quick_exit_last(void)
{
    at_exit(expected_status, NULL);
}

void finish_register(void)
{
    on_exit(at_exit, NULL);
    at_quick_exit(at_quick_exit_last);
}
