/* option_file.h - reads an option file, unless leak_option_files.h says that another user could
 * have written it. */
#ifndef PRELOAD_OPTIONS_OPTION_FILE_H
#define PRELOAD_OPTIONS_OPTION_FILE_H

#include "preload/base/base.h"

/* Reads an option file as sys_read_file does. A file that another user could have written is not
 * read; *refusal then says why, otherwise it is NULL. root: a user whose files are trusted like
 * root's. */
ssize_t option_file_read(const char *path, char *buffer, size_t size, unsigned root,
                         const char **refusal);

#endif
