/* clean.c - leakctl clean. A recording file stays if one of the reasons in may_remove holds; other
 * files are not even counted. */
#include "control/commands.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/store/store.h"
#include "common/store/store_dir.h"
#include "common/base/arena.h"
#include "common/base/text.h"

#define MILLISECONDS 1000
#define NANOSECONDS 1000000000ull

struct cleaning {
    uint64_t older; /* seconds */
    bool given;     /* the directory, by --dir */
    char host[sizeof(((struct leak_header *)0)->host)];
    size_t removed, running, younger, strange, failed;
};

/* The last sign of the process, in seconds: writing to a mapping does not change st_mtime. */
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
        cleaning
            ->strange++; /* of another user; or of another machine, where the pid means another process */
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

static void print_summary(const struct cleaning *cleaning)
{
    printf("%s removed", term_count(cleaning->removed, "recording file").text);
    if (cleaning->running)
        printf(", %zu of running processes", cleaning->running);
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
    const char *directory[STORE_DIR_PLACES];
    size_t count = store_dir_list(mem, directory);

    gethostname(cleaning.host, sizeof(cleaning.host) - 1);
    if (arguments->dir) {
        directory[0] = arguments->dir;
        count = 1;
    }
    for (size_t i = 0; i < count; i++)
        clean_directory(&cleaning, directory[i]);
    print_summary(&cleaning);
    arena_end(mem);
    return cleaning.failed ? 1 : 0;
}
