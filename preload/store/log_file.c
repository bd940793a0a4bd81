#include "preload/store/log_file.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/store/file_pattern.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define WINDOW (256u << 10)
#define NUMBERS 10000

static struct lock lock;
/* The value of the option log_file, as an absolute path, and the program's file name. */
static char pattern[512], program[64];
static char path[PATH_MAX];
static char *window, *scratch;
static struct strbuf line;

static struct {
    enum { CLOSED, OPEN, APPENDING, BROKEN } state;
    bool mapped; /* the window is mapped from the file; false: it is private memory */
    /* This fork child has not begun a file of its own yet: the file is that of its parent. */
    bool parents;
    uint64_t start, length; /* file offset at which the window begins; number of bytes written */
    uint64_t lost;
    /* The parent could not write, and has reported it; this fork child does not try. */
    bool parent_failed;
} file;

const char *log_file_path(void)
{
    return path;
}

uint64_t log_file_lost(void)
{
    return file.parent_failed ? 0 : file.lost;
}

/* ---- Creating the file ----------------------------------------------------------------------- */

static int create_file(void)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    bool numbered = strstr(pattern, "%n");
    int fd = -EEXIST;
    for (uint64_t n = 1; fd == -EEXIST && n < (numbered ? NUMBERS : 3); n++) {
        struct strbuf text = STRBUF_ON(path);
        file_pattern_expand(&text, pattern, program, n);
        /* Second try with a pattern without %n: a file with the name exists, so the pid is
         * appended. */
        if (!numbered && n == 2) {
            strbuf_add(&text, ".");
            strbuf_add_number(&text, sys_getpid());
        }
        fd = text.cut ? -ENAMETOOLONG : sys_open(path, flags, 0600);
    }
    if (fd >= 0)
        sys_close(fd);
    return fd < 0 ? fd : 0;
}

static void fail_file(int error)
{
    file.state = BROKEN;
    log_line("no log in ", path, " from here on: ", store_error_text(error), NULL);
}

static bool start_file(void)
{
    int error = create_file();
    if (error < 0) {
        fail_file(error);
        return false;
    }
    file.state = OPEN;
    file.start = file.length = 0;
    return true;
}

bool log_file_start(const char *wanted, const char *name)
{
    struct strbuf text = STRBUF_ON(pattern), short_name = STRBUF_ON(program);
    file_pattern_make_absolute(&text, wanted);
    strbuf_add(&short_name, name);
    window = arena_map(WINDOW);
    scratch = arena_map(LOG_FILE_LINE_MOST);
    if (text.cut || !window || !scratch) {
        text = STRBUF_ON(path);
        strbuf_add(&text, wanted);
        fail_file(text.cut ? -ENAMETOOLONG : -ENOMEM);
        return false;
    }
    return start_file();
}

/* ---- The window: the mapped end of the file -------------------------------------------------- */

static void close_window(void)
{
    if (file.mapped)
        sys_map_zeros(window, WINDOW);
    file.mapped = false;
}

/* Makes the file size bytes long and maps its window. The disk space is allocated now, because a
 * store to a page without space would raise SIGBUS. */
static int grow_file(int fd, uint64_t size)
{
    /* Growing beyond the limit of file sizes would raise SIGXFSZ. */
    if (sys_rlimit(RLIMIT_FSIZE) < size)
        return -EFBIG;
    int error = sys_truncate(fd, size);
    if (error >= 0 && !sys_map_file_at(window, fd, WINDOW, file.start))
        error = -ENOMEM;
    if (error < 0)
        return error;
    file.mapped = true;
    error = sys_advise(window, WINDOW, MADV_POPULATE_WRITE);
    /* Kernels before 5.14 do not know MADV_POPULATE_WRITE. */
    return error == -EINVAL ? sys_allocate(fd, size) : error;
}

/* Moves the window to the end of what was written; it begins with the first page that is not
 * full. */
static int move_window(void)
{
    close_window();
    file.start = file.length & -sys_page_size();
    int fd = sys_open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    int error = grow_file(fd, file.start + WINDOW);
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

static int append_bytes(const char *bytes, size_t length)
{
    int fd = sys_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    int error = sys_rlimit(RLIMIT_FSIZE) < file.length + length ? -EFBIG : 0;
    ssize_t written = error < 0 ? error : sys_write(fd, bytes, length);
    sys_close(fd);
    if (written > 0)
        file.length += written;
    return written < 0 ? (int)written : (size_t)written < length ? -ENOSPC : 0;
}

static void write_bytes(const char *bytes, size_t length)
{
    int error = 0;
    if (file.state == APPENDING)
        error = append_bytes(bytes, length);
    else if (!file.mapped || file.length + length > file.start + WINDOW)
        error = move_window();
    if (error < 0) {
        file.lost++;
        fail_file(error);
    } else if (file.state == OPEN) {
        memcpy(window + (file.length - file.start), bytes, length);
        file.length += length;
    }
}

/* ---- Writing lines --------------------------------------------------------------------------- */

struct strbuf *log_file_begin(struct locked *locked)
{
    *locked = lock_take(&lock);
    bool writes = !file.parents && (file.state == OPEN || file.state == APPENDING ||
                                    (file.state == CLOSED && start_file()));
    if (writes) {
        line = strbuf_on(scratch, LOG_FILE_LINE_MOST);
        return &line;
    }
    file.lost += !file.parents;
    lock_give(locked);
    return NULL;
}

void log_file_commit(struct locked *locked)
{
    if (line.cut) /* the text did not fit: drop its last line, which is incomplete */
        while (line.length && line.bytes[line.length - 1] != '\n')
            line.length--;
    write_bytes(line.bytes, line.length);
    lock_give(locked);
}

void log_file_trim(bool wait, bool last)
{
    struct locked locked;
    if (!wait && !lock_try(&lock, &locked))
        return;
    if (wait)
        locked = lock_take(&lock);
    if (!file.parents && file.state == OPEN) {
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

LOCK_FOR_FORK(log_file, &lock)

void log_file_detach(void)
{
    file.parents = true;
    close_window();
}

void log_file_fork_child(void)
{
    lock.word = 0;
    file.parents = false;
    file.lost = 0;
    file.parent_failed = file.state == BROKEN;
    if (file.state != BROKEN)
        file.state = CLOSED;
}
