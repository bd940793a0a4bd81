/* packages.c - finds the packages of files; described in packages.h. */
#include "symbolize/records/packages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/term_text.h"

#define DPKG_LISTS "/var/lib/dpkg/info"
#define LIST_MOST ((size_t)16 << 20)   /* most bytes of a dpkg list; a larger one is not read */
#define LISTS_MOST ((size_t)256 << 20) /* when this many bytes of lists are read, the search ends */
/* room for the forms in which a path is searched: as it is, and with /usr added or removed */
#define NAMES 3
#define RPM "/usr/bin/rpm"
#define RPM_SECONDS 2

/* ---- Reading a file -------------------------------------------------------------------------- */

/* Reads an ordinary file; adds a NUL at its end. The caller frees it with free(3). NULL: there is
 * no such file, or it is larger than `most`. */
static char *read_file_at(int directory, const char *name, size_t most, size_t *length)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    struct stat status;
    ssize_t got = 0;

    *length = 0;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        (size_t)status.st_size <= most)
        text = array_grow(NULL, &(size_t){0}, (size_t)status.st_size + 1, 1);
    while (text && *length < (size_t)status.st_size &&
           (got = read(fd, text + *length, (size_t)status.st_size - *length)) > 0)
        *length += (size_t)got;
    if (text)
        text[*length] = 0;
    if (fd >= 0)
        close(fd);
    return text;
}

static bool starts_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool packages_may_have(const char *path)
{
    return (starts_with(path, "/usr/") && !starts_with(path, "/usr/local/")) ||
           starts_with(path, "/lib") || starts_with(path, "/bin/") || starts_with(path, "/sbin/") ||
           starts_with(path, "/opt/");
}

/* ---- Searching the lists of dpkg ------------------------------------------------------------- */

/* A path that is searched in the lists of dpkg. */
struct wanted {
    char *name;
    size_t length;
    struct packaged_file *file;
};

/* Adds the forms in which dpkg may list the file: /usr/lib/x may be listed as /lib/x, and /lib/x as
 * /usr/lib/x. */
static size_t add_names(struct arena *mem, struct packaged_file *file, struct wanted *to)
{
    const char *names[NAMES] = {file->path};
    size_t count = 1;

    if (starts_with(file->path, "/usr/"))
        names[count++] = file->path + 4;
    else
        names[count++] = arena_format(mem, "/usr%s", file->path);
    for (size_t i = 0; i < count; i++)
        to[i] =
            (struct wanted){arena_copy(mem, names[i], strlen(names[i])), strlen(names[i]), file};
    return count;
}

static void name_package(struct arena *mem, struct packaged_file *file, const char *list)
{
    int length = (int)strcspn(list, ":"), whole = (int)strlen(list) - (int)strlen(".list");

    file->package = arena_format(mem, "%.*s", length < whole ? length : whole, list);
    file->debug = arena_format(mem, strcmp(file->package, "libc6") == 0 ? "%s-dbg" : "%s-dbgsym",
                               file->package);
}

static void search_list(struct arena *mem, const char *list, const char *text, size_t length,
                        const struct wanted *wanted, size_t count)
{
    for (const char *at = text, *end = text + length; at < end;) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((line_end ? line_end : end) - at);

        for (size_t i = 0; i < count; i++)
            if (wanted[i].length == size && !wanted[i].file->package &&
                memcmp(wanted[i].name, at, size) == 0)
                name_package(mem, wanted[i].file, list);
        at += size + 1;
    }
}

static bool is_list(const char *name)
{
    size_t length = strlen(name);

    return length > 5 && strcmp(name + length - 5, ".list") == 0;
}

static bool is_found(const struct wanted *wanted, size_t count)
{
    size_t found = 0;

    while (found < count && wanted[found].file->package)
        found++;
    return found == count;
}

/* Says whether the name of the package is like that of a file, as libssl3 is like libssl.so.3. */
static bool resembles(const char *list, const struct wanted *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = strrchr(wanted[i].name, '/') + 1;

        if (strncasecmp(list, name, strcspn(name, ".")) == 0)
            return true;
    }
    return false;
}

/* Searches first the lists of packages whose names are like that of a file, because the file is
 * usually in one of these, and then the other lists. False: the system has no dpkg. */
static bool search_dpkg(struct arena *mem, const char *root, const struct wanted *wanted,
                        size_t count)
{
    DIR *lists = opendir(arena_format(mem, "%s" DPKG_LISTS, root));
    size_t left = LISTS_MOST;

    if (!lists)
        return false;
    for (int others = 0; others < 2; others++) {
        rewinddir(lists);
        for (struct dirent *entry; left && !is_found(wanted, count) && (entry = readdir(lists));) {
            size_t length;
            char *text = NULL;

            if (is_list(entry->d_name) && resembles(entry->d_name, wanted, count) == !others)
                text = read_file_at(dirfd(lists), entry->d_name, LIST_MOST, &length);
            if (!text)
                continue;
            search_list(mem, entry->d_name, text, length, wanted, count);
            left -= length < left ? length : left;
            free(text);
        }
    }
    closedir(lists);
    return true;
}

