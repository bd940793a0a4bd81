/* last.c - see last.h. */
#include "symbolize/last.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leak_store.h"
#include "symbolize/alive.h"
#include "symbolize/show.h"
#include "symbolize/where.h"

#define NAME_MOST 32 /* bytes of the program's name in that of its store */

struct search {
    struct mem *mem;
    const char *wanted;
    const char *path; /* the best so far, NULL = none */
    uint64_t started_ns;
    bool running;
    const char *looked; /* the directories, for the one line when there is none */
};

/* ---- One directory --------------------------------------------------------------------------- */

/* Everybody may have put a file there: a link is not followed, a pipe not waited for. */
static bool read_header(const char *path, struct leak_header *header)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    bool good = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                pread(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header) &&
                header->magic == LEAK_STORE_MAGIC && header->version == LEAK_STORE_VERSION;

    if (fd >= 0)
        close(fd);
    if (good)
        header->host[sizeof(header->host) - 1] = '\0';
    return good;
}

/* A pid is digits alone; a name may come with its directory, and stands in the file's cut off. */
static bool fits(const char *wanted, const char *file, const struct leak_header *header)
{
    const char *slash = wanted ? strrchr(wanted, '/') : NULL;
    const char *name = slash ? slash + 1 : wanted;
    size_t length = where_name_length(file);

    if (!wanted)
        return true;
    if (*wanted && !wanted[strspn(wanted, "0123456789")])
        return strtol(wanted, NULL, 10) == header->pid;
    return strnlen(name, NAME_MOST) == length && memcmp(name, file, length) == 0;
}

static void take_if_better(struct search *search, const char *path, const struct leak_header *header)
{
    bool running = header->end_how == LEAK_END_NONE &&
                   alive_process(header->host, header->pid, header->start_time);
    bool better = running != search->running ? search->running
                                             : header->started_ns > search->started_ns;

    if (search->path && !better)
        return;
    search->path = path;
    search->started_ns = header->started_ns;
    search->running = running;
}

static void look_in(struct search *search, const char *directory)
{
    DIR *stream = opendir(directory);
    struct leak_header header;

    search->looked = search->looked ? mem_format(search->mem, "%s and %s", search->looked, directory)
                                    : directory;
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        size_t length = strlen(entry->d_name);
        const char *path;

        if (length <= 5 || strcmp(entry->d_name + length - 5, ".leak") != 0)
            continue;
        path = mem_format(search->mem, "%s/%s", directory, entry->d_name);
        if (read_header(path, &header) && fits(search->wanted, entry->d_name, &header))
            take_if_better(search, path, &header);
    }
    if (stream)
        closedir(stream);
}

/* ---- Which directories ----------------------------------------------------------------------- */

/* The last line "dir=..." of a file of options, or what was so far. */
static const char *dir_of_file(struct mem *mem, const char *path, const char *so_far)
{
    FILE *file = path ? fopen(path, "re") : NULL;
    char line[1024];

    while (file && fgets(line, sizeof(line), file)) {
        char *value = line + strspn(line, " \t");
        size_t length = strcspn(value, "\r\n");

        while (length && strchr(" \t", value[length - 1]))
            length--;
        if (length < 4 || strncmp(value, "dir=", 4) != 0)
            continue;
        value += 4;
        length -= 4;
        if (length >= 2 && value[0] == '\'' && value[length - 1] == '\'') {
            value++;
            length -= 2;
        }
        so_far = mem_copy(mem, value, length);
    }
    if (file)
        fclose(file);
    return so_far;
}

/* In the runtime's order: the later one wins. NULL or "" = the default places. */
static const char *dir_wanted(struct mem *mem)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME"), *user = NULL, *dir;
    char *option = where_option(getenv("LIBLEAK_OPTIONS"));

    if (base && *base)
        user = mem_format(mem, "%s/libleak/config", base);
    else if (home && *home)
        user = mem_format(mem, "%s/.config/libleak/config", home);
    dir = dir_of_file(mem, "/etc/libleak.conf", NULL);
    dir = dir_of_file(mem, user, dir);
    dir = dir_of_file(mem, ".libleakrc", dir);
    if (option)
        dir = mem_copy(mem, option, strlen(option));
    free(option);
    return getenv("LIBLEAK_DIR") ? getenv("LIBLEAK_DIR") : dir;
}

const char *last_find(struct mem *mem, const char *wanted)
{
    struct search search = {.mem = mem, .wanted = wanted};
    const char *place[WHERE_PLACES], *dir = dir_wanted(mem);

    where_places(place, getenv("XDG_RUNTIME_DIR"));
    if (dir && *dir)
        look_in(&search, dir);
    /* All of them: the program may have had no XDG_RUNTIME_DIR, as a service has none. */
    for (int i = 0; (!dir || !*dir) && i < WHERE_PLACES; i++)
        if (place[i])
            look_in(&search, mem_format(mem, "%s/" WHERE_USER_PREFIX "%u", place[i], (unsigned)geteuid()));
    if (!search.path)
        fprintf(stderr,
                "leakreport: no store%s%s in %s: give --last the LIBLEAK_OPTIONS=dir=DIRECTORY that "
                "the program had, and run it as the same user; leakrun removes its own when it is "
                "done (leakrun --keep=FILE.leak)\n",
                wanted ? " of " : "", wanted ? show(wanted, strlen(wanted), 0).text : "",
                search.looked);
    return search.path;
}
