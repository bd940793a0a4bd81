/* preflight.c - checks whether a program file can run under libleak.
 *
 * It checks that the file exists and is executable, then its kind (for a script it checks the
 * interpreter as well), and then whether a library can be preloaded into it (preflight_elf.c). */
#include "common/preflight/preflight.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/base/proc.h"

/* Most scripts in a row, each of them the interpreter of the one before; the kernel has the same
 * limit. */
#define SCRIPT_DEPTH 5
#define LINE_BYTES 256 /* bytes of a "#!" line that the kernel reads */

/* ---- May the program run, and with LD_PRELOAD? ----------------------------------------------- */

/* Refuses a program with rights beyond those of the caller, for which ld.so ignores LD_PRELOAD.
 * Whether the rights take effect depends on the mount, the caller and more, so the set-id bit alone
 * decides: the user can easily make a copy of the program without that bit. False: refused. */
static bool check_rights(const char *path, const struct stat *st, const char *name,
                         struct preflight *result)
{
    const char *what = NULL;
    if (st->st_mode & S_ISUID)
        what = "setuid";
    else if ((st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP))
        what = "setgid";
    else if (getxattr(path, "security.capability", NULL, 0) > 0)
        what = "given file capabilities";
    return !what || preflight_refuse(
                        result,
                        "%s is %s, and into such a program nothing may be preloaded: run a copy "
                        "(cp makes one without)",
                        name, what);
}

static char *join_path(const char *directory, const char *name)
{
    char *path = NULL;
    if (!directory || name[0] == '/')
        return strdup(name);
    return asprintf(&path, "%s%s%s", directory, *directory ? "/" : "", name) < 0 ? NULL : path;
}

/* Says whether this user may execute a file. Container runtimes older than faccessat2 (Linux
 * 5.8) refuse that call with EPERM; access() is the fallback. */
static bool is_executable(const char *path)
{
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ||
           (errno == EPERM && access(path, X_OK) == 0);
}

/* Finds the first executable file of that name in the directories of `search`, as execvp does. If
 * the path is relative, it is so to cwd. The caller frees it. NULL: no such file, and *result says
 * why. */
static char *search_path(const char *name, const char *search, const char *cwd,
                         struct preflight *result)
{
    if (strchr(name, '/'))
        return strdup(name);
    bool forbidden = false;
    for (const char *at = search ? search : "/bin:/usr/bin"; *name;) {
        size_t length = strcspn(at, ":");
        char *candidate = NULL;
        if (asprintf(&candidate, "%.*s%s%s", (int)length, at, length ? "/" : "./", name) < 0)
            break;
        char *path = join_path(cwd, candidate);
        struct stat st;
        if (path && stat(path, &st) == 0) {
            if (S_ISREG(st.st_mode) && is_executable(path)) {
                free(path);
                return candidate;
            }
            forbidden = true;
        }
        free(path);
        free(candidate);
        if (!at[length])
            break;
        at += length + 1;
    }
    if (forbidden)
        preflight_refuse(result, "%s is in $PATH, but not executable: chmod +x it, or name another",
                         name);
    else
        preflight_not_found(result, "%s: no such program in $PATH: check the name, or give a path",
                            name);
    return NULL;
}

