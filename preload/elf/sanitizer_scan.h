/* sanitizer_scan.h - what a program was built with, read from its file.
 *
 * A sanitizer's runtime stands in the place of nearly all of libc, and begins its work with
 * whatever is called first: a library that comes before it, as we would, calls into what is not
 * there yet.
 */
#ifndef PRELOAD_ELF_SANITIZER_SCAN_H
#define PRELOAD_ELF_SANITIZER_SCAN_H

#include "preload/base/base.h"

/* With -fsanitize=address, thread or memory. head: the file's first bytes, with its program
 * headers; in doubt it is not. Callable in a vfork child. */
bool built_with_sanitizer(int fd, const void *head, size_t size);

#endif
