/* target.c - finds the process that a request is for, or the reason why that is impossible;
 * described in target.h.
 */
#include "control/target.h"

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/processes/process_list.h"
#include "common/base/string_list.h"
#include "common/base/proc.h"
#include "common/base/term_text.h"
#include "common/store/store_dir.h"

#define LIBRARY "/libleak.so"
#define LIBRARY_MEMFD "/memfd:libleak.so"
#define STORE ".leak"
#define DELETED " (deleted)"

/* ---- Messages about refused requests --------------------------------------------------------- */

static const char *const refusal_format[] = {
#define R(name, reason, next) reason ": " next,
    REFUSAL_TABLE(R)
#undef R
};

bool refuse_request(const char *who, enum refusal refusal, ...)
{
    char text[2 * TERM_TEXT_MAX];
    va_list arguments;

    va_start(arguments, refusal);
    vsnprintf(text, sizeof(text), refusal_format[refusal], arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "leakctl: %s: %s\n", term_text(who, strlen(who), 0).text,
            term_text(text, strlen(text), 0).text);
    return false;
}

static bool refuse_several(const char *word, const struct process_list *finds)
{
    char *pids = string_format("%s", "");

    for (size_t i = 0; i < finds->count; i++) {
        char *longer = string_format("%s %d", pids, (int)finds->at[i].pid);

        free(pids);
        pids = longer;
    }
    refuse_request(word, REFUSAL_SEVERAL, pids);
    free(pids);
    return false;
}

static bool refuse_owner(const char *word, uid_t owner)
{
    struct passwd *user = getpwuid(owner);
    char *number = string_format("user %u", (unsigned)owner);

    refuse_request(word, REFUSAL_NOT_YOURS, user ? user->pw_name : number);
    free(number);
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), ending = strlen(end);

    return length >= ending && strcmp(text + length - ending, end) == 0;
}

/* Writes that the process uses another recording file than the one searched for. path: a recording
 * file that the process maps. Always returns false. */
static bool refuse_elsewhere(const char *word, char *path)
{
    char *slash = strrchr(path, '/');
    enum recording_status opened;
    struct recording recording;

    if (ends_with(path, DELETED)) {
        path[strlen(path) - strlen(DELETED)] = 0;
        return refuse_request(word, REFUSAL_REMOVED, path);
    }
    opened = recording_open(&recording, path);
    if (opened == RECORDING_OK)
        recording_close(&recording);
    if (opened == RECORDING_OTHER_VERSION)
        return refuse_request(word, REFUSAL_OTHER_VERSION);
    *slash = 0;
    return refuse_request(word, REFUSAL_ELSEWHERE, term_shell_word(path).text);
}

/* Says whether a mapping of this name is the library: its file, or the memfd that attach made. */
static bool is_library(const char *name)
{
    return ends_with(name, LIBRARY) || ends_with(name, LIBRARY DELETED) ||
           ends_with(name, LIBRARY_MEMFD DELETED);
}

static bool is_store_path(const char *path)
{
    return ends_with(path, STORE) || ends_with(path, STORE DELETED);
}

/* Finds out from the mappings of a running process why it has no recording file here, and writes
 * it. Always returns false. */
static bool refuse_by_maps(const char *word)
{
    char *path = string_format("/proc/%s/maps", word), *line = NULL;
    FILE *maps = fopen(path, "re");
    bool library = false, refused = false;
    size_t size = 0;

    while (maps && !refused && getline(&line, &size, maps) > 0) {
        char *name = strchr(line, '/');

        if (!name)
            continue;
        name[strcspn(name, "\n")] = 0;
        library |= is_library(name);
        refused = is_store_path(name);
        if (refused)
            refuse_elsewhere(word, name);
    }
    if (!refused)
        refuse_request(word, library ? REFUSAL_NO_STORE : REFUSAL_NO_LIBLEAK);
    if (maps)
        fclose(maps);
    free(line);
    free(path);
    return false;
}

static bool refuse_missing(const char *word, const char *dir)
{
    struct process_list dead = process_list_dead(dir);
    bool number = !word[strspn(word, "0123456789")], lives;
    char *path = string_format("/proc/%s", word);
    struct stat status;
    uint64_t start;
    char state = 'X';

    lives = number && proc_read_stat((pid_t)strtol(word, NULL, 10), &start, &state) &&
            !strchr("ZX", state) && stat(path, &status) == 0;
    process_list_select(&dead, word);
    if (lives && status.st_uid != geteuid() && geteuid() != 0)
        refuse_owner(word, status.st_uid);
    else if (lives)
        refuse_by_maps(word);
    else if (dead.count)
        refuse_request(word, REFUSAL_DEAD, term_shell_word(dead.at[dead.count - 1].path).text);
    else
        refuse_request(word, REFUSAL_NO_PROCESS, term_shell_word(word).text);
    process_list_end(&dead);
    free(path);
    return false;
}

/* ---- Opening the process --------------------------------------------------------------------- */

bool target_runs_same_program(const struct target *target)
{
    const struct leak_header *header = target->recording.header;

    return !__atomic_load_n(&header->exec_at, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&header->end_how, __ATOMIC_ACQUIRE) != LEAK_END_EXEC;
}

