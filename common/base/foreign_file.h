/* foreign_file.h - opens files whose paths come from a program: its modules and debug files, and the
 * source files that these name. Such a path may lead anywhere.
 *
 * Only a regular file is opened: a pipe, a device or a terminal is not even touched. Files below
 * /proc, /sys and /dev are refused, wherever links lead (/dev/shm holds ordinary files). When root
 * reads the recording of another user, the kernel decides with that user's rights, not with root's.
 */
#ifndef COMMON_BASE_FOREIGN_FILE_H
#define COMMON_BASE_FOREIGN_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* The user whose program left a recording file: the owner of that file. */
struct file_owner {
    uid_t uid;
    gid_t gid;
};

/* From now on, files are opened only when this user may read them as well. Without effect unless
 * this process is root's and the user is not root. */
void foreign_file_add_reader(struct file_owner reader);
void foreign_file_forget_readers(void);

/* Makes this process the reader's for good, with the groups that the system lists for him; false: it
 * could not. Without effect as above. */
bool foreign_file_become(struct file_owner reader);

/* A descriptor for reading, or -1 with errno. */
int foreign_file_open(const char *path);

#endif
