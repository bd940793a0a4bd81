#include "preload/store/append_file.h"
#include "preload/base/arena.h"
#include "preload/base/atomic.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define WINDOW (256u << 10)
#define NUMBERS 10000

static struct lock lock;
static char pattern[512], program[64]; /* the pattern is an absolute one */
static char path[PATH_MAX];
static char *window, *scratch;
static struct text line;

static struct {
    enum { CLOSED, OPEN, APPENDING, BROKEN } state;
    bool mapped;            /* the window is the file's */
    bool anothers;          /* a fork child's, until it has an account */
    uint64_t start, length; /* of the window in the file; of what is written */
    uint64_t lost;
    bool parents_trouble; /* it has been said */
} file;

const char *journal_path(void)
{
    return path;
}

uint64_t journal_lost(void)
{
    return file.parents_trouble ? 0 : file.lost;
}

/* ---- The name ------------------------------------------------------------------------------- */

static void expand(struct text *out, uint64_t number)
{
    for (const char *at = pattern; *at; at++) {
        if (at[0] != '%' || !at[1] || !strchr("pen%", at[1])) {
            text_add_bytes(out, at, 1);
            continue;
        }
        at++;
        if (*at == 'p')
            text_add_number(out, sys_getpid());
        else if (*at == 'e')
            text_add(out, program);
        else if (*at == 'n')
            text_add_number(out, number);
        else
            text_add(out, "%");
    }
}

static int make_file(void)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    bool numbered = strstr(pattern, "%n");
    int fd = -EEXIST;
    for (uint64_t n = 1; fd == -EEXIST && n < (numbered ? NUMBERS : 3); n++) {
        struct text text = TEXT_ON(path);
        expand(&text, n);
        if (!numbered && n == 2) { /* of another process, or another run */
            text_add(&text, ".");
            text_add_number(&text, sys_getpid());
        }
        fd = text.cut ? -ENAMETOOLONG : sys_open(path, flags, 0600);
    }
    if (fd >= 0)
        sys_close(fd);
    return fd < 0 ? fd : 0;
}

static void give_up(int error)
{
    file.state = BROKEN;
    log_line("no log in ", path, " from here on: ", store_reason(error), NULL);
}

static bool open_file(void)
{
    int error = make_file();
    if (error < 0) {
        give_up(error);
        return false;
    }
    file.state = OPEN;
    file.start = file.length = 0;
    return true;
}

bool journal_start(const char *wanted, const char *name)
{
    struct text text = TEXT_ON(pattern), short_name = TEXT_ON(program);
    char here[PATH_MAX];
    if (wanted[0] != '/' && sys_getcwd(here, sizeof here) > 0) {
        for (const char *at = here; *at; at++)
            text_add_bytes(&text, *at == '%' ? "%%" : at, *at == '%' ? 2 : 1);
        text_add(&text, "/");
    }
    text_add(&text, wanted);
    text_add(&short_name, name);
    window = arena_map(WINDOW);
    scratch = arena_map(JOURNAL_LINE_MOST);
    if (text.cut || !window || !scratch) {
        text = TEXT_ON(path);
        text_add(&text, wanted);
        give_up(text.cut ? -ENAMETOOLONG : -ENOMEM);
        return false;
    }
    return open_file();
}

/* ---- The window ----------------------------------------------------------------------------- */

static void close_window(void)
{
    if (file.mapped)
        sys_map_zeros(window, WINDOW);
    file.mapped = false;
}

/* The file has room for size bytes, now and not later. */
static int grow(int fd, uint64_t size)
{
    if (sys_limit(RLIMIT_FSIZE) < size) /* SIGXFSZ */
        return -EFBIG;
    int error = sys_truncate(fd, size);
    if (error >= 0 && !sys_map_file_at(window, fd, WINDOW, file.start))
        error = -ENOMEM;
    if (error < 0)
        return error;
    file.mapped = true;
    error = sys_advise(window, WINDOW, MADV_POPULATE_WRITE);
    return error == -EINVAL ? sys_allocate(fd, size) : error; /* before Linux 5.14 */
}

/* The window begins with the page that is not full yet. */
static int move_window(void)
{
    close_window();
    file.start = file.length & -sys_page_size();
    int fd = sys_open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    int error = grow(fd, file.start + WINDOW);
    if (error < 0) {
        close_window();
        sys_truncate(fd, file.length);
    } else {
        uint64_t written = file.length - file.start;
        memset(window + written, '\n', WINDOW - written);
    }
    sys_close(fd);
    return error;
}

static int append(const char *bytes, size_t length)
{
    int fd = sys_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    int error = sys_limit(RLIMIT_FSIZE) < file.length + length ? -EFBIG : 0;
    ssize_t written = error < 0 ? error : sys_write(fd, bytes, length);
    sys_close(fd);
    if (written > 0)
        file.length += written;
    return written < 0 ? (int)written : (size_t)written < length ? -ENOSPC : 0;
}

static void write_out(const char *bytes, size_t length)
{
    int error = 0;
    if (file.state == APPENDING)
        error = append(bytes, length);
    else if (!file.mapped || file.length + length > file.start + WINDOW)
        error = move_window();
    if (error < 0) {
        file.lost++;
        give_up(error);
    } else if (file.state == OPEN) {
        memcpy(window + (file.length - file.start), bytes, length);
        file.length += length;
    }
}

/* ---- Lines ---------------------------------------------------------------------------------- */

struct text *journal_begin(struct locked *locked)
{
    *locked = lock_take(&lock);
    bool writes = !file.anothers && (file.state == OPEN || file.state == APPENDING ||
                                     (file.state == CLOSED && open_file()));
    if (writes) {
        line = text_on(scratch, JOURNAL_LINE_MOST);
        return &line;
    }
    file.lost += !file.anothers;
    lock_give(locked);
    return NULL;
}

void journal_end(struct locked *locked)
{
    if (line.cut) /* the last one is not whole */
        while (line.length && line.bytes[line.length - 1] != '\n')
            line.length--;
    write_out(line.bytes, line.length);
    lock_give(locked);
}

void journal_trim(bool wait, bool last)
{
    struct locked locked;
    if (!wait && !lock_try(&lock, &locked))
        return;
    if (wait)
        locked = lock_take(&lock);
    if (!file.anothers && file.state == OPEN) {
        int fd = sys_open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0);
        if (fd >= 0) {
            close_window();
            sys_truncate(fd, file.length);
            sys_close(fd);
            file.state = last ? APPENDING : OPEN;
        }
    }
    lock_give(&locked);
}

/* ---- Fork ----------------------------------------------------------------------------------- */

LOCK_FOR_FORK(journal, &lock)

void journal_forked(void)
{
    file.anothers = true;
    close_window();
}

void journal_fork_child(void)
{
    lock.word = 0;
    file.anothers = false;
    file.lost = 0;
    file.parents_trouble = file.state == BROKEN;
    if (file.state != BROKEN)
        file.state = CLOSED;
}
