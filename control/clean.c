/* clean.c - implements leakctl clean. A recording file stays if one of the reasons in may_remove()
 * applies; other files are ignored. Of leakrun it removes directories that a killed leakrun left,
 * and those that leakrun left for its user.
 */
#include "control/commands.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/processes/session_dir.h"
#include "common/store/store.h"
#include "common/store/store_dir.h"
#include "common/base/arena.h"
#include "common/base/term_text.h"

#define MILLISECONDS 1000
#define NANOSECONDS 1000000000ull

struct cleaning {
    uint64_t older; /* files younger than so many seconds stay */
    bool given;     /* the directory was named with --dir */
    char host[sizeof(((struct leak_header *)0)->host)];
    size_t removed, running, younger, strange, failed;
    size_t runs; /* directories of leakrun processes that still run */
};

/* ---- Recording files of single programs ------------------------------------------------------ */

/* Returns the last time, in seconds, at which the process was active. st_mtime is not enough,
 * because writing to a mapped file does not change it. */
static uint64_t last_active(const struct leak_header *header, const struct stat *status)
{
    uint64_t tick = header->started_ns / NANOSECONDS + header->epoch / LEAK_TICKS_PER_SECOND;
    uint64_t ended = header->ended_ns / NANOSECONDS;
    uint64_t written = status->st_mtime > 0 ? (uint64_t)status->st_mtime : 0;
    uint64_t last = tick > ended ? tick : ended;

    return written > last ? written : last;
}

static bool may_remove(struct cleaning *cleaning, const struct leak_header *header,
                       const struct stat *status)
{
    uint64_t now = (uint64_t)time(NULL), active = last_active(header, status);

    if (status->st_uid != geteuid() || strcmp(header->host, cleaning->host) != 0) {
        /* the file belongs to another user; or to another machine, where the pid means another
         * process */
        cleaning->strange++;
        return false;
    }
    if (store_process_is_alive(header->host, header->pid, header->start_time)) {
        cleaning->running++;
        return false;
    }
    if (active > now || now - active < cleaning->older) {
        cleaning->younger++;
        return false;
    }
    return true;
}

static void clean_directory(struct cleaning *cleaning, const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    struct leak_header header;
    struct stat status;

    if (!stream && (cleaning->given || errno != ENOENT)) {
        cleaning->failed++;
        fprintf(stderr, "leakctl: %s: %s\n", directory, strerror(errno));
    }
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        struct term_text name = term_text(entry->d_name, strlen(entry->d_name), 0);

        if (!store_header_read(dirfd(stream), entry->d_name, &header, &status) ||
            !may_remove(cleaning, &header, &status))
            continue;
        if (unlinkat(dirfd(stream), entry->d_name, 0) == 0) {
            cleaning->removed++;
            printf("removed %s/%s\n", directory, name.text);
        } else {
            cleaning->failed++;
            fprintf(stderr, "leakctl: cannot remove %s/%s: %s\n", directory, name.text,
                    strerror(errno));
        }
    }
    if (stream)
        closedir(stream);
}

/* ---- Private directories of leakrun ---------------------------------------------------------- */

static void clean_session(const struct session_dir *session, void *context)
{
    struct cleaning *cleaning = context;
    struct term_text path = term_text(session->path, strlen(session->path), 0);
    uint64_t now = (uint64_t)time(NULL), last = (uint64_t)session->last;

    if (session->state == SESSION_DIR_FOREIGN)
        return;
    if (session->state == SESSION_DIR_IN_USE) {
        cleaning->runs++;
    } else if (session->state == SESSION_DIR_KEPT && (last > now || now - last < cleaning->older)) {
        cleaning->younger += session->recordings;
    } else if (session_dir_remove(session->path)) {
        cleaning->removed += session->recordings;
        printf("removed %s\n", path.text);
    } else {
        cleaning->failed++;
        fprintf(stderr, "leakctl: cannot remove %s: %s\n", path.text, strerror(errno));
    }
}

/* ---- The command clean ----------------------------------------------------------------------- */

/* Lists the directories to clean. If XDG_RUNTIME_DIR is set, the user's programs and leakrun write
 * there, so only this directory is cleaned. */
static void list_places(const char *place[STORE_DIR_PLACES])
{
    store_dir_places(place, getenv("XDG_RUNTIME_DIR"));
    for (int i = 1; place[0] && i < STORE_DIR_PLACES; i++)
        place[i] = NULL;
}

static void clean_default_places(struct cleaning *cleaning, struct arena *mem, bool recordings)
{
    const char *place[STORE_DIR_PLACES];

    list_places(place);
    for (int i = 0; i < STORE_DIR_PLACES; i++) {
        if (!place[i])
            continue;
        if (recordings)
            clean_directory(cleaning, arena_format(mem, "%s/" STORE_DIR_USER_PREFIX "%u", place[i],
                                                   (unsigned)geteuid()));
        session_dir_visit(place[i], 0, clean_session, cleaning);
    }
}

static void print_summary(const struct cleaning *cleaning)
{
    printf("%s removed", term_count(cleaning->removed, "recording file").text);
    if (cleaning->running)
        printf(", %zu of running processes", cleaning->running);
    if (cleaning->runs)
        printf(", %s of leakrun in progress", term_count(cleaning->runs, "run").text);
    if (cleaning->younger)
        printf(", %zu too recent", cleaning->younger);
    if (cleaning->strange)
        printf(", %zu of other users or hosts", cleaning->strange);
    puts("");
}

int command_clean(const struct arguments *arguments)
{
    struct cleaning cleaning = {.older = arguments->older / MILLISECONDS,
                                .given = arguments->dir != NULL};
    struct arena *mem = arena_begin();
    const char *dir = arguments->dir ? arguments->dir : store_dir_configured(mem);

    gethostname(cleaning.host, sizeof(cleaning.host) - 1);
    if (dir) {
        clean_directory(&cleaning, dir);
        session_dir_visit(dir, 0, clean_session, &cleaning);
    }
    if (!arguments->dir)
        clean_default_places(&cleaning, mem, dir == NULL);
    print_summary(&cleaning);
    arena_end(mem);
    return cleaning.failed ? 1 : 0;
}
