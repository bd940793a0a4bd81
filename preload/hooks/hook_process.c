/* hook_process.c - hooks of exec, posix_spawn, vfork and of functions that wait for children.
 *
 * A successful exec ends the recording of the old program: the recording file is marked "exec
 * attempted" before the call and unmarked when exec returns. Option follow= decides what the new
 * program's environment says about libleak; "inherit" passes it on unchanged, unless the new
 * program could not load libleak: then libleak is removed from it. These hooks also run in a vfork
 * child, so they use no memory but the stack.
 *
 * The program must not notice the child that a leak check forks. When it ends, the parent gets no
 * signal, and a plain wait() does not return it; only a wait with __WALL or __WCLONE does. The hook
 * repeats a call that has found such a child.
 */
#include "preload/hooks/hooks.h"
#include "preload/base/children.h"
#include "preload/options/options.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/elf/exec_target.h"
#include "preload/base/strbuf.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The environment of a new program -------------------------------------------------------- */

#define PRELOAD "LD_PRELOAD="
#define SETTINGS "LIBLEAK_OPTIONS="

/* The longest string in the environment that the kernel accepts (MAX_ARG_STRLEN). */
#define STRING_MOST (128u << 10)
/* An environment with more entries is not changed, because its copy would not fit on small
 * stacks. */
#define ENTRIES_MOST (16u << 10)

/* Says whether the word at an address can be read. For an environment that it cannot read, the
 * kernel returns EFAULT, so the hook must not crash before. The page of the last word is
 * remembered, because most words lie on a few pages. */
static bool can_read(const void *address, uintptr_t *page)
{
    uintptr_t now = (uintptr_t)address & -LEAK_PAGE;
    if (now != *page && sys_faults((uintptr_t)address))
        return false;
    *page = now;
    return true;
}

static bool can_read_string(const char *text, uintptr_t *page)
{
    for (size_t length = 0; length < STRING_MOST;) {
        size_t left = LEAK_PAGE - (uintptr_t)(text + length) % LEAK_PAGE;
        if (!can_read(text + length, page))
            return false;
        if (memchr(text + length, '\0', left))
            return true;
        length += left;
    }
    return false;
}

/* Counts the entries of an environment. False: it is not to be changed, because the kernel will
 * refuse it, or because it has more than ENTRIES_MOST entries. */
static bool can_read_environment(char *const list[], size_t *count)
{
    uintptr_t page_of_list = 1, page_of_text = 1;
    for (*count = 0; list && *count < ENTRIES_MOST; ++*count) {
        char *const *entry = list + *count;
        if (!can_read(entry, &page_of_list) ||
            !can_read((const char *)(entry + 1) - 1, &page_of_list))
            return false;
        if (!*entry)
            return true;
        if (!can_read_string(*entry, &page_of_text))
            return false;
    }
    return !list;
}

static const char *find_entry(char *const environment[], const char *name)
{
    for (; environment && *environment; environment++)
        if (starts_with(*environment, name))
            return *environment;
    return NULL;
}

/* Memory on the stack for a changed environment: the array, and the two changed strings
 * (LD_PRELOAD=, LIBLEAK_OPTIONS=). */
struct new_environment {
    char **entries;
    char *preload, *settings;
    size_t preload_size, settings_size;
};

/* Says whether an element of LD_PRELOAD is libleak: by its path, or by its file name, because the
 * path may have been relative to another directory. */
static bool is_libleak(const char *element, size_t length)
{
    const char *library = process_library_path(), *name = strrchr(library, '/');
    size_t whole = strlen(library), last = name ? strlen(name) : whole + 1;
    return (length == whole && memcmp(element, library, length) == 0) ||
           (length >= last && memcmp(element + length - last, name, last) == 0);
}

/* Appends the elements of an LD_PRELOAD entry, without libleak. True: libleak was among them. */
static bool copy_without_libleak(const char *preload, struct strbuf *out)
{
    bool found = false;
    for (const char *at = preload + strlen(PRELOAD); *at;) {
        size_t length = strcspn(at, ": ");
        if (length && is_libleak(at, length)) {
            found = true;
        } else if (length && out) {
            if (out->length > strlen(PRELOAD))
                strbuf_add(out, ":");
            strbuf_add_bytes(out, at, length);
        }
        at += length + (at[length] != '\0');
    }
    return found;
}

