/* core_image.h - the image in a core file: the kernel's, or gcore's. What the core leaves out of
 * the program's files because nobody wrote to it comes from these files.
 *
 * A core is not trusted: each offset and size is checked against the file, and the segments
 * together have no more data than the file has bytes.
 */
#ifndef SCAN_CORE_IMAGE_H
#define SCAN_CORE_IMAGE_H

#include "scan/image/image.h"

struct core_image;

/* Opens a core file. program: the file to use for the program, NULL = the one that the core names.
 * Returns NULL if it cannot be used; *trouble says why: "REASON". */
struct core_image *core_image_open(struct image *image, const char *path, const char *program,
                                   const char **trouble);
void core_image_close(struct core_image *core); /* NULL is allowed */

/* Bytes of segments that lie behind the end of the file: it was truncated. */
uint64_t core_image_truncated(const struct core_image *core);
/* The time at which the core was written. */
uint64_t core_image_time_ns(const struct core_image *core);

#endif
