/* store_dir.c - finds the directories of recording files, and the newest file of a program. */
#include "common/store/store_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/proc.h"
#include "common/base/term_text.h"
#include "leak_option_files.h"

/* most bytes of a program's name in the name of its recording file; the rest is cut off */
#define PROGRAM_NAME_MOST 32

void store_dir_places(const char *place[STORE_DIR_PLACES], const char *runtime_dir)
{
    place[0] = runtime_dir && runtime_dir[0] == '/' ? runtime_dir : NULL;
    place[1] = "/dev/shm";
    place[2] = "/tmp";
}

char *option_text_find(const char *options, const char *name)
{
    const char *last = NULL;
    size_t last_length = 0, name_length = strlen(name);

    while (options && *options) {
        bool found = strncmp(options, name, name_length) == 0 && options[name_length] == '=';
        const char *value = options + (found ? name_length : strcspn(options, ":="));

        value += *value == '=';
        bool quoted = *value == '\'';
        value += quoted;
        size_t length = strcspn(value, quoted ? "'" : ":");
        if (found) {
            last = value;
            last_length = length;
        }
        options = value + length + (value[length] && quoted);
        options += strspn(options, ":");
    }
    return last ? strndup(last, last_length) : NULL;
}

size_t store_name_program_length(const char *file)
{
    size_t length = strlen(file);

    for (int dots = 0; dots < 3; dots++) {
        const char *dot = memrchr(file, '.', length);

        if (dot)
            length = (size_t)(dot - file);
    }
    return length;
}

/* ---- Directories ----------------------------------------------------------------------------- */

static int complain_of_file(const char *path, const char *why)
{
    fprintf(stderr, "%s: option file %s ignored: %s\n", program_invocation_short_name, path, why);
    return -1;
}

/* Opens an option file if its owner and mode are trusted, by the rules of the runtime
 * (leak_option_files.h). Returns a descriptor, or -1. */
static int open_option_file(const char *path)
{
    int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, fd = open(path, how | O_NOFOLLOW);
    struct stat st;
    unsigned root = strncmp(path, "/etc/", 5) == 0 && stat("/etc", &st) == 0 ? st.st_uid : 0;
    const char *refusal = NULL;

    if (fd < 0 && errno == ELOOP && lstat(path, &st) == 0) {
        if (!leak_option_owner_is_good(&st, geteuid(), root))
            return complain_of_file(path, LEAK_OPTION_LINK_REFUSAL);
        fd = open(path, how);
    }
    if (fd >= 0 && fstat(fd, &st) == 0)
        refusal = leak_option_file_refusal(&st, geteuid(), root);
    if (!refusal)
        return fd;
    close(fd);
    return complain_of_file(path, refusal);
}

/* Returns the value of the last line "dir=..." of an option file; so_far if there is no such
 * line. */
static const char *read_dir_option(struct arena *mem, const char *path, const char *so_far)
{
    int fd = path ? open_option_file(path) : -1;
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
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
        so_far = arena_copy(mem, value, length);
    }
    if (file)
        fclose(file);
    return so_far;
}

const char *store_dir_configured(struct arena *mem)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME"), *user = NULL, *dir;
    char *option = option_text_find(getenv("LIBLEAK_OPTIONS"), "dir");

    if (base && *base)
        user = arena_format(mem, "%s/libleak/config", base);
    else if (home && *home)
        user = arena_format(mem, "%s/.config/libleak/config", home);
    dir = read_dir_option(mem, "/etc/libleak.conf", NULL);
    dir = read_dir_option(mem, user, dir);
    dir = read_dir_option(mem, "./.libleakrc", dir);
    if (option)
        dir = arena_copy(mem, option, strlen(option));
    free(option);
    if (getenv("LIBLEAK_DIR"))
        dir = getenv("LIBLEAK_DIR");
    return dir && *dir ? dir : NULL;
}

/* Lists the directories in which programs leave recordings that this user runs with the caller's
 * option files and environment. Returns their number. Without dir= these are the directories in all
 * three default places (store_dir.h), since a service may have no XDG_RUNTIME_DIR. The texts are in
 * mem. */