/* Makes the environment of a new program. library: path of libleak for that program; NULL: the
 * program gets no libleak. */
static char *const *change_environment(const struct new_environment *room,
                                       char *const environment[], const char *library)
{
    const char *preload = find_entry(environment, PRELOAD);
    struct strbuf text = strbuf_on(room->preload, room->preload_size);
    strbuf_add(&text, PRELOAD);
    if (library)
        strbuf_add(&text, library);
    if (preload)
        copy_without_libleak(preload, &text);
    size_t kept = 0;
    for (char *const *entry = environment; entry && *entry; entry++)
        if (!starts_with(*entry, PRELOAD))
            room->entries[kept++] = *entry;
    if (text.length > strlen(PRELOAD))
        room->entries[kept++] = room->preload;
    if (library && !find_entry(environment, SETTINGS)) {
        struct strbuf settings = strbuf_on(room->settings, room->settings_size);
        strbuf_add(&settings, SETTINGS);
        strbuf_add(&settings, process_options_text());
        room->entries[kept++] = room->settings;
    }
    room->entries[kept] = NULL;
    return room->entries;
}

enum environment_change { UNCHANGED, WITH_LIBLEAK, WITHOUT_LIBLEAK };

/* Says whether the new program can read the library. After setuid it may not be allowed to, and
 * then its loader would print a warning. */
static bool library_readable(const char *library)
{
    int fd = sys_open(library, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0)
        sys_close(fd);
    return fd >= 0;
}

/* Says whether libleak can write a recording in the new program. After setuid or in a sandbox it
 * may not be allowed to write to the directory of dir=, and would print a message about that. With
 * report=exit no file is needed. */
static bool recording_possible(void)
{
    return options_current.dir[0] != '/' || options_current.report == REPORT_EXIT ||
           store_is_writable();
}

struct plan {
    enum environment_change change;
    const char *library; /* path of the libleak.so that the new program can load (64 or 32 bits) */
    bool lost;           /* follow= asks to record the new program, but that is not possible */
};

static struct plan plan_exec(char *const environment[], enum exec_target target)
{
    const char *preload = find_entry(environment, PRELOAD);
    bool present = preload && copy_without_libleak(preload, NULL);
    struct plan plan = {.change = options_current.follow == FOLLOW_FORCE  ? WITH_LIBLEAK
                                  : options_current.follow == FOLLOW_NONE ? WITHOUT_LIBLEAK
                                                                          : UNCHANGED};
    plan.library =
        target == EXEC_TARGET_LOADS_OTHER ? process_other_library_path() : process_library_path();
    if (target == EXEC_TARGET_REFUSES || !library_readable(plan.library) || !recording_possible())
        plan.change = WITHOUT_LIBLEAK;
    else if (target == EXEC_TARGET_LOADS_OTHER && present && plan.change == UNCHANGED)
        plan.change = WITH_LIBLEAK;
    plan.lost = options_current.follow != FOLLOW_NONE &&
                (target == EXEC_TARGET_IGNORES || plan.change == WITHOUT_LIBLEAK ||
                 (plan.change == UNCHANGED && !present));
    if (plan.change == WITHOUT_LIBLEAK && !present)
        /* The environment does not contain libleak, so nothing has to be removed. */
        plan.change = UNCHANGED;
    return plan;
}

/* Counts new programs that will not be recorded although follow= asks for it. count: 1; -1: the
 * program was not started after all. A fork child that has no recording file yet counts it in the
 * file of its parent, by one atomic addition. */
static void count_lost(const struct plan *plan, int64_t count)
{
    if (plan->lost)
        store_count_process(LEAK_UNTRACKED_PROGRAMS, count);
}

/* Makes the call "call" (exec or spawn) with "entries", the environment for the new program.
 * started: the end of an expression that tests the call's result ("== 0"); true: the new program
 * was started. It is a macro, because alloca must allocate in the calling function. */
