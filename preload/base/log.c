#include "preload/base/log.h"
#include "preload/base/atomic.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct standard {
    bool known;
    dev_t device;
    ino_t inode;
} standard_output, standard_error;

static void remember(struct standard *standard, int fd)
{
    struct stat now;
    if (sys_fstat(fd, &now) < 0)
        return;
    standard->known = true;
    standard->device = now.st_dev;
    standard->inode = now.st_ino;
}

void log_start(void)
{
    remember(&standard_output, STDOUT_FILENO);
    remember(&standard_error, STDERR_FILENO);
}

static bool is_still(const struct standard *standard, int fd)
{
    struct stat now;
    return standard->known && sys_fstat(fd, &now) == 0 && now.st_dev == standard->device &&
           now.st_ino == standard->inode;
}

bool log_usable(void)
{
    return is_still(&standard_error, STDERR_FILENO);
}

bool log_output_usable(void)
{
    return is_still(&standard_output, STDOUT_FILENO);
}

static bool within_file_limit(size_t length)
{
    struct stat now;
    uint64_t limit = sys_limit(RLIMIT_FSIZE);
    return limit == UINT64_MAX || sys_fstat(STDERR_FILENO, &now) < 0 || !S_ISREG(now.st_mode) ||
           now.st_size + length <= limit;
}

/* ---- Who is shown them ---------------------------------------------------------------------- */

static int (*hook)(const char *line, void *context);
static void *hook_context;
static __thread bool hook_runs __attribute__((tls_model("initial-exec")));

void log_show_to(int (*shown)(const char *line, void *context), void *context)
{
    store_release(&hook, NULL);
    store_relaxed(&hook_context, context);
    store_release(&hook, shown);
}

bool log_is_shown(void)
{
    return load_acquire(&hook) && !hook_runs;
}

/* What it has said itself is written as it is. */
int log_show(const char *line)
{
    int (*shown)(const char *, void *) = load_acquire(&hook);
    if (!shown || hook_runs)
        return LOG_WRITE;
    int saved = errno;
    hook_runs = true;
    int answer = shown(line, load_relaxed(&hook_context));
    hook_runs = false;
    errno = saved;
    return answer;
}

/* ---- Lines ---------------------------------------------------------------------------------- */

void log_line(const char *part, ...)
{
    char buffer[1024];
    struct text text = TEXT_ON(buffer);
    text.size--; /* room for the newline, whatever is cut */
    text_add(&text, "libleak: ");
    va_list parts;
    va_start(parts, part);
    for (; part; part = va_arg(parts, const char *))
        text_add(&text, part);
    va_end(parts);
    int answer = log_show(text.bytes);
    text.size++;
    text_add(&text, "\n");
    if (answer != LOG_SWALLOW && log_usable() && within_file_limit(text.length))
        sys_write_quietly(STDERR_FILENO, text.bytes, text.length);
    if (answer == LOG_TRAP)
        sys_trap();
}

void log_bad_value(const char *option, const char *value, const char *takes)
{
    log_line("bad value in '", option, "=", value, "': it takes ", takes, NULL);
}
