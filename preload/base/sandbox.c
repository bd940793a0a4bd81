#include "preload/base/sandbox.h"
#include "preload/base/seccomp.h"
#include "preload/base/strbuf.h"
#include "preload/base/system_calls_32.h"
#include "leak_cpu.h"
#include "leak_store.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define RESERVE (16ull << 20)
/* The answer for each system call with a number below this is one bit in refused_numbers. */
#define NUMBERS 512

/* Makes a system call without asking whether the filters allow it. */
#define BARE(number, ...) BARE_(number, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define BARE_(number, a, b, c, d, e, f, ...)                                                       \
    arch_syscall(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

bool sandbox_restricts;

/* The process's own filters, the newest first; they are never freed. */
static struct sandbox_filter *filters;
static bool strict;
/* One bit for each system call that an inherited filter refuses. */
static uint64_t refused_numbers[NUMBERS / 64];
static bool unproven; /* it is not known yet whether an inherited filter allows child processes */

static char *reserve;
static uint64_t reserve_used;

/* ---- Is a call allowed? ---------------------------------------------------------------------- */

static bool is_in(const uint64_t *numbers, long number)
{
    return number >= 0 && number < NUMBERS &&
           load_relaxed(&numbers[number / 64]) >> number % 64 & 1;
}

static bool strict_allows(long number)
{
    return number == SYS_read || number == SYS_write || number == SYS_exit ||
           number == SYS_rt_sigreturn;
}

/* Returns 0 if the filter allows the call. Otherwise the errno that the filter answers with, or
 * EPERM for any other answer. */
static int refusal_of(const struct sandbox_filter *filter, const struct sandbox_call *call)
{
    struct seccomp_data data = {.nr = call->number, .arch = LEAK_CPU_AUDIT};
    for (unsigned i = 0; i < ARRAY_LENGTH(data.args); i++)
        data.args[i] = call->argument[i];
    uint32_t answer = seccomp_run(filter->code, filter->count, &data);
    uint32_t action = answer & SECCOMP_RET_ACTION_FULL, error = answer & SECCOMP_RET_DATA;
    if (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG)
        return 0;
    return action == SECCOMP_RET_ERRNO && error ? (int)error : EPERM;
}

bool sandbox_filter_allows(const struct sandbox_filter *filter, const struct sandbox_call *call)
{
    return refusal_of(filter, call) == 0;
}

/* Returns the errno with which the process's own restrictions refuse the call; 0: they allow it. */
static int own_refusal(const struct sandbox_call *call)
{
    if (load_relaxed(&strict) && !strict_allows(call->number))
        return EPERM;
    int error = 0;
    /* Pairs with the release in sandbox_install. */
    for (const struct sandbox_filter *filter = load_acquire(&filters); filter && !error;
         filter = filter->next)
        if (load_relaxed(&filter->installed))
            error = refusal_of(filter, call);
    return error;
}

int sandbox_refusal(const struct sandbox_call *call)
{
    return is_in(refused_numbers, call->number) ? EPERM : own_refusal(call);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

#define CALL_MAP(size, sharing)                                                                    \
    {                                                                                              \
        SYS_mmap,                                                                                  \
        {                                                                                          \
            0, size, PROT_READ | PROT_WRITE, (sharing) | MAP_ANONYMOUS | MAP_NORESERVE, -1ul, 0    \
        }                                                                                          \
    }

static void *map_memory(size_t size, int sharing)
{
    const struct sandbox_call call = CALL_MAP(size, sharing);
    if (sandbox_restricts && !sandbox_allows(&call))
        return sandbox_reserve(size);
    long result = arch_syscall(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, call.argument[3], -1, 0);
    return result < 0 && result > -4096 ? NULL : (void *)result;
}

void *sandbox_reserve(size_t size)
{
    size = round_up(size, LEAK_PAGE);
    if (!reserve || size > RESERVE)
        return NULL;
    uint64_t at = add_relaxed(&reserve_used, size);
    return at + size <= RESERVE ? reserve + at : NULL;
}

/* ---- Restrictions that the process itself installs ------------------------------------------- */

static void take_reserve(void)
{
    if (!reserve)
        reserve = map_memory(RESERVE, MAP_PRIVATE);
}

struct sandbox_filter *sandbox_new_filter(unsigned count)
{
    struct sandbox_filter *filter =
        map_memory(sizeof *filter + count * sizeof filter->code[0], MAP_PRIVATE);
    if (filter)
        filter->count = count;
    return filter;
}

void sandbox_install(struct sandbox_filter *filter)
{
    const struct sandbox_call map = CALL_MAP(LEAK_PAGE, MAP_PRIVATE);
    if (!sandbox_filter_allows(filter, &map))
        take_reserve();
    filter->installed = true;
    filter->next = load_relaxed(&filters);
    /* Pairs with the acquire in own_refusal. */
    while (!__atomic_compare_exchange_n(&filters, &filter->next, filter, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
    store_relaxed(&sandbox_restricts, true);
}

void sandbox_remove(struct sandbox_filter *filter)
{
    store_relaxed(&filter->installed, false);
}

void sandbox_install_strict(void)
{
    take_reserve();
    store_relaxed(&strict, true);
    store_relaxed(&sandbox_restricts, true);
}

void sandbox_remove_strict(void)
{
    store_relaxed(&strict, false);
}

/* ---- Inherited filters ----------------------------------------------------------------------- */

struct status {
    /* The fields PPid, Seccomp and Seccomp_filters; the latter is 0 before Linux 5.9. */
    uint64_t parent, mode, filters;
};

static uint64_t read_field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    uint64_t value = 0;
    for (at = at ? at + strlen(name) : ""; *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    return value;
}

static struct status read_status(const char *path)
{
    char text[4096];
    int fd = BARE(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long length = fd < 0 ? 0 : BARE(SYS_read, fd, text, sizeof text - 1);
    if (fd >= 0)
        BARE(SYS_close, fd);
    text[length > 0 ? length : 0] = '\0';
    return (struct status){.parent = read_field(text, "\nPPid:\t"),
                           .mode = read_field(text, "\nSeccomp:\t"),
                           .filters = read_field(text, "\nSeccomp_filters:\t")};
}

/* Says whether this process was made by clone under the filters that it has now. If so, they allow
 * clone. */
static bool was_made_under(const struct status *own)
{
    char path[32];
    struct strbuf text = STRBUF_ON(path);
    /* Without a parent id (0) the parent is outside of this container, so the filters are those of
     * a container runtime, which allow clone. */
    if (!own->parent)
        return true;
    strbuf_add(&text, "/proc/");
    strbuf_add_number(&text, own->parent);
    strbuf_add(&text, "/status");
    struct status parent = read_status(path);
    return parent.mode == own->mode && parent.filters == own->filters;
}

static const short probed[] = {
#define PROBED(name) SYS_##name,
#define ASSUMED(name)
#include "preload/base/system_calls.def"
};

struct probe {
    unsigned next; /* index in probed[] of the call that is being tried */
};

static void add_to(uint64_t *numbers, long number)
{
    if (number >= 0 && number < NUMBERS)
        numbers[number / 64] |= 1ull << number % 64;
}

static void add_probed(uint64_t *numbers, unsigned from)
{
    for (unsigned i = from; i < ARRAY_LENGTH(probed); i++)
        add_to(numbers, probed[i]);
}

/* Tries the calls from probe->next on, in a child process. killing: calls that are known to kill
 * the process. */
static void try_calls(struct probe *probe, const uint64_t *killing)
{
    unsigned first = load_relaxed(&probe->next);
    /* prctl is the first call in probed[]: if it kills the child here, probe->next says that it was
     * prctl. */
    if (!is_in(killing, SYS_prctl))
        /* Prevents a core file if the child is killed. */
        BARE(SYS_prctl, PR_SET_DUMPABLE, 0);
    for (unsigned i = first; i < ARRAY_LENGTH(probed); i++) {
        store_relaxed(&probe->next, i);
        BARE(probed[i], -1);
    }
    store_relaxed(&probe->next, ARRAY_LENGTH(probed));
    BARE(SYS_exit_group, 0);
    __builtin_unreachable();
}

static bool wait_for_probe(long pid)
{
    int status = 0;
    long result;
    do
        result = BARE(SYS_wait4, pid, &status, __WALL);
    while (result == -EINTR);
    return result == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

/* Makes a child process. -1: the process's own filters refuse it; these may be newer than the
 * inherited ones. */
static long make_child(void)
{
    static const struct sandbox_call clone = {SYS_clone, {0}}, wait = {SYS_wait4, {0, 0, __WALL}};
    return own_refusal(&clone) || own_refusal(&wait) ? -1 : BARE(SYS_clone, 0);
}

/* Tries the calls from *from on in a new child. If one of them kills the child, notes it in
 * "killing", and moves *from behind it. False: the answers for the calls from *from on stay
 * unknown, because no child could be made, or another signal killed it. */
static bool try_in_child(struct probe *probe, unsigned *from, uint64_t *killing)
{
    store_relaxed(&probe->next, *from);
    long pid = make_child();
    if (pid == 0)
        try_calls(probe, killing);
    bool killed = pid > 0 && wait_for_probe(pid);
    unsigned at = load_relaxed(&probe->next);
    if (killed)
        add_to(killing, probed[at]);
    *from = killed ? at + 1 : at;
    return killed || at == ARRAY_LENGTH(probed);
}

/* Learns which calls the inherited filters allow. Until all are known, the answers for other
 * threads stay as they are. */
static void learn_calls(void)
{
    uint64_t killing[NUMBERS / 64] = {0};
    struct probe *probe = map_memory(LEAK_PAGE, MAP_SHARED);
    unsigned from = 0;
    bool any = load_relaxed(&filters) || load_relaxed(&strict);
    while (from < ARRAY_LENGTH(probed) && probe && try_in_child(probe, &from, killing))
        continue;
    add_probed(killing, from);
    if (probe)
        BARE(SYS_munmap, probe, LEAK_PAGE);
    for (unsigned i = 0; i < ARRAY_LENGTH(killing); i++) {
        any |= killing[i] != 0;
        store_relaxed(&refused_numbers[i], killing[i]);
    }
    store_relaxed(&sandbox_restricts, any);
}

void sandbox_probe_inherited(void)
{
    struct status own = read_status("/proc/self/status");
    if (own.mode != SECCOMP_MODE_FILTER)
        return;
    if (was_made_under(&own))
        return learn_calls();
    add_probed(refused_numbers, 0);
    add_to(refused_numbers, SYS_clone);
    add_to(refused_numbers, SYS_wait4);
    unproven = sandbox_restricts = true;
}

void sandbox_note_child(void)
{
    if (unlikely(load_relaxed(&unproven)) && exchange_relaxed(&unproven, false))
        learn_calls();
}
