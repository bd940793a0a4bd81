#include "preload/base/children.h"
#include "preload/base/base.h"
#include "preload/base/strbuf.h"
#include "preload/base/sys.h"

#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#define CHILDREN_MOST 8      /* largest number of the runtime's own children at one time */
#define CHILD_POLL 20000000u /* ns between two checks whether the child still runs */

/* The pids of the children; 0: a free slot. If a wait() of the program has reaped a child, two
 * threads remove the child: the one that called wait() and the one that watches the child. The
 * first of them makes the pid negative, the second one frees the slot. */
static int children[CHILDREN_MOST];
static uint32_t changes; /* raised by 1 before each change of the list of children */

static bool replace_pid(int from, int to)
{
    add_relaxed(&changes, 1);
    for (unsigned i = 0; i < CHILDREN_MOST; i++) {
        int expected = from;
        if (cas_acquire(&children[i], &expected, to))
            return true;
    }
    return false;
}

void children_add(int pid)
{
    if (replace_pid(0, pid))
        return;
    /* No slot is free. A negative pid remains when the program has reaped a child by a bare
     * system call, without the hook; such a slot is used again. */
    for (unsigned i = 0; i < CHILDREN_MOST; i++) {
        int there = load_relaxed(&children[i]);
        if (there < 0 && cas_acquire(&children[i], &there, pid))
            return;
    }
}

/* Removes a child that has ended from the list. reaped: the caller has reaped it; false: a
 * wait() of the program has. */
static void remove_child(int pid, bool reaped)
{
    if (!replace_pid(pid, reaped ? 0 : -pid))
        replace_pid(-pid, 0);
}

bool children_take(int pid)
{
    return pid > 0 && (replace_pid(pid, -pid) || replace_pid(-pid, 0));
}

uint32_t children_changes(void)
{
    return load_relaxed(&changes);
}

bool children_contain(int pid)
{
    for (unsigned i = 0; i < CHILDREN_MOST; i++)
        if (pid > 0 && load_relaxed(&children[i]) == pid)
            return true;
    return false;
}

bool children_any(void)
{
    for (unsigned i = 0; i < CHILDREN_MOST; i++)
        if (load_relaxed(&children[i]) > 0)
            return true;
    return false;
}

static enum children_end wait_for_child(int pid, uint32_t *done, uint64_t most, bool *reaped)
{
    uint64_t start = sys_clock_ns(CLOCK_MONOTONIC);
    while (!load_acquire(done)) { /* pairs with the release store in the child */
        int ended = sys_child_has_ended(pid);
        *reaped = ended > 0;
        if (ended)
            return load_acquire(done) ? CHILDREN_DONE : CHILDREN_DIED;
        if (sys_clock_ns(CLOCK_MONOTONIC) - start > most) {
            sys_kill(pid, SIGKILL);
            *reaped = sys_wait_child(pid) >= 0;
            return CHILDREN_TIMED_OUT;
        }
        sys_futex_wait_shared_for(done, 0, CHILD_POLL);
    }
    *reaped = sys_wait_child(pid) >= 0;
    return CHILDREN_DONE;
}

enum children_end children_wait(int pid, uint32_t *done, uint64_t most)
{
    bool reaped = false;
    enum children_end end = wait_for_child(pid, done, most, &reaped);
    remove_child(pid, reaped);
    return end;
}

bool children_reap(int pid)
{
    int ended = sys_child_has_ended(pid);
    if (ended)
        remove_child(pid, ended > 0);
    return ended;
}

void children_fork_child(void)
{
    memset(children, 0, sizeof children);
}

/* ---- Finding and running leakreport ---------------------------------------------------------- */

static const char *library_path = "";
/* The buffers are static, because the calling thread may run on a signal stack of 8 KiB. */
static char report_path[PATH_MAX], home[PATH_MAX];

void leakreport_set_library(const char *library)
{
    library_path = library;
}

static bool file_exists(const struct strbuf *path)
{
    struct stat info;
    return !path->cut && sys_lstat(path->bytes, &info) == 0;
}

const char *leakreport_find(void)
{
    static const char *const beside[] = {"/leakreport", "/../../bin/leakreport",
                                         /* the following two are for the library for 32-bit
                                          * programs, which lies in a folder 32/ */
                                         "/../leakreport", "/../../../bin/leakreport"};
    struct strbuf name = STRBUF_ON(home);
    ssize_t length = sys_readlink(library_path, home, sizeof home - 1);
    if (length > 0)
        home[length] = '\0';
    else
        strbuf_add(&name, library_path);
    char *slash = strrchr(home, '/');
    for (size_t i = 0; slash && i < (WORD == 8 ? 2 : ARRAY_LENGTH(beside)); i++) {
        struct strbuf path = STRBUF_ON(report_path);
        strbuf_add_bytes(&path, home, slash - home);
        strbuf_add(&path, beside[i]);
        if (file_exists(&path))
            return report_path;
    }
    struct strbuf path = STRBUF_ON(report_path);
    strbuf_add(&path, LEAKREPORT_BINDIR "/leakreport");
    return file_exists(&path) ? report_path : NULL;
}

int leakreport_run(const char *path, char *const argv[], char *const envp[],
                   const struct sys_streams *streams)
{
    int pid = sys_spawn(path, argv, envp, streams);
    if (pid < 0)
        return pid;
    children_add(pid);
    int status = sys_wait_child(pid);
    remove_child(pid, status >= 0);
    return status;
}
