#include "preload/memory/memory_limits.h"
#include "preload/base/base.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <sys/resource.h>

/* Control groups of version 1 write a number above this for "no limit". */
#define NO_LIMIT (1ull << 62)
/* After a call of the callback, memory use must fall by 1 / REARM_PART of the watched percentage
 * before the callback is called again. */
#define REARM_PART 16

static uint64_t limits[LEAK_LIMIT_MAX];
static unsigned wanted_share;
static void (*near_callback)(void);
static bool is_near; /* the callback was called, and use has not fallen enough since */

/* ---- Reading the limits ---------------------------------------------------------------------- */

static uint64_t read_limit(const char *path)
{
    char line[64];
    uint64_t bytes;
    if (sys_read_file(path, line, sizeof line) <= 0 ||
        !parse_number(line, strcspn(line, "\n"), &bytes) || bytes >= NO_LIMIT)
        return UINT64_MAX; /* no limit, or no file, as in the topmost group */
    return bytes;
}

uint64_t memory_limits_of_cgroup(const char *mount, const char *group, size_t length,
                                 const char *file)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        char buffer[1024];
        struct strbuf path = STRBUF_ON(buffer);
        strbuf_add(&path, mount);
        strbuf_add_bytes(&path, group, length);
        strbuf_add_all(&path, "/", file, NULL);
        uint64_t limit = path.cut ? UINT64_MAX : read_limit(buffer);
        if (limit < least)
            least = limit;
        if (!length)
            return least;
        while (length && group[--length] != '/')
            ;
    }
}

/* Returns the smallest memory limit of the control groups of this process. In /proc/self/cgroup
 * "4:memory:/group" is a line of version 1, "0::/group" one of version 2; both may be present. In a
 * container the process's group is the top of the mounted tree, whatever name the file shows, so
 * the limit of the top is read in any case. */
static uint64_t group_limit(void)
{
    char buffer[4096];
    uint64_t least = UINT64_MAX;
    if (sys_read_file("/proc/self/cgroup", buffer, sizeof buffer) <= 0)
        return least;
    for (const char *line = buffer; *line;) {
        size_t length = strcspn(line, "\n");
        const char *end = line + length, *names = memchr(line, ':', length);
        const char *group = names ? memchr(names + 1, ':', end - names - 1) : NULL;
        uint64_t limit = UINT64_MAX;
        if (group && group == names + 1)
            limit =
                memory_limits_of_cgroup("/sys/fs/cgroup", group + 1, end - group - 1, "memory.max");
        else if (group && group - names == 7 && memcmp(names, ":memory", 7) == 0)
            limit = memory_limits_of_cgroup("/sys/fs/cgroup/memory", group + 1, end - group - 1,
                                            "memory.limit_in_bytes");
        if (limit < least)
            least = limit;
        line = end + (*end == '\n');
    }
    return least;
}

void memory_limits_start(void)
{
    limits[LEAK_LIMIT_NONE] = UINT64_MAX;
    limits[LEAK_LIMIT_ADDRESS_SPACE] = sys_rlimit(RLIMIT_AS);
    limits[LEAK_LIMIT_DATA] = sys_rlimit(RLIMIT_DATA);
    limits[LEAK_LIMIT_CGROUP] = group_limit();
}

uint64_t memory_limits_smallest(enum leak_limit *of)
{
    *of = LEAK_LIMIT_NONE;
    for (unsigned i = 0; i < LEAK_LIMIT_MAX; i++)
        if (limits[i] < limits[*of])
            *of = i;
    return *of ? limits[*of] : 0;
}

/* ---- Memory in use -------------------------------------------------------------------------- */

/* Reads how much memory counts against each limit. False: the file cannot be read. The fields of
 * /proc/self/statm are pages: 0 total, 1 resident, 5 data and stack. */
static bool read_used(uint64_t used[LEAK_LIMIT_MAX])
{
    char line[128];
    uint64_t field[6] = {0};
    if (sys_read_file("/proc/self/statm", line, sizeof line) <= 0)
        return false;
    const char *at = line;
    for (size_t i = 0; i < ARRAY_LENGTH(field); i++) {
        size_t length = strcspn(at, " \n");
        if (!parse_number(at, length, &field[i]))
            return false;
        at += length + (at[length] != '\0');
    }
    used[LEAK_LIMIT_ADDRESS_SPACE] = field[0] * sys_page_size();
    used[LEAK_LIMIT_CGROUP] = field[1] * sys_page_size();
    used[LEAK_LIMIT_DATA] = field[5] * sys_page_size();
    return true;
}

static bool is_share_used(const uint64_t used[LEAK_LIMIT_MAX], unsigned share)
{
    for (unsigned i = LEAK_LIMIT_NONE + 1; i < LEAK_LIMIT_MAX; i++)
        if (limits[i] != UINT64_MAX && used[i] >= limits[i] / 100 * share)
            return true;
    return false;
}

void memory_limits_watch(unsigned share, void (*near)(void))
{
    enum leak_limit of;
    near_callback = near;
    wanted_share = memory_limits_smallest(&of) ? share : 0;
}

void memory_limits_tick(void)
{
    uint64_t used[LEAK_LIMIT_MAX];
    if (!wanted_share || !read_used(used))
        return;
    if (!is_share_used(used, wanted_share - wanted_share / REARM_PART))
        store_relaxed(&is_near, false);
    else if (is_share_used(used, wanted_share) && !exchange_relaxed(&is_near, true))
        near_callback();
}

void memory_limits_fork_child(void)
{
    is_near = false;
}
