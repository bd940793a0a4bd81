/* ptrace_right.c - explains why the kernel refuses ptrace, from /proc. */
#include "common/processes/ptrace_right.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/proc.h"

#define MAP_SIZE 1024 /* most bytes of each of the two uid_map files that are compared */
#define IDS 3         /* real, effective and saved user id */

static const struct {
    const char *reason, *next;
} refusals[] = {{"", ""}, /* words for PTRACE_POSSIBLE */
#define R(name, reason, next) {reason, next},
                PTRACE_REFUSAL_TABLE(R)
#undef R
};

const char *ptrace_refusal_reason(enum ptrace_refusal refusal)
{
    return refusals[refusal].reason;
}

const char *ptrace_refusal_next(enum ptrace_refusal refusal)
{
    return refusals[refusal].next;
}

/* ---- The reason of a refusal ----------------------------------------------------------------- */

/* Repeats the kernel's comparison of user ids for a process without the capability, and then
 * Yama's rule (ptrace_scope). */
static enum ptrace_refusal judge_rights(const struct ptrace_facts *facts)
{
    bool refused = !facts->own_ids || facts->more || facts->hidden || facts->scope;

    if (facts->root && refused)
        return PTRACE_NO_CAPABILITY;
    if (!facts->own_ids)
        return facts->own_user ? PTRACE_MIXED_USER : PTRACE_OTHER_USER;
    if (facts->hidden)
        return PTRACE_NOT_DUMPABLE;
    if (facts->more)
        return PTRACE_MORE_RIGHTS;
    return facts->scope == 1   ? PTRACE_SCOPE_1
           : facts->scope == 2 ? PTRACE_SCOPE_2
                               : PTRACE_POSSIBLE;
}

enum ptrace_refusal ptrace_right_judge(const struct ptrace_facts *facts)
{
    enum ptrace_refusal refusal = PTRACE_POSSIBLE;

    if (facts->scope == 3)
        return PTRACE_SCOPE_3;
    if (facts->other_maps)
        return facts->own_ids || facts->root ? PTRACE_NAMESPACE : PTRACE_OTHER_USER;
    if (!facts->capable)
        refusal = judge_rights(facts);
    return refusal ? refusal : PTRACE_UNKNOWN;
}

/* ---- Facts from /proc ------------------------------------------------------------------------ */

static bool has_ids(const char *status, const char *name, unsigned id, int count)
{
    const char *at = proc_status_value(status, name);
    char *end;

    for (int i = 0; i < count; i++, at = end)
        if (strtoul(at, &end, 10) != id || end == at)
            return false;
    return true;
}

static bool has_user(const char *status, unsigned user)
{
    unsigned real, effective;

    return sscanf(proc_status_value(status, "Uid"), "%u %u", &real, &effective) == 2 &&
           effective == user;
}

static uint64_t capabilities(const char *status, const char *name)
{
    return strtoull(proc_status_value(status, name), NULL, 16);
}

static bool has_another_map(pid_t pid)
{
    char own[MAP_SIZE], other[MAP_SIZE];

    return proc_read_text(getpid(), "uid_map", own, sizeof(own)) &&
           proc_read_text(pid, "uid_map", other, sizeof(other)) && strcmp(own, other) != 0;
}

enum ptrace_refusal ptrace_right_explain(pid_t pid)
{
    char own[PROC_STATUS_SIZE], other[PROC_STATUS_SIZE], path[64];
    struct stat files;
    struct ptrace_facts facts = {.scope = proc_yama_scope(), .root = geteuid() == 0};

    proc_read_text(getpid(), "status", own, sizeof(own));
    proc_read_text(pid, "status", other, sizeof(other));
    /* The path of a file is used: the owner of a file in /proc/PID, not that of the directory,
     * shows whether the process is dumpable. */
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    facts.capable = capabilities(own, "CapEff") >> CAP_SYS_PTRACE & 1;
    facts.own_user = has_user(other, geteuid());
    facts.own_ids = has_ids(other, "Uid", getuid(), IDS) && has_ids(other, "Gid", getgid(), IDS);
    facts.more = capabilities(other, "CapPrm") & ~capabilities(own, "CapPrm");
    facts.hidden = facts.own_user && stat(path, &files) == 0 && files.st_uid != geteuid();
    facts.other_maps = has_another_map(pid);
    return ptrace_right_judge(&facts);
}

enum ptrace_refusal ptrace_right_check_proc(void)
{
    char text[32];
    ssize_t length = readlink("/proc/self", text, sizeof(text) - 1);

    if (length <= 0)
        return access("/proc/stat", F_OK) == 0 ? PTRACE_OTHER_PROC : PTRACE_NO_PROC;
    text[length] = '\0';
    return strtol(text, NULL, 10) == getpid() ? PTRACE_POSSIBLE : PTRACE_OTHER_PROC;
}
