/* find_store.c - see find_store.h. */
#include "common/store/find_store.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/store/end_state.h"
#include "common/store/store_header.h"
#include "common/base/term_text.h"
#include "common/store/store_dir.h"

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

static void take_if_better(struct search *search, const char *path,
                           const struct leak_header *header)
{
    bool running = header->end_how == LEAK_END_NONE &&
                   alive_process(header->host, header->pid, header->start_time);
    bool better =
        running != search->running ? search->running : header->started_ns > search->started_ns;

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
    struct stat status;

    search->looked = search->looked
                         ? mem_format(search->mem, "%s and %s", search->looked, directory)
                         : directory;
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;)
        if (heads_read(dirfd(stream), entry->d_name, &header, &status) &&
            fits(search->wanted, entry->d_name, &header))
            take_if_better(search, mem_format(search->mem, "%s/%s", directory, entry->d_name),
                           &header);
    if (stream)
        closedir(stream);
}

const char *last_find(struct mem *mem, const char *wanted)
{
    struct search search = {.mem = mem, .wanted = wanted};
    const char *directory[WHERE_PLACES];
    size_t count = where_directories(mem, directory);

    for (size_t i = 0; i < count; i++)
        look_in(&search, directory[i]);
    if (!search.path)
        fprintf(
            stderr,
            "leakreport: no store%s%s in %s: give --last the LIBLEAK_OPTIONS=dir=DIRECTORY that "
            "the program had, and run it as the same user; leakrun removes its own when it is "
            "done (leakrun --keep=FILE.leak)\n",
            wanted ? " of " : "", wanted ? show(wanted, strlen(wanted), 0).text : "",
            search.looked);
    return search.path;
}
