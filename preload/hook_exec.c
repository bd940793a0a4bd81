/* hook_exec.c - exec and spawn: the old account is closed, the new program may be followed.
 *
 * The store is marked "exec attempted" before and unmarked when exec comes back. follow= decides what
 * the new program's environment says about us; "inherit" passes it on untouched, unless the new
 * program could not load us: then it is not asked to. Everything here is callable in a vfork child:
 * memory comes from the stack alone.
 */
#include "preload/options.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/store.h"
#include "preload/target.h"
#include "preload/text.h"
#include "preload/track.h"

#include <alloca.h>
#include <errno.h>
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
        if (text_starts(*environment, name))
            return *environment;
    return NULL;
}

/* Room for one changed environment: the array and the two strings that differ. */
struct changed {
    char **entries;
    char *preload, *settings;
    size_t preload_size, settings_size;
};

/* LD_PRELOAD without our library. */
static void without_us(const char *preload, struct text *out)
{
    for (const char *at = preload + strlen(PRELOAD); *at;) {
        size_t length = strcspn(at, ": ");
        bool ours = length == strlen(process_library()) &&
                    memcmp(at, process_library(), length) == 0;
        if (length && !ours) {
            if (out->length > strlen(PRELOAD))
                text_add(out, ":");
            text_add_bytes(out, at, length);
        }
        at += length + (at[length] != '\0');
    }
}

static char *const *change(const struct changed *room, char *const environment[], bool with_us)
{
    const char *preload = entry_of(environment, PRELOAD);
    struct text text = text_on(room->preload, room->preload_size);
    text_add(&text, PRELOAD);
    if (with_us)
        text_add(&text, process_library());
    if (preload)
        without_us(preload, &text);
    size_t kept = 0;
    for (char *const *entry = environment; entry && *entry; entry++)
        if (!text_starts(*entry, PRELOAD))
            room->entries[kept++] = *entry;
    if (text.length > strlen(PRELOAD))
        room->entries[kept++] = room->preload;
    if (with_us && !entry_of(environment, SETTINGS)) {
        struct text settings = text_on(room->settings, room->settings_size);
        text_add(&settings, SETTINGS);
        text_add(&settings, process_options_text());
        room->entries[kept++] = room->settings;
    }
    room->entries[kept] = NULL;
    return room->entries;
}

enum wish { AS_IT_IS, WITH_US, WITHOUT_US };

static enum wish wish_for(bool takes_us)
{
    if (!process_running() || !process_library()[0])
        return AS_IT_IS;
    if (!takes_us) {
        /* A fork child without an account yet says it in its parent's: one atomic add. */
        store_untracked(LEAK_UNTRACKED_PROGRAMS, 1);
        return WITHOUT_US;
    }
    return track_options.follow == FOLLOW_FORCE  ? WITH_US
           : track_options.follow == FOLLOW_NONE ? WITHOUT_US
                                                 : AS_IT_IS;
}

/* The environment for a target; a macro because the memory must be the calling function's. */
#define ENVIRONMENT_FOR(environment, takes_us)                                                     \
    ({                                                                                             \
        char *const *entries_ = (environment);                                                     \
        enum wish wish_ = wish_for(!process_running() || (takes_us));                              \
        if (wish_ != AS_IT_IS) {                                                                   \
            const char *given_ = entry_of(entries_, PRELOAD);                                      \
            struct changed room_ = {                                                               \
                .preload_size = (given_ ? strlen(given_) : 0) + strlen(process_library()) + 32,    \
                .settings_size = strlen(process_options_text()) + 32};                             \
            room_.entries = alloca((count_of(entries_) + 3) * sizeof(char *));                     \
            room_.preload = alloca(room_.preload_size);                                            \
            room_.settings = alloca(room_.settings_size);                                          \
            entries_ = change(&room_, entries_, wish_ == WITH_US);                                 \
        }                                                                                          \
        entries_;                                                                                  \
    })
#define FOR_FILE(file, environment) ENVIRONMENT_FOR(environment, target_takes_us(file, NULL))
#define FOR_NAME(file, environment)                                                                \
    ENVIRONMENT_FOR(environment, target_takes_us(file, getenv("PATH") ?: "/bin:/usr/bin"))

/* The call, with the account marked while it lasts. */
#define EXEC(call)                                                                                 \
    ({                                                                                             \
        real_find();                                                                               \
        bool marked_ = process_exec_begin();                                                       \
        int result_ = call;                                                                        \
        if (marked_)                                                                               \
            process_exec_undo();                                                                   \
        result_;                                                                                   \
    })

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    char *const *entries = FOR_FILE(path, envp);
    return EXEC(real.execve(path, argv, entries));
}

EXPORT int execv(const char *path, char *const argv[])
{
    char *const *entries = FOR_FILE(path, environ);
    return EXEC(real.execve(path, argv, entries));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    char *const *entries = FOR_NAME(file, envp);
    return EXEC(real.execvpe(file, argv, entries));
}

EXPORT int execvp(const char *file, char *const argv[])
{
    char *const *entries = FOR_NAME(file, environ);
    return EXEC(real.execvpe(file, argv, entries));
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    char *const *entries = ENVIRONMENT_FOR(envp, target_fd_takes_us(fd));
    return EXEC(real.fexecve(fd, argv, entries));
}

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
    real_find();
    if (!real.execveat) { /* glibc before 2.34 */
        errno = ENOSYS;
        return -1;
    }
    char *const *entries = ENVIRONMENT_FOR(envp, true);
    return EXEC(real.execveat(fd, path, argv, entries, flags));
}

/* The list forms: arguments up to NULL become an array on the stack. */
static size_t count_arguments(va_list arguments)
{
    size_t count = 1;
    while (va_arg(arguments, char *))
        count++;
    return count;
}

static void take_arguments(char **argv, const char *first, va_list arguments)
{
    size_t at = 0;
    argv[at++] = (char *)first;
    while (argv[at - 1])
        argv[at++] = va_arg(arguments, char *);
}

#define LIST_TO_ARRAY(argv, first, arguments)                                                      \
    va_list arguments, counting_;                                                                  \
    va_start(arguments, first);                                                                    \
    va_copy(counting_, arguments);                                                                 \
    char **argv = alloca((count_arguments(counting_) + 1) * sizeof *argv);                         \
    va_end(counting_);                                                                             \
    take_arguments(argv, first, arguments)

EXPORT int execl(const char *path, const char *first, ...)
{
    LIST_TO_ARRAY(argv, first, arguments);
    va_end(arguments);
    char *const *entries = FOR_FILE(path, environ);
    return EXEC(real.execve(path, argv, entries));
}

EXPORT int execlp(const char *file, const char *first, ...)
{
    LIST_TO_ARRAY(argv, first, arguments);
    va_end(arguments);
    char *const *entries = FOR_NAME(file, environ);
    return EXEC(real.execvpe(file, argv, entries));
}

EXPORT int execle(const char *path, const char *first, ...)
{
    LIST_TO_ARRAY(argv, first, arguments);
    char *const *envp = va_arg(arguments, char *const *);
    va_end(arguments);
    char *const *entries = FOR_FILE(path, envp);
    return EXEC(real.execve(path, argv, entries));
}

/* A spawned program is another process: our own account goes on. */
EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    real_find();
    char *const *entries = FOR_FILE(path, envp);
    return real.posix_spawn(pid, path, actions, attributes, argv, entries);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const argv[],
                        char *const envp[])
{
    real_find();
    char *const *entries = FOR_NAME(file, envp);
    return real.posix_spawnp(pid, file, actions, attributes, argv, entries);
}