#define START(environment, target, started, call)                                                  \
    ({                                                                                             \
        real_functions_find();                                                                     \
        char *const *entries = (environment);                                                      \
        struct plan plan_ = {UNCHANGED, NULL, false};                                              \
        size_t count_;                                                                             \
        if (process_is_running() && can_read_environment(entries, &count_))                        \
            plan_ = plan_exec(entries, (target));                                                  \
        if (plan_.change != UNCHANGED) {                                                           \
            const char *given_ = find_entry(entries, PRELOAD);                                     \
            struct new_environment room_ = {.preload_size =                                        \
                                                (given_ ? strlen(given_) : 0) + PATH_MAX + 32,     \
                                            .settings_size = strlen(process_options_text()) + 32}; \
            room_.entries = alloca((count_ + 3) * sizeof(char *));                                 \
            room_.preload = alloca(room_.preload_size);                                            \
            room_.settings = alloca(room_.settings_size);                                          \
            entries = change_environment(&room_, entries,                                          \
                                         plan_.change == WITH_LIBLEAK ? plan_.library : NULL);     \
        }                                                                                          \
        count_lost(&plan_, 1);                                                                     \
        int result_ = call;                                                                        \
        if (!(result_ started))                                                                    \
            count_lost(&plan_, -1);                                                                \
        result_;                                                                                   \
    })

/* Calls exec, which returns only if it has failed. */
#define EXEC(environment, target, call)                                                            \
    ({                                                                                             \
        bool marked_ = process_exec_begin();                                                       \
        int failed_ = START(environment, target, > 0, call);                                       \
        if (marked_)                                                                               \
            process_exec_undo();                                                                   \
        failed_;                                                                                   \
    })

#define TARGET_FILE(file) exec_target_of_path(file, NULL)
#define TARGET_NAME(file) exec_target_of_path(file, getenv("PATH") ?: "/bin:/usr/bin")

#define EXEC_HOOK(name, parameters, environment, target, call)                                     \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        return EXEC(environment, target, call);                                                    \
    }

EXEC_HOOK(execve, (const char *path, char *const argv[], char *const envp[]), envp,
          TARGET_FILE(path), real.execve(path, argv, entries))
EXEC_HOOK(execv, (const char *path, char *const argv[]), environ, TARGET_FILE(path),
          real.execve(path, argv, entries))
EXEC_HOOK(execvpe, (const char *file, char *const argv[], char *const envp[]), envp,
          TARGET_NAME(file), real.execvpe(file, argv, entries))
EXEC_HOOK(execvp, (const char *file, char *const argv[]), environ, TARGET_NAME(file),
          real.execvpe(file, argv, entries))
EXEC_HOOK(fexecve, (int fd, char *const argv[], char *const envp[]), envp, exec_target_of_fd(fd),
          real.fexecve(fd, argv, entries))

/* The headers of glibc before 2.34 do not declare this function. */
int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags);

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
    real_functions_find();
    if (!real.execveat) { /* glibc before 2.34 lacks execveat */
        errno = ENOSYS;
        return -1;
    }
    return EXEC(envp, exec_target_at(fd, path, flags),
                real.execveat(fd, path, argv, entries, flags));
}

/* Counts the variable arguments of execl and similar functions, up to and including NULL. */
static size_t count_arguments(va_list arguments)
{
    size_t count = 1;
    while (va_arg(arguments, char *))
        count++;
    return count;
}

/* Copies the arguments up to NULL. "arguments" is a pointer, because the caller reads what follows
 * the NULL: a va_list passed by value advances in the caller only on some CPUs. */
static void copy_arguments(char **argv, const char *first, va_list *arguments)
{
    size_t at = 0;
    argv[at++] = (char *)first;
    while (argv[at - 1])
        argv[at++] = va_arg(*arguments, char *);
}

#define LIST_TO_ARRAY(argv, first, arguments)                                                      \
    va_list arguments, counting_;                                                                  \
    va_start(arguments, first);                                                                    \
    va_copy(counting_, arguments);                                                                 \
    char **argv = alloca((count_arguments(counting_) + 1) * sizeof *argv);                         \
    va_end(counting_);                                                                             \
    copy_arguments(argv, first, &arguments)

#define EXEC_LIST(name, target, call)                                                              \
    EXPORT int name(const char *file, const char *first, ...)                                      \
    {                                                                                              \
        LIST_TO_ARRAY(argv, first, arguments);                                                     \
        va_end(arguments);                                                                         \
        return EXEC(environ, target, call);                                                        \
    }

EXEC_LIST(execl, TARGET_FILE(file), real.execve(file, argv, entries))
EXEC_LIST(execlp, TARGET_NAME(file), real.execvpe(file, argv, entries))