static size_t list_directories(struct arena *mem, const char *directory[STORE_DIR_PLACES])
{
    const char *place[STORE_DIR_PLACES], *dir = store_dir_configured(mem);
    size_t count = 0;

    store_dir_places(place, getenv("XDG_RUNTIME_DIR"));
    if (dir)
        directory[count++] = dir;
    for (int i = 0; !dir && i < STORE_DIR_PLACES; i++)
        if (place[i])
            directory[count++] =
                arena_format(mem, "%s/" STORE_DIR_USER_PREFIX "%u", place[i], (unsigned)geteuid());
    return count;
}

/* ---- Headers of recording files -------------------------------------------------------------- */

bool store_header_is_readable(const struct leak_header *header)
{
    return header->magic == LEAK_STORE_MAGIC && header->version >= LEAK_STORE_OLDEST &&
           header->version <= LEAK_STORE_VERSION;
}

bool store_header_read(int directory, const char *name, struct leak_header *header,
                       struct stat *status)
{
    size_t length = strlen(name);
    bool named = length > 5 && strcmp(name + length - 5, ".leak") == 0;
    int fd =
        named ? openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
              : -1;
    bool good = fd >= 0 && fstat(fd, status) == 0 && S_ISREG(status->st_mode) &&
                pread(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header) &&
                store_header_is_readable(header);

    if (fd >= 0)
        close(fd);
    if (good)
        header->host[sizeof(header->host) - 1] = '\0';
    return good;
}

bool store_process_is_alive(const char *host, int32_t pid, uint64_t start_time)
{
    char here[sizeof(((struct leak_header *)0)->host)] = "";

    gethostname(here, sizeof(here) - 1);
    return strcmp(host, here) == 0 && pid > 0 && proc_is_alive(pid, start_time);
}

/* ---- The newest file of a program ------------------------------------------------------------ */

struct search {
    struct arena *mem;
    const char *wanted;
    const char *path; /* path of the best file so far, NULL = none */
    uint64_t started_ns;
    bool running;
    const char *directories; /* the directories searched so far, for the error message */
};

/* Says whether a file belongs to the program that the user named. wanted: digits are a pid; else a
 * program's name, perhaps with a directory. The name of a recording file has only its first 32
 * bytes. */
static bool is_wanted(const char *wanted, const char *file, const struct leak_header *header)
{
    const char *slash = wanted ? strrchr(wanted, '/') : NULL;
    const char *name = slash ? slash + 1 : wanted;
    size_t length = store_name_program_length(file);

    if (!wanted)
        return true;
    if (*wanted && !wanted[strspn(wanted, "0123456789")])
        return strtol(wanted, NULL, 10) == header->pid;
    return strnlen(name, PROGRAM_NAME_MOST) == length && memcmp(name, file, length) == 0;
}

static void keep_if_better(struct search *search, const char *path,
                           const struct leak_header *header)
{
    bool running = header->end_how == LEAK_END_NONE &&
                   store_process_is_alive(header->host, header->pid, header->start_time);
    bool better =
        running != search->running ? search->running : header->started_ns > search->started_ns;

    if (search->path && !better)
        return;
    search->path = path;
    search->started_ns = header->started_ns;
    search->running = running;
}

static void search_directory(struct search *search, const char *directory)
{
    DIR *stream = opendir(directory);
    struct leak_header header;
    struct stat status;

    search->directories =
        search->directories ? arena_format(search->mem, "%s and %s", search->directories, directory)
                            : directory;
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;)
        if (store_header_read(dirfd(stream), entry->d_name, &header, &status) &&
            is_wanted(search->wanted, entry->d_name, &header))
            keep_if_better(search, arena_format(search->mem, "%s/%s", directory, entry->d_name),
                           &header);
    if (stream)
        closedir(stream);
}

const char *store_find_newest(struct arena *mem, const char *wanted)
{
    struct search search = {.mem = mem, .wanted = wanted};
    const char *directory[STORE_DIR_PLACES];
    size_t count = list_directories(mem, directory);

    for (size_t i = 0; i < count; i++)
        search_directory(&search, directory[i]);
    if (!search.path)
        fprintf(
            stderr,
            "leakreport: no store%s%s in %s: give --last the LIBLEAK_OPTIONS=dir=DIRECTORY that "
            "the program had, and run it as the same user; leakrun removes its own when it is "
            "done (leakrun --keep=FILE.leak)\n",
            wanted ? " of " : "", wanted ? term_text(wanted, strlen(wanted), 0).text : "",
            search.directories);
    return search.path;
}