/* ---- Running rpm ----------------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
    return time_now_ns() / 1000000;
}

/* Reads the output of rpm until its end or the deadline. */
static size_t read_answer(int fd, char *text, size_t size, uint64_t deadline)
{
    size_t length = 0;
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    while (length + 1 < size) {
        uint64_t now = now_ms();
        ssize_t got;

        if (now >= deadline || poll(&poll_fd, 1, (int)(deadline - now)) <= 0)
            break;
        got = read(fd, text + length, size - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    text[length] = 0;
    return length;
}

/* Waits until the process ends, and kills it at the deadline. True: it ended with exit status 0. */
static bool end_process(pid_t pid, uint64_t deadline)
{
    int status = 0;
    pid_t ended;

    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && now_ms() < deadline)
        poll(NULL, 0, 5);
    if (ended == 0) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    return ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const char *packages_ask_rpm(struct arena *mem, const char *program, const char *path,
                             int milliseconds)
{
    char *argv[] = {"rpm", "-qf", "--queryformat", "%{NAME}\\n", "--", (char *)path, NULL};
    char *environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", NULL};
    uint64_t deadline = now_ms() + (uint64_t)milliseconds;
    posix_spawn_file_actions_t actions;
    char answer[256];
    int pipes[2];
    pid_t pid;
    bool good;

    if (pipe2(pipes, O_CLOEXEC) != 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    good = posix_spawn(&pid, program, &actions, NULL, argv, environment) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[1]);
    if (good) {
        read_answer(pipes[0], answer, sizeof(answer), deadline);
        good = end_process(pid, deadline);
    }
    close(pipes[0]);
    if (!good)
        return NULL;
    answer[strcspn(answer, "\n")] = 0;
    return *answer && !strpbrk(answer, " /") ? arena_copy(mem, answer, strlen(answer)) : NULL;
}

static void search_rpm(struct arena *mem, struct packaged_file *files, size_t count)
{
    uint64_t deadline = now_ms() + RPM_SECONDS * 1000;

    if (access(RPM, X_OK) != 0)
        return;
    for (size_t i = 0; i < count && now_ms() < deadline; i++) {
        if (!packages_may_have(files[i].path))
            continue;
        files[i].package = packages_ask_rpm(mem, RPM, files[i].path, (int)(deadline - now_ms()));
        if (files[i].package)
            files[i].debug = arena_format(mem, "%s-debuginfo", files[i].package);
    }
}

void packages_find(struct arena *mem, const char *root, struct packaged_file *files, size_t count)
{
    struct wanted *wanted = array_grow(NULL, &(size_t){0}, count * NAMES + 1, sizeof(*wanted));
    size_t names = 0;

    for (size_t i = 0; i < count; i++)
        if (packages_may_have(files[i].path))
            names += add_names(mem, &files[i], wanted + names);
    if (names && !search_dpkg(mem, root ? root : "", wanted, names) && !root)
        search_rpm(mem, files, count);
    free(wanted);
}

/* ---- The URLs of debuginfod servers ---------------------------------------------------------- */

static const struct {
    const char *id, *url; /* id: value of ID= in /etc/os-release; see os-release(5) */
} servers[] = {
    {"debian", "https://debuginfod.debian.net"},
    {"ubuntu", "https://debuginfod.ubuntu.com"},
    {"fedora", "https://debuginfod.fedoraproject.org"},
    {"centos", "https://debuginfod.centos.org"},
    {"opensuse", "https://debuginfod.opensuse.org"},
    {"suse", "https://debuginfod.opensuse.org"},
    {"arch", "https://debuginfod.archlinux.org"},
    {"altlinux", "https://debuginfod.altlinux.org"},
    {"void", "https://debuginfod.s.voidlinux.org"},
};

/* Copies the value of the line NAME=value of os-release, without its quotes, to the buffer. False:
 * there is no such line. */
static bool os_release_value(const char *text, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);

    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, name, length) != 0 || at[length] != '=')
            continue;
        at += length + 1;
        at += *at == '"' || *at == '\'';
        snprintf(value, size, "%.*s", (int)strcspn(at, "\"'\n"), at);
        return true;
    }
    return false;
}

/* Returns the debuginfod server of a distribution. ids: one ID of os-release, or several separated
 * by spaces; "opensuse-leap" has the server of "opensuse". NULL = it has none. */
static const char *server_of(const char *ids)
{
    for (const char *at = ids; *at; at += strcspn(at, " "), at += strspn(at, " "))
        for (size_t i = 0; i < sizeof(servers) / sizeof(*servers); i++) {
            size_t length = strlen(servers[i].id);

            if (strncmp(at, servers[i].id, length) == 0 && strchr(" -", at[length]))
                return servers[i].url;
        }
    return NULL;
}

/* Returns the URLs that the administrator has configured, in the files that
 * /etc/profile.d/debuginfod.sh joins. NULL = there are none. */
static const char *configured_urls(struct arena *mem, const char *root)
{
    DIR *folder = opendir(arena_format(mem, "%s/etc/debuginfod", root));
    const char *urls = NULL;

    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        size_t name = strlen(entry->d_name), length;
        char *text = name > 5 && strcmp(entry->d_name + name - 5, ".urls") == 0
                         ? read_file_at(dirfd(folder), entry->d_name, 4096, &length)
                         : NULL;

        if (text && starts_with(text, "http"))
            urls = arena_format(mem, "%.*s", (int)strcspn(text, " \n"), text);
        free(text);
    }
    if (folder)
        closedir(folder);
    return urls;
}

const char *packages_debuginfod_urls(struct arena *mem, const char *root)
{
    const char *urls = configured_urls(mem, root ? root : "");
    char value[256];
    size_t length;
    char *text;

    if (urls)
        return urls;
    text = read_file_at(AT_FDCWD, arena_format(mem, "%s/etc/os-release", root ? root : ""), 1 << 16,
                        &length);
    if (text && os_release_value(text, "ID", value, sizeof(value)))
        urls = server_of(value);
    if (text && !urls && os_release_value(text, "ID_LIKE", value, sizeof(value)))
        urls = server_of(value);
    free(text);
    return urls;
}
