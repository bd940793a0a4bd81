/* session_dir.c - makes, examines and removes the private directories of leakrun sessions. */
#include "common/processes/session_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/proc.h"
#include "common/base/string_list.h"
#include "common/processes/store_list.h"
#include "common/store/store_dir.h"

#define KEPT_NAME "kept"

/* A number for the set of pids that this process sees: each container of a host has another set,
 * and so has each of several hosts that share a disk. 0: unknown. */
static uint64_t read_pid_domain(void)
{
    char host[256] = "";
    uint64_t domain = proc_pid_namespace();
    gethostname(host, sizeof host - 1);
    for (const char *at = host; domain && *at; at++)
        domain = (domain ^ (unsigned char)*at) * 0x100000001b3;
    return domain;
}

char *session_dir_make(const char *base)
{
    char *absolute = realpath(base, NULL);
    if (!absolute)
        return NULL;
    uint64_t start = 0;
    char state;
    proc_read_stat(getpid(), &start, &state);
    for (int n = 0; n < 100; n++) {
        char *dir = string_format("%s/" STORE_DIR_SESSION_PREFIX "%d.%" PRIu64 ".%" PRIu64 ".%d",
                                  absolute, (int)getpid(), start, read_pid_domain(), n);
        /* chmod, because the umask may remove rights of the owner. */
        if (mkdir(dir, 0700) == 0 && chmod(dir, 0700) == 0) {
            free(absolute);
            return dir;
        }
        int error = errno;
        free(dir);
        errno = error;
        if (error != EEXIST)
            break;
    }
    int error = errno;
    free(absolute);
    errno = error;
    return NULL;
}

void session_dir_mark_kept(const char *dir)
{
    char *path = string_format("%s/" KEPT_NAME, dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        close(fd);
    free(path);
}

/* The links to libleak.so that leakrun makes in a session directory for 64-bit and 32-bit loaders
 * (live/session.c), and then the folders of these links. */
static const char *const session_links[] = {SESSION_LINK_NAME,
                                            "lib64",
                                            "lib32",
                                            "lib/x86_64-linux-gnu",
                                            "lib/i386-linux-gnu",
                                            "lib/32",
                                            "lib/" SESSION_LINK_NAME,
                                            "32/" SESSION_LINK_NAME};
static const char *const session_folders[] = {"lib", "32"};

static void remove_links(int dir)
{
    for (size_t i = 0; i < sizeof session_links / sizeof *session_links; i++)
        unlinkat(dir, session_links[i], 0);
    for (size_t i = 0; i < sizeof session_folders / sizeof *session_folders; i++)
        unlinkat(dir, session_folders[i], AT_REMOVEDIR);
}

static bool is_session_file(const char *name)
{
    size_t length = strlen(name);
    return strcmp(name, KEPT_NAME) == 0 || (length > 5 && strcmp(name + length - 5, ".leak") == 0);
}

bool session_dir_remove(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (is_session_file(entry->d_name))
            unlinkat(fd, entry->d_name, 0);
    remove_links(fd);
    closedir(stream);
    return rmdir(dir) == 0;
}

/* ---- Finding out whether a session directory is in use --------------------------------------- */

/* Says whether leakrun made the session directory for this user, on this host and in this pid
 * namespace, so that the pid in its name is valid here. Reads that pid and its start time. */
static bool is_own(const char *dir, const char *name, int *pid, uint64_t *start)
{
    struct stat st;
    uint64_t domain;
    return sscanf(name, STORE_DIR_SESSION_PREFIX "%d.%" SCNu64 ".%" SCNu64, pid, start, &domain) ==
               3 &&
           lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 07777) == 0700 && domain != 0 && domain == read_pid_domain();
}

/* Says whether a process still needs the session directory: one that outlived leakrun and writes
 * its recording file, or whose environment names the link to libleak.so. */
static bool is_used(struct session_dir *session)
{
    struct store_list stores;
    store_list_read(&stores, session->path, 0, 0);
    bool lives = false;
    session->recordings = stores.count;
    for (size_t i = 0; i < stores.count; i++) {
        lives |= stores.at[i].lives;
        if (stores.at[i].written > session->last)
            session->last = stores.at[i].written;
    }
    store_list_free(&stores);
    pid_t *pids = NULL;
    lives = lives || proc_find_users(session->path, &pids) > 0;
    free(pids);
    return lives;
}

/* The time at which session_dir_mark_kept() marked a directory; 0: never. */
static time_t marked_at(const char *dir)
{
    struct stat st;
    char *kept = string_format("%s/" KEPT_NAME, dir);
    bool found = lstat(kept, &st) == 0;
    free(kept);
    return found ? st.st_mtime : 0;
}

static bool is_kept(struct session_dir *session)
{
    time_t marked = marked_at(session->path);
    if (marked > session->last)
        session->last = marked;
    return marked != 0;
}

static struct session_dir examine(const char *dir, const char *name)
{
    struct session_dir session = {.path = dir, .state = SESSION_DIR_FOREIGN};
    int pid;
    uint64_t start;
    if (!is_own(dir, name, &pid, &start))
        return session;
    if (proc_is_alive(pid, start) || is_used(&session))
        session.state = SESSION_DIR_IN_USE;
    else
        session.state = is_kept(&session) ? SESSION_DIR_KEPT : SESSION_DIR_STALE;
    return session;
}

void session_dir_visit(const char *place, time_t spared_since,
                       void (*visit)(const struct session_dir *, void *context), void *context)
{
    DIR *stream = opendir(place);
    if (!stream)
        return;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        if (strncmp(entry->d_name, STORE_DIR_SESSION_PREFIX, strlen(STORE_DIR_SESSION_PREFIX)) != 0)
            continue;
        char *dir = string_format("%s/%s", place, entry->d_name);
        if (!spared_since || marked_at(dir) < spared_since) {
            struct session_dir session = examine(dir, entry->d_name);
            visit(&session, context);
        }
        free(dir);
    }
    closedir(stream);
}
