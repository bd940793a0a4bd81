/* option_file.h - reads an option file, if the rule of leak_option_files.h lets it be obeyed. */
#ifndef PRELOAD_OPTIONS_OPTION_FILE_H
#define PRELOAD_OPTIONS_OPTION_FILE_H

#include "preload/base/base.h"

/* Reads an option file like sys_read_file. *refusal says why a file that exists is not obeyed (then
 * nothing is read), else it is NULL. root: who counts as root, beside root. */
ssize_t option_file_read(const char *path, char *buffer, size_t size, unsigned root,
                         const char **refusal);

#endif
