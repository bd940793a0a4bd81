/* session.c - makes and removes the private directory of a leakrun; described in session.h. */
#include "live/session.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/base/proc.h"
#include "common/base/string_list.h"
#include "common/processes/session_dir.h"
#include "common/store/store_dir.h"

#define KEPT_SECONDS (24 * 60 * 60)
/* A place with fewer free bytes is tried last: containers often have a /dev/shm of 64 KiB. */
#define ROOM_WANTED (16u << 20)

/* ---- Choosing a place for the session directory ---------------------------------------------- */

static bool suits_loader(const char *path)
{
    return !strpbrk(path, " :$\t\n");
}

static bool has_room(const char *path)
{
    struct statvfs fs;
    return statvfs(path, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize >= ROOM_WANTED;
}

/* ---- Making the session directory and its links ---------------------------------------------- */

static bool make_link(const struct session *session, const char *to, const char *name)
{
    char *path = string_format("%s/%s", session->link_dir, name);
    bool made = symlink(to, path) == 0;
    free(path);
    return made;
}

static bool make_folder(const struct session *session, const char *name)
{
    char *path = string_format("%s/%s", session->link_dir, name);
    bool made = mkdir(path, 0700) == 0;
    free(path);
    return made;
}

/* Says whether the loader of 64-bit programs replaces $LIB by "lib": then libc.so is in a folder of
 * this name. */
static bool is_lib_for_64_bit(void)
{
    Dl_info libc;
    char folder[PATH_MAX];
    if (!dladdr((void *)getpid, &libc) || !realpath(libc.dli_fname, folder))
        return false;
    return strcmp(strrchr(dirname(folder), '/'), "/lib") == 0;
}

/* Makes the folders for all values of $LIB: lib64 and lib/x86_64-linux-gnu for 64 bits; lib32 and
 * lib/i386-linux-gnu for 32 bits; lib may be for either. False: a folder or a link cannot be
 * made. */
static bool make_library_folders(const struct session *session, const char *library_32)
{
    const char *other = is_lib_for_64_bit() ? "../" SESSION_LINK_NAME : "../32/" SESSION_LINK_NAME;
    return make_folder(session, "32") && make_folder(session, "lib") &&
           make_link(session, library_32, "32/" SESSION_LINK_NAME) &&
           make_link(session, ".", "lib64") && make_link(session, "32", "lib32") &&
           make_link(session, "..", "lib/x86_64-linux-gnu") &&
           make_link(session, "../32", "lib/i386-linux-gnu") &&
           make_link(session, "../32", "lib/32") &&
           make_link(session, other, "lib/" SESSION_LINK_NAME);
}

static bool make_library_link(struct session *session, const char *library)
{
    char *library_32 = proc_find_library_32(library);
    bool both = library_32 && make_library_folders(session, library_32);
    free(library_32);
    session->preload =
        string_format("%s/%s" SESSION_LINK_NAME, session->link_dir, both ? "$LIB/" : "");
    session->users = both ? session->link_dir : session->preload;
    return make_link(session, library, SESSION_LINK_NAME);
}

static char *make_default_directory(const char *runtime_dir)
{
    const char *place[STORE_DIR_PLACES];
    store_dir_places(place, runtime_dir);
    for (int with_room = 1; with_room >= 0; with_room--)
        for (int i = 0; i < STORE_DIR_PLACES; i++)
            if (place[i] && suits_loader(place[i]) && has_room(place[i]) == with_room) {
                char *dir = session_dir_make(place[i]);
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
        /* LIBLEAK_OPTIONS has the name in single quotes, so it cannot contain one. */
        session->dir = strchr(wanted, '\'') ? NULL : session_dir_make(wanted);
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

/* ---- Removing the session directory ---------------------------------------------------------- */

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
        session_dir_remove(session->link_dir);
    if (session->dir)
        session_dir_remove(session->dir);
    session_forget(session);
}

void session_leave(struct session *session)
{
    session_dir_mark_kept(session->dir);
    session_dir_mark_kept(session->link_dir);
    session_forget(session);
}

/* ---- Removing session directories of earlier runs -------------------------------------------- */

static void sweep_session(const struct session_dir *session, void *context)
{
    const time_t *spared_since = context;
    bool spared = session->state == SESSION_DIR_KEPT && session->last >= *spared_since;
    if ((session->state == SESSION_DIR_STALE || session->state == SESSION_DIR_KEPT) && !spared)
        session_dir_remove(session->path);
}

void session_sweep(const char *wanted, const char *runtime_dir)
{
    const char *place[STORE_DIR_PLACES];
    time_t spared_since = time(NULL) - KEPT_SECONDS;
    store_dir_places(place, runtime_dir);
    for (int i = 0; i < STORE_DIR_PLACES; i++)
        if (place[i])
            session_dir_visit(place[i], spared_since, sweep_session, &spared_since);
    if (wanted)
        session_dir_visit(wanted, spared_since, sweep_session, &spared_since);
}

void session_send_signal(const struct session *session, pid_t program, int sig)
{
    pid_t *pids;
    size_t count = proc_find_users(session->users, &pids);
    if (program)
        kill(program, sig);
    for (size_t i = 0; i < count; i++)
        if (pids[i] != program)
            kill(pids[i], sig);
    free(pids);
}
