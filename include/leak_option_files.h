/* leak_option_files.h - decides which option files are obeyed. The runtime and the tools share this
 * rule.
 *
 * An option file says where recordings go and which commands are run. It is also searched in the
 * working directory, which another user may own. So the file must belong to the caller or to root,
 * and no other user may be able to write it. A symbolic link to it must belong to the caller or to
 * root as well.
 */
#ifndef LEAK_OPTION_FILES_H
#define LEAK_OPTION_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Says whether the owner of an option file is trusted. root: user number of root; for a file in
 * /etc the owner of /etc, because in a user namespace root may have no number. */
static inline bool leak_option_owner_is_good(const struct stat *file, unsigned caller,
                                             unsigned root)
{
    return file->st_uid == caller || file->st_uid == 0 || file->st_uid == root;
}

/* Returns why libleak ignores an option file, and what the user can do; NULL: it is not ignored. */
static inline const char *leak_option_file_refusal(const struct stat *file, unsigned caller,
                                                   unsigned root)
{
    if (!leak_option_owner_is_good(file, caller, root))
        return "it belongs to another user; copy it, or set LIBLEAK_OPTIONS instead";
    if (!S_ISREG(file->st_mode))
        return "it is no regular file; remove it";
    if (file->st_mode & (S_IWGRP | S_IWOTH))
        return "others may write it; chmod go-w makes it yours";
    return NULL;
}

#define LEAK_OPTION_LINK_REFUSAL "the link belongs to another user; copy what it names"

#endif
