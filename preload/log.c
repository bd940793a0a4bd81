#include "preload/log.h"
#include "preload/sys.h"
#include "preload/text.h"

#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    bool known;
    dev_t device;
    ino_t inode;
} standard_error;

void log_start(void)
{
    struct stat now;
    if (sys_fstat(STDERR_FILENO, &now) < 0)
        return;
    standard_error.known = true;
    standard_error.device = now.st_dev;
    standard_error.inode = now.st_ino;
}

bool log_usable(void)
{
    struct stat now;
    return standard_error.known && sys_fstat(STDERR_FILENO, &now) == 0 &&
           now.st_dev == standard_error.device && now.st_ino == standard_error.inode;
}

static bool within_file_limit(size_t length)
{
    struct stat now;
    uint64_t limit = sys_limit(RLIMIT_FSIZE);
    return limit == UINT64_MAX || sys_fstat(STDERR_FILENO, &now) < 0 || !S_ISREG(now.st_mode) ||
           now.st_size + length <= limit;
}

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
    text.size++;
    text_add(&text, "\n");
    if (log_usable() && within_file_limit(text.length))
        sys_write_quietly(STDERR_FILENO, text.bytes, text.length);
}

void log_bad_value(const char *option, const char *value, const char *takes)
{
    log_line("bad value in '", option, "=", value, "': it takes ", takes, NULL);
}
