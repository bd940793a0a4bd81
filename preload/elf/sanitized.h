/* sanitized.h - is there a sanitizer's runtime in this process?
 *
 * It stands in the place of nearly all of libc, malloc included, and begins its work with whatever
 * is called first. A call of ours would begin it before the functions that it needs, and finds
 * here, were looked for. Such a process is left alone: it has a leak check of its own, most often.
 * (What a file was built with: sanitizer_scan.h.)
 */
#ifndef PRELOAD_ELF_SANITIZED_H
#define PRELOAD_ELF_SANITIZED_H

#include "preload/base/base.h"

/* Calls nothing of libc's. */
bool sanitized(void);

#endif