EXPORT int execle(const char *path, const char *first, ...)
{
    LIST_TO_ARRAY(argv, first, arguments);
    char *const *envp = va_arg(arguments, char *const *);
    va_end(arguments);
    return EXEC(envp, TARGET_FILE(path), real.execve(path, argv, entries));
}

/* Defines the hook of a function that spawns a program in another process. The recording of this
 * process continues. */
#define SPAWN_HOOK(name, target)                                                                   \
    EXPORT int name(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,       \
                    const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])   \
    {                                                                                              \
        return START(envp, target, == 0,                                                           \
                     real.name(pid, file, actions, attributes, argv, entries));                    \
    }

SPAWN_HOOK(posix_spawn, TARGET_FILE(file))
SPAWN_HOOK(posix_spawnp, TARGET_NAME(file))

/* ---- vfork ----------------------------------------------------------------------------------- */

__attribute__((used)) void *hook_vfork_notice(void);

/* Notes a call of vfork, before the jump to the real function (arch/<cpu>/tail.S). The child runs
 * in the memory of its parent, with this thread's variables, but has a descriptor table of its
 * own. */
void *hook_vfork_notice(void)
{
    real_functions_find();
    guard_self.vforks = true;
    return (void *)real.vfork;
}

/* ---- Waiting for children -------------------------------------------------------------------- */

#define SEES_CLONES (__WALL | __WCLONE)

/* Says whether a list of pids, separated by spaces, contains a child of the program, which no leak
 * check has forked. */
static bool has_program_child(const char *list)
{
    for (uint64_t pid; *list; list += strspn(list, " \n")) {
        size_t length = strcspn(list, " \n");
        if (!parse_number(list, length, &pid) || !children_contain(pid))
            return true;
        list += length;
    }
    return false;
}

static bool thread_has_no_program_child(int tid, void *found)
{
    char list[512];
    ssize_t length = sys_read_task_file(0, tid, "children", list, sizeof list);
    *(bool *)found = length < 0 || length == sizeof list - 1 || has_program_child(list);
    return !*(bool *)found;
}

/* Says whether all children of the process were forked by leak checks. If such a child begins or
 * ends while the kernel's lists of children are read, they are read again. */
static bool all_are_of_leak_checks(void)
{
    for (int tries = 0; tries < 8; tries++) {
        uint32_t before = children_changes();
        bool found = false;
        if (!sys_each_numbered_entry("/proc/self/task", thread_has_no_program_child, &found))
            return false;
        if (!found || children_changes() == before)
            return !found;
    }
    return false;
}

/* Says whether the process has only children of leak checks, so that to the program it has no
 * child. Called after a wait with WNOHANG that found no ended child. before: children_changes()
 * before that wait, because the child that it met may be gone. */
static bool has_leak_check_child_only(int options, uint32_t before)
{
    return options & WNOHANG && options & SEES_CLONES &&
           (children_any() || children_changes() != before) && all_are_of_leak_checks();
}

static int no_child(void)
{
    errno = ECHILD;
    return -1;
}

#define SKIP_LEAK_CHECK_CHILDREN(options, call, pid_of_result)                                     \
    ({                                                                                             \
        uint32_t before_ = children_changes();                                                     \
        __auto_type result_ = call;                                                                \
        while ((options)&SEES_CLONES && result_ >= 0 && children_take(pid_of_result)) {            \
            if ((options)&WNOWAIT)                                                                 \
                sys_wait_child(pid_of_result); /* so that the next call does not find it again */  \
            before_ = children_changes();                                                          \
            result_ = call;                                                                        \
        }                                                                                          \
        result_ == 0 && !(pid_of_result) && has_leak_check_child_only(options, before_)            \
            ? no_child()                                                                           \
            : result_;                                                                             \
    })

#define WAIT(type, name, parameters, arguments, pid_of_result)                                     \
    EXPORT type name parameters                                                                    \
    {                                                                                              \
        real_functions_find();                                                                     \
        return SKIP_LEAK_CHECK_CHILDREN(options, real.name arguments, pid_of_result);              \
    }

WAIT(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options), result_)
WAIT(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage),
     (pid, status, options, usage), result_)
WAIT(pid_t, wait3, (int *status, int options, struct rusage *usage), (status, options, usage),
     result_)
WAIT(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options),
     info ? info->si_pid : 0)
