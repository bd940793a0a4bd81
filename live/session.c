/* session.c - see session.h. */
#include "live/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "live/environment.h"
#include "live/process.h"
#include "common/base/error.h"
#include "common/processes/store_list.h"
#include "common/base/proc.h"
#include "common/store/store_dir.h"

#define LINK_NAME "libleak.so"
#define KEPT_NAME "kept"
#define KEPT_SECONDS (24 * 60 * 60)
/* Below this a place is tried last: a /dev/shm of 64 KiB, as containers have it, is no place. */
#define ROOM_WANTED (16u << 20)

/* ---- Places ---------------------------------------------------------------------------- */

static bool suits_loader(const char *path)
{
    return !strpbrk(path, " :$\t\n");
}

static bool has_room(const char *path)
{
    struct statvfs fs;
    return statvfs(path, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize >= ROOM_WANTED;
}

/* ---- Making ---------------------------------------------------------------------------- */

/* A fresh 0700 directory below base, or NULL with errno. */
static char *directory_make(const char *base)
{
    char *absolute = realpath(base, NULL);
    if (!absolute)
        return NULL;
    uint64_t start = 0;
    char state;
    proc_read_stat(getpid(), &start, &state);
    for (int n = 0; n < 100; n++) {
        char *dir = string_format("%s/" STORE_DIR_SESSION_PREFIX "%d.%" PRIu64 ".%" PRIu64 ".%d",
                                  absolute, (int)getpid(), start, process_namespace(), n);
        /* chmod: the umask may take away our own rights. */
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

static bool link_make(struct session *session, const char *library)
{
    session->preload = string_format("%s/" LINK_NAME, session->link_dir);
    return symlink(library, session->preload) == 0;
}

static char *default_directory_make(const struct string_list *environment)
{
    const char *place[STORE_DIR_PLACES];
    store_dir_places(place, environment_get(environment, "XDG_RUNTIME_DIR"));
    for (int with_room = 1; with_room >= 0; with_room--)
        for (int i = 0; i < STORE_DIR_PLACES; i++)
            if (place[i] && suits_loader(place[i]) && has_room(place[i]) == with_room) {
                char *dir = directory_make(place[i]);
                if (dir && suits_loader(dir))
                    return dir;
                if (dir)
                    rmdir(dir);
                free(dir);
            }
    return NULL;
}

bool session_make(struct session *session, const char *wanted, const char *library,
                  const struct string_list *environment)
{
    *session = (struct session){0};
    if (wanted) {
        /* A value of LIBLEAK_OPTIONS stands in single quotes and cannot hold one. */
        session->dir = strchr(wanted, '\'') ? NULL : directory_make(wanted);
        if (!session->dir)
            print_notice("cannot keep stores in %s (%s): they go to the default place", wanted,
                         strchr(wanted, '\'') ? "a single quote in its name" : strerror(errno));
    }
    if (session->dir && suits_loader(session->dir)) {
        session->link_dir = strdup(session->dir);
        if (session->link_dir && link_make(session, library))
            return true;
        print_notice("cannot use %s (%m): stores go to the default place", wanted);
        session_remove(session);
    }
    char *dir = default_directory_make(environment);
    if (!dir) {
        print_notice(
            "no directory for the accounts of the program: neither $XDG_RUNTIME_DIR nor /dev/shm "
            "nor /tmp is writable (%m); name one with --dir=DIR");
        session_remove(session);
        return false;
    }
    session->link_dir = dir;
    if (!session->dir)
        session->dir = strdup(dir);
    if (session->dir && link_make(session, library))
        return true;
    print_notice("cannot make a link to %s in %s: %m", library, dir);
    session_remove(session);
    return false;
}

/* ---- Removing --------------------------------------------------------------------------- */

static bool is_ours(const char *name)
{
    size_t length = strlen(name);
    return strcmp(name, LINK_NAME) == 0 || strcmp(name, KEPT_NAME) == 0 ||
           (length > 5 && strcmp(name + length - 5, ".leak") == 0);
}

/* Removes what we or the runtime made, and the directory if nothing else is in it. */
static void directory_remove(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (is_ours(entry->d_name))
            unlinkat(fd, entry->d_name, 0);
    closedir(stream);
    rmdir(dir);
}

static void forget(struct session *session)
{
    free(session->dir);
    free(session->link_dir);
    free(session->preload);
    *session = (struct session){0};
}

void session_remove(struct session *session)
{
    if (session->link_dir && (!session->dir || strcmp(session->link_dir, session->dir) != 0))
        directory_remove(session->link_dir);
    if (session->dir)
        directory_remove(session->dir);
    forget(session);
}

static void mark_kept(const char *dir)
{
    char *path = string_format("%s/" KEPT_NAME, dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        close(fd);
    free(path);
}

void session_leave(struct session *session)
{
    mark_kept(session->dir);
    mark_kept(session->link_dir);
    forget(session);
}

/* ---- Sweeping --------------------------------------------------------------------------- */

/* Nothing needs the directory any more: see the ladder. */
static bool is_stale(const char *dir, const char *name)
{
    int pid;
    uint64_t start, namespace;
    if (sscanf(name, STORE_DIR_SESSION_PREFIX "%d.%" SCNu64 ".%" SCNu64, &pid, &start,
               &namespace) != 3)
        return false;
    /* Not our directory, or made under another umask than ours: not for us to judge. */
    struct stat st;
    if (lstat(dir, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
        (st.st_mode & 07777) != 0700)
        return false;
    /* Pids of another container mean nothing here. */
    if (namespace == 0 || namespace != process_namespace())
        return false;
    if (proc_is_alive(pid, start))
        return false;
    /* A survivor still writes its account, or may start children that need the link. */
    struct store_list stores;
    store_list_read(&stores, dir, 0, 0);
    bool lives = false;
    time_t written = 0;
    for (size_t i = 0; i < stores.count; i++) {
        lives |= stores.at[i].lives;
        if (stores.at[i].written > written)
            written = stores.at[i].written;
    }
    store_list_free(&stores);
    if (lives)
        return false;
    pid_t *pids;
    lives = process_find(dir, &pids) > 0;
    free(pids);
    if (lives)
        return false;
    /* The user was told to look here. */
    char *kept = string_format("%s/" KEPT_NAME, dir);
    bool spared = lstat(kept, &st) == 0 &&
                  time(NULL) < (st.st_mtime > written ? st.st_mtime : written) + KEPT_SECONDS;
    free(kept);
    return !spared;
}

static void place_sweep(const char *place)
{
    DIR *stream = opendir(place);
    if (!stream)
        return;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        if (strncmp(entry->d_name, STORE_DIR_SESSION_PREFIX, strlen(STORE_DIR_SESSION_PREFIX)) != 0)
            continue;
        char *dir = string_format("%s/%s", place, entry->d_name);
        if (is_stale(dir, entry->d_name))
            directory_remove(dir);
        free(dir);
    }
    closedir(stream);
}

void session_sweep(const char *wanted, const struct string_list *environment)
{
    const char *place[STORE_DIR_PLACES];
    store_dir_places(place, environment_get(environment, "XDG_RUNTIME_DIR"));
    for (int i = 0; i < STORE_DIR_PLACES; i++)
        if (place[i])
            place_sweep(place[i]);
    if (wanted)
        place_sweep(wanted);
}
