/* core_image.h - the image of a process in a core file that the kernel or gcore wrote. A core
 * leaves out parts of mapped files that the process did not change; these are read from the
 * files.
 *
 * A core is not trusted: each offset and size is checked against the file, and the segments
 * together have no more data than the file has bytes. */
#ifndef SCAN_CORE_IMAGE_H
#define SCAN_CORE_IMAGE_H

#include "scan/image/image.h"

struct core_image;

/* Opens a core file. program: file to use for the program, NULL = the one that the core names.
 * Returns NULL if the core cannot be used; *trouble says why. */
struct core_image *core_image_open(struct image *image, const char *path, const char *program,
                                   const char **trouble);
/* Closes a core file; NULL is allowed. */
void core_image_close(struct core_image *core);

/* Returns how many bytes of segments are missing at the end of the file, because it was
 * truncated. */
uint64_t core_image_truncated(const struct core_image *core);
/* Returns the time at which the core file was written. */
uint64_t core_image_time_ns(const struct core_image *core);

#endif
