/* proc.c - reads /proc/PID, and finds installed programs of the project. */
#include "common/base/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/string_list.h"
#include "leak_cpu.h"

#define THREADS_FIELD 20

bool proc_read_stat(int32_t pid, uint64_t *start_time, char *state)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    /* The program's name may contain spaces and parentheses, so fields are counted from the last
     * ')'. */
    char *rest = strrchr(text, ')');
    if (!rest || rest[1] != ' ')
        return false;
    *state = rest[2];
    rest += 2;
    for (int field = 3; field < 22; field++) {
        rest = strchr(rest, ' ');
        if (!rest)
            return false;
        rest++;
        /* A process in state Z with more than one thread is no zombie: only its main thread has
         * ended. */
        if (field + 1 == THREADS_FIELD && *state == 'Z' && strtol(rest, NULL, 10) > 1)
            *state = 'S';
    }
    *start_time = strtoull(rest, NULL, 10);
    return true;
}

bool proc_read_text(pid_t pid, const char *file, char *text, size_t size)
{
    char path[64];
    size_t length = 0;
    FILE *stream;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    stream = fopen(path, "re");
    if (stream) {
        length = fread(text, 1, size - 1, stream);
        fclose(stream);
    }
    text[length] = '\0';
    return length != 0;
}

bool proc_read_name(pid_t pid, char name[PROC_NAME_SIZE])
{
    proc_read_text(pid, "comm", name, PROC_NAME_SIZE);
    name[strcspn(name, "\n")] = '\0';
    return *name;
}

bool proc_runs_program(pid_t pid, const char *program)
{
    char link[32], path[PATH_MAX];
    const char *slash;

    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    slash = strrchr(path, '/');
    return slash && strcmp(slash + 1, program) == 0;
}

/* The first line has the name that the program chose. The name cannot forge a further line, because
 * the kernel escapes newlines in it. */
const char *proc_status_value(const char *status, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = status; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1 + strspn(line + length + 1, "\t ");
    }
    return "";
}

bool proc_status_ended(const char *status)
{
    return strchr("ZXx", *proc_status_value(status, "State")) != NULL;
}

bool proc_parse_mapping(char *line, struct proc_mapping *mapping)
{
    int name = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %n", &mapping->start, &mapping->end, mapping->access,
               &mapping->offset, &name) < 4)
        return false;
    mapping->path = name ? line + name : "";
    return true;
}

int proc_yama_scope(void)
{
    FILE *stream = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    int scope = 0;

    if (stream && fscanf(stream, "%d", &scope) != 1)
        scope = 0;
    if (stream)
        fclose(stream);
    return scope;
}

bool proc_is_alive(int32_t pid, uint64_t start_time)
{
    uint64_t seen;
    char state;
    return proc_read_stat(pid, &seen, &state) && seen == start_time && state != 'Z' && state != 'X';
}

/* Says whether /proc/PID/environ contains the text. Reads it in pieces, each of which begins with
 * the end of the piece before, so that a text across two pieces is found. */
static bool environment_holds(int proc, const char *pid, const char *text)
{
    char path[32], piece[16384];
    size_t keep = strlen(text) - 1, have = 0;
    snprintf(path, sizeof path, "%.20s/environ", pid);
    int fd = keep < sizeof piece / 2 ? openat(proc, path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    bool found = false;
    for (ssize_t n; !found && (n = read(fd, piece + have, sizeof piece - have)) > 0;) {
        have += (size_t)n;
        found = memmem(piece, have, text, keep + 1) != NULL;
        size_t rest = have < keep ? have : keep;
        memmove(piece, piece + have - rest, rest);
        have = rest;
    }
    close(fd);
    return found;
}

size_t proc_find_users(const char *text, pid_t **pids)
{
    size_t count = 0, room = 0;
    *pids = NULL;
    DIR *stream = opendir("/proc");
    if (!stream)
        return 0;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        struct stat st;
        uint64_t start;
        char state;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 0 || pid == getpid() || fstatat(dirfd(stream), entry->d_name, &st, 0) != 0 ||
            (st.st_uid != geteuid() && geteuid() != 0) ||
            !environment_holds(dirfd(stream), entry->d_name, text) ||
            !proc_read_stat(pid, &start, &state) || state == 'Z' || state == 'X')
            continue;
        if (count == room) {
            room = room ? 2 * room : 16;
            pid_t *grown = reallocarray(*pids, room, sizeof *grown);
            if (!grown)
                break;
            *pids = grown;
        }
        (*pids)[count++] = pid;
    }
    closedir(stream);
    return count;
}

uint64_t proc_pid_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

char *proc_find_tool(const char *given, const char *name)
{
    char self[PATH_MAX];
    if (given)
        return realpath(given, NULL);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return NULL;
    self[n] = '\0';
    char *path = string_format("%s/%s", dirname(self), name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
#ifdef LEAK_BINDIR
    path = string_format("%s/%s", LEAK_BINDIR, name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
#endif
    return NULL;
}

char *proc_find_library_32(const char *library)
{
    char *real = library && LEAK_CPU_MACHINE_32 != EM_NONE ? realpath(library, NULL) : NULL;
    char *path = real ? string_format("%s/32/libleak.so", dirname(real)) : NULL;
    free(real);
    if (path && access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}
