/* hook_exec.c - exec and spawn: the old account is closed, the new program may be followed.
 *
 * The store is marked "exec attempted" before and unmarked when exec comes back. follow= decides
 * what the new program's environment says about us; "inherit" passes it on untouched, unless the
 * new program could not load us: then it is not asked to. Everything here is callable in a vfork
 * child: memory comes from the stack alone.
 */
#include "preload/options/options.h"
#include "preload/process/process.h"
#include "preload/interpose/real_functions.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/elf/exec_target.h"
#include "preload/base/strbuf.h"
#include "preload/track/track.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD="
#define SETTINGS "LIBLEAK_OPTIONS="

static size_t count_of(char *const list[])
{
    size_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

static const char *entry_of(char *const environment[], const char *name)
{
    for (; environment && *environment; environment++)
        if (starts_with(*environment, name))
            return *environment;
    return NULL;
}

/* Room for one changed environment: the array and the two strings that differ. */
struct changed {
    char **entries;
    char *preload, *settings;
    size_t preload_size, settings_size;
};

/* Ours by its path, or, where that was given relative to another directory, by its name. */
static bool is_us(const char *element, size_t length)
{
    const char *library = process_library_path(), *name = strrchr(library, '/');
    size_t whole = strlen(library), last = name ? strlen(name) : whole + 1;
    return (length == whole && memcmp(element, library, length) == 0) ||
           (length >= last && memcmp(element + length - last, name, last) == 0);
}

/* LD_PRELOAD without our library; true when it was there. */
static bool without_us(const char *preload, struct text *out)
{
    bool found = false;
    for (const char *at = preload + strlen(PRELOAD); *at;) {
        size_t length = strcspn(at, ": ");
        if (length && is_us(at, length)) {
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

static char *const *change(const struct changed *room, char *const environment[], bool with_us)
{
    const char *preload = entry_of(environment, PRELOAD);
    struct text text = strbuf_on(room->preload, room->preload_size);
    strbuf_add(&text, PRELOAD);
    if (with_us)
        strbuf_add(&text, process_library_path());
    if (preload)
        without_us(preload, &text);
    size_t kept = 0;
    for (char *const *entry = environment; entry && *entry; entry++)
        if (!starts_with(*entry, PRELOAD))
            room->entries[kept++] = *entry;
    if (text.length > strlen(PRELOAD))
        room->entries[kept++] = room->preload;
    if (with_us && !entry_of(environment, SETTINGS)) {
        struct text settings = strbuf_on(room->settings, room->settings_size);
        strbuf_add(&settings, SETTINGS);
        strbuf_add(&settings, process_options_text());
        room->entries[kept++] = room->settings;
    }
    room->entries[kept] = NULL;
    return room->entries;
}

enum wish { AS_IT_IS, WITH_US, WITHOUT_US };

/* After setuid the new program may not be allowed to read us: its loader would complain. */
static bool library_readable(void)
{
    int fd = sys_open(process_library_path(), O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0)
        sys_close(fd);
    return fd >= 0;
}

struct plan {
    enum wish wish;
    bool lost; /* the program will have no account, against the user's wish */
};

static struct plan plan_for(char *const environment[], enum target target)
{
    const char *preload = entry_of(environment, PRELOAD);
    bool present = preload && without_us(preload, NULL);
    struct plan plan = {.wish = options_current.follow == FOLLOW_FORCE  ? WITH_US
                                : options_current.follow == FOLLOW_NONE ? WITHOUT_US
                                                                      : AS_IT_IS};
    if (target == EXEC_TARGET_REFUSES || !library_readable())
        plan.wish = WITHOUT_US;
    plan.lost = options_current.follow != FOLLOW_NONE &&
                (target != EXEC_TARGET_LOADS || plan.wish == WITHOUT_US ||
                 (plan.wish == AS_IT_IS && !present));
    if (plan.wish == WITHOUT_US && !present)
        plan.wish = AS_IT_IS; /* nothing to take out */
    return plan;
}

/* A fork child without an account yet says it in its parent's: one atomic add. */
static void count_lost(const struct plan *plan, int64_t count)
{
    if (plan->lost)
        store_count_untracked(LEAK_UNTRACKED_PROGRAMS, count);
}

/* Makes the call with "entries", the environment the target is to have; started says of its result
 * whether there is a new program. A macro because the memory must be the calling function's. */
#define START(environment, target, started, call)                                                  \
    ({                                                                                             \
        real_find();                                                                               \
        char *const *entries = (environment);                                                      \
        struct plan plan_ = {AS_IT_IS, false};                                                     \
        if (process_is_running())                                                                     \
            plan_ = plan_for(entries, (target));                                                   \
        if (plan_.wish != AS_IT_IS) {                                                              \
            const char *given_ = entry_of(entries, PRELOAD);                                       \
            struct changed room_ = {.preload_size = (given_ ? strlen(given_) : 0) +                \
                                                    strlen(process_library_path()) + 32,                \
                                    .settings_size = strlen(process_options_text()) + 32};         \
            room_.entries = alloca((count_of(entries) + 3) * sizeof(char *));                      \
            room_.preload = alloca(room_.preload_size);                                            \
            room_.settings = alloca(room_.settings_size);                                          \
            entries = change(&room_, entries, plan_.wish == WITH_US);                              \
        }                                                                                          \
        count_lost(&plan_, 1);                                                                     \
        int result_ = call;                                                                        \
        if (!(result_ started))                                                                    \
            count_lost(&plan_, -1);                                                                \
        result_;                                                                                   \
    })

/* exec comes back only when it has failed. */
#define EXEC(environment, target, call)                                                            \
    ({                                                                                             \
        bool marked_ = process_exec_begin();                                                       \
        int failed_ = START(environment, target, > 0, call);                                       \
        if (marked_)                                                                               \
            process_exec_undo();                                                                   \
        failed_;                                                                                   \
    })
#define SPAWN(environment, target, call) START(environment, target, == 0, call)

#define TARGET_FILE(file) exec_target_of_path(file, NULL)
#define TARGET_NAME(file) exec_target_of_path(file, getenv("PATH") ?: "/bin:/usr/bin")

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    return EXEC(envp, TARGET_FILE(path), real.execve(path, argv, entries));
}

EXPORT int execv(const char *path, char *const argv[])
{
    return EXEC(environ, TARGET_FILE(path), real.execve(path, argv, entries));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    return EXEC(envp, TARGET_NAME(file), real.execvpe(file, argv, entries));
}

EXPORT int execvp(const char *file, char *const argv[])
{
    return EXEC(environ, TARGET_NAME(file), real.execvpe(file, argv, entries));
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    return EXEC(envp, exec_target_of_fd(fd), real.fexecve(fd, argv, entries));
}

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
    real_find();
    if (!real.execveat) { /* glibc before 2.34 */
        errno = ENOSYS;
        return -1;
    }
    return EXEC(envp, EXEC_TARGET_LOADS, real.execveat(fd, path, argv, entries, flags));
}

/* The list forms: arguments up to NULL become an array on the stack. */
static size_t count_arguments(va_list arguments)
{
    size_t count = 1;
    while (va_arg(arguments, char *))
        count++;
    return count;
}

/* A pointer: what follows the NULL is taken by the caller, and only some CPUs' va_list is moved on
 * where it is passed as it is. */
static void take_arguments(char **argv, const char *first, va_list *arguments)
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
    take_arguments(argv, first, &arguments)

EXPORT int execl(const char *path, const char *first, ...)
{
    LIST_TO_ARRAY(argv, first, arguments);
    va_end(arguments);
    return EXEC(environ, TARGET_FILE(path), real.execve(path, argv, entries));
}

EXPORT int execlp(const char *file, const char *first, ...)
{
    LIST_TO_ARRAY(argv, first, arguments);
    va_end(arguments);
    return EXEC(environ, TARGET_NAME(file), real.execvpe(file, argv, entries));
}

EXPORT int execle(const char *path, const char *first, ...)
{
    LIST_TO_ARRAY(argv, first, arguments);
    char *const *envp = va_arg(arguments, char *const *);
    va_end(arguments);
    return EXEC(envp, TARGET_FILE(path), real.execve(path, argv, entries));
}

/* A spawned program is another process: our own account goes on. */
EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    return SPAWN(envp, TARGET_FILE(path),
                 real.posix_spawn(pid, path, actions, attributes, argv, entries));
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    return SPAWN(envp, TARGET_NAME(file),
                 real.posix_spawnp(pid, file, actions, attributes, argv, entries));
}
