#include "preload/base/log.h"
#include "preload/base/base.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Which file a standard descriptor was when libleak started. */
static struct standard {
    bool known;
    dev_t device;
    ino_t inode;
} standard_output, standard_error;

static void remember_descriptor(struct standard *standard, int fd)
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
    remember_descriptor(&standard_output, STDOUT_FILENO);
    remember_descriptor(&standard_error, STDERR_FILENO);
}

static bool is_same_file(const struct standard *standard, int fd)
{
    struct stat now;
    return standard->known && sys_fstat(fd, &now) == 0 && now.st_dev == standard->device &&
           now.st_ino == standard->inode;
}

bool log_stderr_usable(void)
{
    return is_same_file(&standard_error, STDERR_FILENO);
}

bool log_stdout_usable(void)
{
    return is_same_file(&standard_output, STDOUT_FILENO);
}

static bool within_file_limit(size_t length)
{
    struct stat now;
    uint64_t limit = sys_rlimit(RLIMIT_FSIZE);
    return limit == UINT64_MAX || sys_fstat(STDERR_FILENO, &now) < 0 || !S_ISREG(now.st_mode) ||
           (uint64_t)now.st_size + length <= limit;
}

/* ---- The program's hook for lines ------------------------------------------------------------ */

static int (*hook)(const char *line, void *context);
static void *hook_context;
static __thread bool hook_runs __attribute__((tls_model("initial-exec")));

void log_set_hook(int (*wanted)(const char *line, void *context), void *context)
{
    store_release(&hook, NULL);
    store_relaxed(&hook_context, context);
    store_release(&hook, wanted);
}

bool log_has_hook(void)
{
    return load_acquire(&hook) && !hook_runs;
}

/* Passes the line to the hook. A line that is written while the hook runs does not go to the hook
 * again. */
int log_call_hook(const char *line)
{
    /* Pairs with the release in log_set_hook. */
    int (*current)(const char *, void *) = load_acquire(&hook);
    if (!current || hook_runs)
        return LOG_WRITE;
    int saved = errno;
    hook_runs = true;
    int answer = current(line, load_relaxed(&hook_context));
    hook_runs = false;
    errno = saved;
    return answer;
}

/* ---- Writing lines --------------------------------------------------------------------------- */

static bool muted;

void log_mute(bool mute)
{
    muted = mute;
}

void log_line(const char *part, ...)
{
    if (muted)
        return;
    char buffer[1024];
    struct strbuf text = STRBUF_ON(buffer);
    text.size--; /* keeps room for the newline when the text is cut */
    strbuf_add(&text, "libleak: ");
    va_list parts;
    va_start(parts, part);
    for (; part; part = va_arg(parts, const char *))
        strbuf_add_shown(&text, part);
    va_end(parts);
    int answer = log_call_hook(text.bytes);
    text.size++;
    strbuf_add(&text, "\n");
    if (answer != LOG_SWALLOW && log_stderr_usable() && within_file_limit(text.length))
        sys_write_no_sigpipe(STDERR_FILENO, text.bytes, text.length);
    if (answer == LOG_TRAP)
        sys_raise_trap();
}

void log_bad_value(const char *option, const char *value, const char *takes)
{
    log_line("bad value in '", option, "=", value, "': it takes ", takes, NULL);
}