static bool open_recording(struct target *target)
{
    struct stat status;

    switch (recording_open(&target->recording, target->path)) {
    case RECORDING_OK:
        return true;
    case RECORDING_FORBIDDEN:
        return refuse_owner(target->who, stat(target->path, &status) == 0 ? status.st_uid : 0);
    case RECORDING_OTHER_VERSION:
        return refuse_request(target->who, REFUSAL_OTHER_VERSION);
    case RECORDING_UNUSABLE:
        break;
    }
    return refuse_request(target->who, REFUSAL_UNUSABLE, target->path, strerror(errno));
}

/* Opens a descriptor of the process. The start time is compared after the descriptor is open, so
 * the descriptor is certainly of that process. False: the process cannot be opened, and a message
 * says why. */
static bool open_process(struct target *target, uint64_t start_time)
{
    target->pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0);
    if (target->pidfd >= 0 && proc_is_alive(target->pid, start_time))
        return true;
    if (target->pidfd < 0 && errno != ESRCH)
        return refuse_request(target->who, REFUSAL_NOT_SENT, strerror(errno));
    return refuse_request(target->who, REFUSAL_DEAD, term_shell_word(target->path).text);
}

static bool open_target(struct target *target, const struct listed_process *found)
{
    *target = (struct target){.pid = found->pid,
                              .who = string_format("%s (pid %d)", found->name, (int)found->pid),
                              .path = string_format("%s", found->path)};
    if (!open_recording(target)) {
        free(target->who);
        free(target->path);
        return false;
    }
    target->signal = recording_signal(&target->recording);
    if (open_process(target, found->start_time)) {
        if (target->recording.header->flags & LEAK_FLAG_CRASH_ONLY)
            refuse_request(target->who, REFUSAL_CRASH_ONLY);
        else if (target->recording.header->flags & LEAK_FLAG_DETACHED)
            refuse_request(target->who, REFUSAL_DETACHED, (int)target->pid,
                           term_shell_word(target->path).text);
        else
            return true;
    }
    target_close(target);
    return false;
}

void target_close(struct target *target)
{
    recording_close(&target->recording);
    if (target->pidfd >= 0)
        close(target->pidfd);
    free(target->who);
    free(target->path);
}

/* Returns the pid that the process has in its own pid namespace; 0: the namespace is the same as
 * that of leakctl. */
static pid_t find_inner_pid(pid_t pid)
{
    char status[PROC_STATUS_SIZE];
    const char *numbers, *end, *last;

    proc_read_text(pid, "status", status, sizeof(status));
    numbers = proc_status_value(status, "NSpid");
    end = numbers + strcspn(numbers, "\n");
    last = memrchr(numbers, '\t', (size_t)(end - numbers));
    return last ? atoi(last + 1) : 0;
}

char *target_other_root(pid_t pid)
{
    char *path = string_format("/proc/%d/root", (int)pid);
    struct stat own, other;

    if (stat("/", &own) == 0 && stat(path, &other) == 0 &&
        (own.st_ino != other.st_ino || own.st_dev != other.st_dev))
        return path;
    free(path);
    return NULL;
}

static bool has_another_root(pid_t pid)
{
    char *root = target_other_root(pid);

    free(root);
    return root;
}

/* Returns a path by which leakctl reaches a file of the process: through /proc/PID/root, because
 * the process may be in another mount namespace; if this is impossible, the path itself. */
static char *reach_file(pid_t pid, const char *path)
{
    char *there = string_format("/proc/%d/root%s", (int)pid, path);

    if (access(there, F_OK) == 0)
        return there;
    free(there);
    return string_format("%s", path);
}

/* Returns the path of the recording file that the process maps, as leakctl can open it; the caller
 * frees it. */
static char *find_mapped_store(pid_t pid)
{
    char *path = string_format("/proc/%d/maps", (int)pid), *line = NULL, *store = NULL;
    FILE *maps = fopen(path, "re");
    struct proc_mapping mapping;
    size_t size = 0;

    while (maps && !store && getline(&line, &size, maps) > 0)
        if (proc_parse_mapping(line, &mapping) && ends_with(mapping.path, STORE))
            store = reach_file(pid, mapping.path);
    if (maps)
        fclose(maps);
    free(line);
    free(path);
    return store;
}

/* Finds a process in a container or chroot: the name of its recording file may have another pid,
 * and its directory may be visible only to that process. False: it is not found. */
static bool find_in_container(const char *word, struct listed_process *found)
{
    char state, *end;
    long pid = strtol(word, &end, 10);
    bool inside = !*end && pid > 0 && (find_inner_pid((pid_t)pid) || has_another_root((pid_t)pid));
    const char *name;

    *found = (struct listed_process){.pid = (pid_t)pid};
    if (!inside || !proc_read_stat(found->pid, &found->start_time, &state))
        return false;
    found->path = find_mapped_store(found->pid);
    if (!found->path)
        return false;
    name = strrchr(found->path, '/') + 1;
    found->program = string_format("%.*s", (int)store_name_program_length(name), name);
    found->name = strdup(found->program);
    return true;
}

static bool open_in_container(struct target *target, const char *word, const char *dir)
{
    struct listed_process found;
    bool good =
        find_in_container(word, &found) ? open_target(target, &found) : refuse_missing(word, dir);

    listed_process_free(&found);
    return good;
}

bool target_open(struct target *target, const char *word, const char *dir)
{
    char *directory = process_list_directory(dir);
    struct process_list finds = process_list_running(directory);
    bool good;

    process_list_select(&finds, word);
    good = !finds.count       ? open_in_container(target, word, directory)
           : finds.count == 1 ? open_target(target, &finds.at[0])
                              : refuse_several(word, &finds);
    process_list_end(&finds);
    free(directory);
    return good;
}
