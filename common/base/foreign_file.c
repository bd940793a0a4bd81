/* foreign_file.c - opens files that may be hostile. Each is first opened with O_PATH, which has
 * no side effect even on a device, and examined; then the same file is opened for reading. */
#include "common/base/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base/arena.h"

#define NOBODY 65534 /* group id of a user whom the system's user database does not list */
#define PLACE_SIZE 64

/* ---- Which files may be opened --------------------------------------------------------------- */

static bool is_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    return strncmp(path, directory, length) == 0 && (path[length] == '/' || !path[length]);
}

static bool is_in_special_filesystem(int fd)
{
    static const long magic[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,      DEBUGFS_MAGIC,
                                 TRACEFS_MAGIC,    SECURITYFS_MAGIC, PSTOREFS_MAGIC};
    struct statfs system;

    if (fstatfs(fd, &system) != 0)
        return true;
    for (size_t i = 0; i < sizeof(magic) / sizeof(*magic); i++)
        if (system.f_type == magic[i])
            return true;
    return false;
}

static void format_place(int fd, char place[PLACE_SIZE])
{
    snprintf(place, PLACE_SIZE, "/proc/self/fd/%d", fd);
}

/* Says whether the descriptor is a regular file in an ordinary filesystem, and not below /proc,
 * /sys or /dev. */
static bool is_allowed(int fd)
{
    char place[PLACE_SIZE], path[64] = "";
    struct stat status;

    format_place(fd, place);
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || is_in_special_filesystem(fd))
        return false;
    if (readlink(place, path, sizeof(path) - 1) < 0) /* without /proc the file's path is unknown;
                                                      * then the file is allowed */
        return true;
    return !is_below(path, "/proc") && !is_below(path, "/sys") &&
           (!is_below(path, "/dev") || is_below(path, "/dev/shm"));
}

/* Opens for reading the file that an O_PATH descriptor refers to, even if its path now leads to
 * another file. -1: failed. */
static int open_place(int fd, const char *path)
{
    const int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    char place[PLACE_SIZE];
    int reading;

    format_place(fd, place);
    reading = open(place, how);
    return reading < 0 && errno == ENOENT ? open(path, how) : reading;
}

static int open_allowed(const char *path)
{
    int fd = open(path, O_PATH | O_CLOEXEC), reading = -1;
    int error;

    if (fd < 0)
        return -1;
    errno = EACCES;
    if (is_allowed(fd))
        reading = open_place(fd, path);
    error = errno;
    close(fd);
    if (reading >= 0 && !is_allowed(reading)) { /* without /proc open_place() opens the path
                                                 * again, which may be another file now */
        close(reading);
        reading = -1;
        error = EACCES;
    }
    errno = error;
    return reading;
}

/* ---- The rights with which a file is opened -------------------------------------------------- */

struct rights {
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    int group_count;
};

static struct rights *readers;
static size_t reader_count, reader_capacity;

static struct rights rights_of(struct file_owner owner)
{
    const struct passwd *user = getpwuid(owner.uid);
    struct rights rights = {.uid = owner.uid,
                            .gid = user        ? user->pw_gid
                                   : owner.gid ? owner.gid
                                               : NOBODY};
    size_t capacity = 0;

    if (!user)
        return rights;
    rights.group_count = 64;
    do
        rights.groups = array_grow(rights.groups, &capacity, (size_t)rights.group_count,
                                   sizeof(*rights.groups));
    while (getgrouplist(user->pw_name, user->pw_gid, rights.groups, &rights.group_count) < 0);
    return rights;
}

static bool needs_other_rights(struct file_owner reader)
{
    return geteuid() == 0 && reader.uid != 0;
}

void foreign_file_add_reader(struct file_owner reader)
{
    if (!needs_other_rights(reader))
        return;
    for (size_t i = 0; i < reader_count; i++)
        if (readers[i].uid == reader.uid)
            return;
    readers = array_grow(readers, &reader_capacity, reader_count + 1, sizeof(*readers));
    readers[reader_count++] = rights_of(reader);
}

void foreign_file_forget_readers(void)
{
    for (size_t i = 0; i < reader_count; i++)
        free(readers[i].groups);
    free(readers);
    readers = NULL;
    reader_count = reader_capacity = 0;
}

bool foreign_file_become(struct file_owner reader)
{
    struct rights rights;
    bool good;

    if (!needs_other_rights(reader))
        return true;
    rights = rights_of(reader);
    good = setgroups((size_t)rights.group_count, rights.groups) == 0 &&
           setresgid(rights.gid, rights.gid, rights.gid) == 0 &&
           setresuid(rights.uid, rights.uid, rights.uid) == 0;
    free(rights.groups);
    return good;
}

/* Changes the groups of this thread alone; setgroups() of libc changes those of all threads. False:
 * the kernel refused. */
static bool set_groups(const struct rights *rights)
{
    return syscall(SYS_setgroups, (size_t)rights->group_count, rights->groups) == 0;
}

/* Sets the user and group by which the kernel judges access to files. setfsuid and setfsgid
 * report no errors, but return the previous value: a second call shows whether the first had
 * effect. */
static bool set_ids(const struct rights *rights)
{
    setfsgid(rights->gid);
    setfsuid(rights->uid);
    return setfsgid((gid_t)-1) == (int)rights->gid && setfsuid((uid_t)-1) == (int)rights->uid;
}

static int open_as(const struct rights *rights, const char *path)
{
    gid_t own[NGROUPS_MAX];
    struct rights back = {.uid = geteuid(),
                          .gid = getegid(),
                          .groups = own,
                          .group_count = getgroups(NGROUPS_MAX, own)};
    int fd = -1, error = EACCES;

    if (back.group_count < 0 || !set_groups(rights)) { /* some user namespaces forbid setgroups */
        errno = EACCES;
        return -1;
    }
    if (set_ids(rights)) {
        fd = open_allowed(path);
        error = errno;
    }
    if (!set_ids(&back) || !set_groups(&back))
        abort(); /* the process must not go on with the rights of another user */
    errno = error;
    return fd;
}

int foreign_file_open(const char *path)
{
    int fd = reader_count ? -1 : open_allowed(path);

    for (size_t i = 0; i < reader_count; i++) {
        if (fd >= 0)
            close(fd);
        fd = open_as(&readers[i], path);
        if (fd < 0)
            return -1;
    }
    return fd;
}
