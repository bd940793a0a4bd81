#include "preload/base/memory_limits.h"
#include "preload/base/atomic.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <sys/resource.h>

#define NO_LIMIT (1ull << 62) /* version 1 writes a number above this */
#define REST 16               /* near again only when this part of the share had become free */

static uint64_t limits[LEAK_LIMIT_MAX];
static unsigned wanted_share;
static void (*tell_near)(void);
static bool inside; /* it has been told of */

/* ---- What there is ------------------------------------------------------------------------- */

static uint64_t read_limit(const char *path)
{
    char line[64];
    uint64_t bytes;
    if (sys_read_file(path, line, sizeof line) <= 0 ||
        !text_read_number(line, strcspn(line, "\n"), &bytes) || bytes >= NO_LIMIT)
        return UINT64_MAX; /* "max", or there is no such file: the topmost group has none */
    return bytes;
}

uint64_t limits_of_group(const char *mount, const char *group, size_t length, const char *file)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        char buffer[1024];
        struct text path = TEXT_ON(buffer);
        text_add(&path, mount);
        text_add_bytes(&path, group, length);
        text_add(&path, "/");
        text_add(&path, file);
        uint64_t limit = path.cut ? UINT64_MAX : read_limit(buffer);
        if (limit < least)
            least = limit;
        if (!length)
            return least;
        while (length && group[--length] != '/')
            ;
    }
}

/* "4:memory:/group" is version 1, "0::/group" version 2; there may be both. A container sees its
 * own group at the top, under whatever name: so the top is asked in any case. */
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
            limit = limits_of_group("/sys/fs/cgroup", group + 1, end - group - 1, "memory.max");
        else if (group && group - names == 7 && memcmp(names, ":memory", 7) == 0)
            limit = limits_of_group("/sys/fs/cgroup/memory", group + 1, end - group - 1,
                                    "memory.limit_in_bytes");
        if (limit < least)
            least = limit;
        line = end + (*end == '\n');
    }
    return least;
}

void limits_start(void)
{
    limits[LEAK_LIMIT_NONE] = UINT64_MAX;
    limits[LEAK_LIMIT_ADDRESS_SPACE] = sys_limit(RLIMIT_AS);
    limits[LEAK_LIMIT_DATA] = sys_limit(RLIMIT_DATA);
    limits[LEAK_LIMIT_CGROUP] = group_limit();
}

uint64_t limits_least(enum leak_limit *of)
{
    *of = LEAK_LIMIT_NONE;
    for (unsigned i = 0; i < LEAK_LIMIT_MAX; i++)
        if (limits[i] < limits[*of])
            *of = i;
    return *of ? limits[*of] : 0;
}

/* ---- How near ------------------------------------------------------------------------------ */

/* In the kernel's words what each limit counts: total, resident, ..., data and stack, in pages. */
static bool read_used(uint64_t used[LEAK_LIMIT_MAX])
{
    char line[128];
    uint64_t field[6] = {0};
    if (sys_read_file("/proc/self/statm", line, sizeof line) <= 0)
        return false;
    const char *at = line;
    for (size_t i = 0; i < ARRAY_LENGTH(field); i++) {
        size_t length = strcspn(at, " \n");
        if (!text_read_number(at, length, &field[i]))
            return false;
        at += length + (at[length] != '\0');
    }
    used[LEAK_LIMIT_ADDRESS_SPACE] = field[0] * sys_page_size();
    used[LEAK_LIMIT_CGROUP] = field[1] * sys_page_size();
    used[LEAK_LIMIT_DATA] = field[5] * sys_page_size();
    return true;
}

static bool is_used(const uint64_t used[LEAK_LIMIT_MAX], unsigned share)
{
    for (unsigned i = LEAK_LIMIT_NONE + 1; i < LEAK_LIMIT_MAX; i++)
        if (limits[i] != UINT64_MAX && used[i] >= limits[i] / 100 * share)
            return true;
    return false;
}

void limits_watch(unsigned share, void (*near)(void))
{
    enum leak_limit of;
    tell_near = near;
    wanted_share = limits_least(&of) ? share : 0;
}

void limits_tick(void)
{
    uint64_t used[LEAK_LIMIT_MAX];
    if (!wanted_share || !read_used(used))
        return;
    if (!is_used(used, wanted_share - wanted_share / REST))
        store_relaxed(&inside, false);
    else if (is_used(used, wanted_share) && !exchange_relaxed(&inside, true))
        tell_near();
}

void limits_fork_child(void)
{
    inside = false;
}
