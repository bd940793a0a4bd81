/* textfile.h - a file that is replaced at once: a reader has the old text or the new one, whole. */
#ifndef TOP_TEXTFILE_H
#define TOP_TEXTFILE_H

#include <stdbool.h>
#include <stddef.h>

/* Written beside it under another name, readable by all, and renamed. Only what is not there or is
 * a regular file is replaced: no link, no device. False: errno says why, and the old one is as it
 * was. */
bool textfile_replace(const char *path, const char *text, size_t length);

#endif
