/* foreign_file.h - opens files whose paths the observed program determines: its modules, debug
 * files and source files. Such a path may lead anywhere.
 *
 * Only a regular file is opened: a pipe, a device or a terminal is not even touched. Files below
 * /proc, /sys and /dev are refused, wherever links lead (/dev/shm holds ordinary files). When root
 * reads the recording of another user, files are opened with that user's rights, not with root's.
 */
#ifndef COMMON_BASE_FOREIGN_FILE_H
#define COMMON_BASE_FOREIGN_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* The user whose program wrote a recording file, taken from the owner of that file. */
struct file_owner {
    uid_t uid;
    gid_t gid;
};

/* From now on, foreign_file_open() opens only files that this user, too, may read. Without effect
 * unless this process runs as root and the user is not root. */
void foreign_file_add_reader(struct file_owner reader);
void foreign_file_forget_readers(void);

/* Gives this process the rights of the user for good, with all of the user's groups. False: it
 * failed. Without effect unless this process runs as root and the user is not root. */
bool foreign_file_become(struct file_owner reader);

/* Opens a regular file for reading. Returns a descriptor, or -1 with errno. */
int foreign_file_open(const char *path);

#endif