static int open_program(const char *path, const char *name, struct stat *st,
                        struct preflight *result)
{
    if (stat(path, st) != 0) {
        (errno == ENOENT ? preflight_not_found : preflight_refuse)(result, "%s: %s: check the path",
                                                                   name, strerror(errno));
        return -1;
    }
    if (S_ISDIR(st->st_mode)) {
        preflight_refuse(result, "%s is a directory: name a program in it", name);
        return -1;
    }
    if (!S_ISREG(st->st_mode)) {
        preflight_refuse(result, "%s is no regular file: name a program", name);
        return -1;
    }
    if (!is_executable(path)) {
        preflight_refuse(result, "%s is not executable (%s): chmod +x it", name, strerror(errno));
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        preflight_refuse(result, "%s cannot be read (%s), so libleak cannot check it: chmod +r it",
                         name, strerror(errno));
    return fd;
}

/* ---- Scripts --------------------------------------------------------------------------------- */

/* The program that "env ARGUMENT" in a #! line starts, NUL-terminated in place; NULL: none. */
static char *env_program(char *argument)
{
    bool split = false;
    char *word = argument;
    if (strncmp(word, "-S", 2) == 0) {
        split = true;
        word += 2;
    }
    while (split) {
        word += strspn(word, " \t");
        size_t length = strcspn(word, " \t");
        bool skipped = word[0] == '-' || memchr(word, '=', length);
        if (!skipped || !length) {
            word[length] = '\0';
            break;
        }
        word += length;
    }
    return *word && *word != '-' ? word : NULL;
}

static bool check_program(const char *path, const char *name, const char *search, const char *cwd,
                          int depth, struct preflight *result);

static bool check_interpreter(const char *interpreter, const char *script, const char *search,
                              const char *cwd, int depth, struct preflight *result)
{
    char *name = NULL;
    if (asprintf(&name, "%s (runs the script %s)", interpreter, script) < 0)
        return preflight_refuse(result, "out of memory");
    char *found = search_path(interpreter, search, cwd, result);
    char *path = found ? join_path(cwd, found) : NULL;
    bool good = path && check_program(path, name, search, cwd, depth + 1, result);
    free(path);
    free(found);
    free(name);
    return good;
}

/* Checks the interpreter of a script. line: the NUL-terminated text behind "#!", as far as the
 * kernel reads it. False: the script cannot be tracked, and *result says why. */
static bool check_script(char *line, const char *name, const char *search, const char *cwd,
                         int depth, struct preflight *result)
{
    line[strcspn(line, "\n")] = '\0';
    line += strspn(line, " \t");
    size_t length = strcspn(line, " \t");
    char *argument = line + length;
    argument += strspn(argument, " \t");
    for (char *end = strchr(argument, '\0'); end > argument && strchr(" \t\r", end[-1]); end--)
        end[-1] = '\0';
    line[length] = '\0';
    if (!length)
        line = (char *)"/bin/sh";
    if (!check_interpreter(line, name, search, cwd, depth, result))
        return false;
    const char *base = strrchr(line, '/');
    char *program = strcmp(base ? base + 1 : line, "env") == 0 ? env_program(argument) : NULL;
    return !program || check_interpreter(program, name, search, cwd, depth, result);
}

static bool check_program(const char *path, const char *name, const char *search, const char *cwd,
                          int depth, struct preflight *result)
{
    struct stat st;
    char start[LINE_BYTES + 1];
    if (depth > SCRIPT_DEPTH)
        return preflight_refuse(result, "%.400s: scripts that run scripts, too deep", name);
    int fd = open_program(path, name, &st, result);
    if (fd < 0)
        return false;
    ssize_t n = pread(fd, start, LINE_BYTES, 0);
    bool good;
    start[n > 0 ? n : 0] = '\0';
    if (n <= 0)
        good = preflight_refuse(result, "%s is empty: build or copy it again", name);
    else if (n >= SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0)
        good = preflight_elf(fd, (uint64_t)st.st_size, name, result) &&
               check_rights(path, &st, name, result);
    else if (n >= 2 && memcmp(start, "#!", 2) == 0)
        good = check_script(start + 2, name, search, cwd, depth, result);
    else if (memchr(start, '\0', (size_t)n))
        good = preflight_refuse(result, "%s is neither an ELF program nor a script", name);
    else /* execvp lets sh run a text file that does not begin with "#!" */
        good = check_interpreter("/bin/sh", name, search, cwd, depth, result);
    close(fd);
    return good;
}

char *preflight_program(const char *name, const char *search, const char *cwd,
                        struct preflight *result)
{
    *result = (struct preflight){0};
    char *found = search_path(name, search, cwd, result);
    char *path = found ? join_path(cwd, found) : NULL;
    if (found && !path)
        preflight_refuse(result, "out of memory");
    if (path && check_program(path, name, search, cwd, 0, result)) {
        free(path);
        return found;
    }
    free(path);
    free(found);
    return NULL;
}

int preflight_command(int argc, char **argv)
{
    int status = 0, first = 2; /* first: index of the first word behind "leakreport preflight" */
    if (first < argc && strcmp(argv[first], "--help") == 0) {
        puts("usage: leakreport preflight PROGRAM...\n"
             "Says of each whether libleak can track it. Exit status: 0 it can, 126 it cannot,\n"
             "127 it was not found.");
        return 0;
    }
    bool ended = first < argc && strcmp(argv[first], "--") == 0;
    first += ended;
    if (first >= argc || (!ended && argv[first][0] == '-')) {
        fputs("leakreport: usage: leakreport preflight PROGRAM...\n", stderr);
        return 2;
    }
    char *library_32 = proc_find_tool(NULL, "32/libleak.so");
    if (!library_32) /* none is beside this program: look where make install puts it */
        library_32 = proc_find_tool(NULL, "../lib/libleak/32/libleak.so");
    preflight_take_32_bit(library_32);
    free(library_32);
    for (int i = first; i < argc; i++) {
        struct preflight result;
        free(preflight_program(argv[i], getenv("PATH"), NULL, &result));
        if (result.status && !status)
            status = result.status;
        if (result.line[0])
            printf("leakreport: %s%s\n", result.status ? "" : "warning: ", result.line);
        else
            printf("leakreport: %s can be tracked\n", argv[i]);
    }
    return status;
}
