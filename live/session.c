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

#include "live/procfs.h"
#include "common/base/error.h"
#include "common/base/string_list.h"
#include "common/processes/store_list.h"
#include "common/base/proc.h"
#include "common/store/store_dir.h"

#define LINK_NAME "libleak.so"
#define KEPT_NAME "kept"
#define KEPT_SECONDS (24 * 60 * 60)
/* A place with less room is tried last: containers often have a /dev/shm of 64 KiB. */
#define ROOM_WANTED (16u << 20)

/* ---- Places ---------------------------------------------------------------------------------- */

static bool suits_loader(const char *path)
{
    return !strpbrk(path, " :$\t\n");
}

static bool has_room(const char *path)
{
    struct statvfs fs;
    return statvfs(path, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize >= ROOM_WANTED;
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* A fresh 0700 directory below base, or NULL with errno. */
static char *make_session_directory(const char *base)
{
    char *absolute = realpath(base, NULL);
    if (!absolute)
        return NULL;
    uint64_t start = 0;
    char state;
    proc_read_stat(getpid(), &start, &state);
    for (int n = 0; n < 100; n++) {
        char *dir = string_format("%s/" STORE_DIR_SESSION_PREFIX "%d.%" PRIu64 ".%" PRIu64 ".%d",
                                  absolute, (int)getpid(), start, procfs_pid_namespace(), n);
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

static bool make_library_link(struct session *session, const char *library)
{
    session->preload = string_format("%s/" LINK_NAME, session->link_dir);
    return symlink(library, session->preload) == 0;
}

static char *make_default_directory(const char *runtime_dir)
{
    const char *place[STORE_DIR_PLACES];
    store_dir_places(place, runtime_dir);
    for (int with_room = 1; with_room >= 0; with_room--)
        for (int i = 0; i < STORE_DIR_PLACES; i++)
            if (place[i] && suits_loader(place[i]) && has_room(place[i]) == with_room) {
                char *dir = make_session_directory(place[i]);
                if (dir && suits_loader(dir))
                    return dir;
                if (dir)
                    rmdir(dir);
                free(dir);
            }
    return NULL;
}

bool session_make(struct session *session, const char *wanted, const char *library,
                  const char *runtime_dir)
{
    *session = (struct session){0};
    if (wanted) {
        /* A value of LIBLEAK_OPTIONS stands in single quotes and cannot hold one. */
        session->dir = strchr(wanted, '\'') ? NULL : make_session_directory(wanted);
        if (!session->dir)
            print_notice("cannot keep recording files in %s (%s): using the default directory",
                         wanted,
                         strchr(wanted, '\'') ? "a single quote in its name" : strerror(errno));
    }
    if (session->dir && suits_loader(session->dir)) {
        session->link_dir = strdup(session->dir);
        if (session->link_dir && make_library_link(session, library))
            return true;
        print_notice("cannot use %s (%m): using the default directory", wanted);
        session_remove(session);
    }
    char *dir = make_default_directory(runtime_dir);
    if (!dir) {
        print_notice(
            "no directory for recording files: neither $XDG_RUNTIME_DIR nor /dev/shm nor /tmp is "
            "writable (%m); name one with --dir=DIR");
        session_remove(session);
        return false;
    }
    session->link_dir = dir;
    if (!session->dir)
        session->dir = strdup(dir);
    if (session->dir && make_library_link(session, library))
        return true;
    print_notice("cannot create a link to %s in %s: %m", library, dir);
    session_remove(session);
    return false;
}

/* ---- Removing -------------------------------------------------------------------------------- */

static bool is_session_file(const char *name)
{
    size_t length = strlen(name);
    return strcmp(name, LINK_NAME) == 0 || strcmp(name, KEPT_NAME) == 0 ||
           (length > 5 && strcmp(name + length - 5, ".leak") == 0);
}

/* Removes the files of libleak, and the directory if nothing else is in it. */
static void remove_session_directory(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (is_session_file(entry->d_name))
            unlinkat(fd, entry->d_name, 0);
    closedir(stream);
    rmdir(dir);
}

static void session_forget(struct session *session)
{
    free(session->dir);
    free(session->link_dir);
    free(session->preload);
    *session = (struct session){0};
}

void session_remove(struct session *session)
{
    if (session->link_dir && (!session->dir || strcmp(session->link_dir, session->dir) != 0))
        remove_session_directory(session->link_dir);
    if (session->dir)
        remove_session_directory(session->dir);
    session_forget(session);
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
    session_forget(session);
}

/* ---- Sweeping -------------------------------------------------------------------------------- */

/* Whether nothing needs the directory any more: each reason to keep it is checked in turn. */
static bool is_stale(const char *dir, const char *name)
{
    int pid;
    uint64_t start, namespace;
    if (sscanf(name, STORE_DIR_SESSION_PREFIX "%d.%" SCNu64 ".%" SCNu64, &pid, &start,
               &namespace) != 3)
        return false;
    /* Another user's directory, or none that session_make created. */
    struct stat st;
    if (lstat(dir, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
        (st.st_mode & 07777) != 0700)
        return false;
    /* Pids of another container have no meaning here. */
    if (namespace == 0 || namespace != procfs_pid_namespace())
        return false;
    if (proc_is_alive(pid, start))
        return false;
    /* A process that outlived the program writes its recording file, or may start children that
     * need the link. */
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
    lives = procfs_find_users(dir, &pids) > 0;
    free(pids);
    if (lives)
        return false;
    /* A message named this directory. */
    char *kept = string_format("%s/" KEPT_NAME, dir);
    bool spared = lstat(kept, &st) == 0 &&
                  time(NULL) < (st.st_mtime > written ? st.st_mtime : written) + KEPT_SECONDS;
    free(kept);
    return !spared;
}

static void sweep_place(const char *place)
{
    DIR *stream = opendir(place);
    if (!stream)
        return;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        if (strncmp(entry->d_name, STORE_DIR_SESSION_PREFIX, strlen(STORE_DIR_SESSION_PREFIX)) != 0)
            continue;
        char *dir = string_format("%s/%s", place, entry->d_name);
        if (is_stale(dir, entry->d_name))
            remove_session_directory(dir);
        free(dir);
    }
    closedir(stream);
}

void session_sweep(const char *wanted, const char *runtime_dir)
{
    const char *place[STORE_DIR_PLACES];
    store_dir_places(place, runtime_dir);
    for (int i = 0; i < STORE_DIR_PLACES; i++)
        if (place[i])
            sweep_place(place[i]);
    if (wanted)
        sweep_place(wanted);
}
