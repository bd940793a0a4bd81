/* store_file.h - the bytes of a store file, copied into private memory.
 *
 * Never mapped: the process may still be writing and the file may be truncated under us, so the
 * file is read with pread(2) up to min(file size, header.used), holes are skipped and stay zero.
 * While counts were being moved between a slot and a site (header.folds changed) the copy is made
 * again, a few times; `steady` says whether it came to rest.
 */
#ifndef COMMON_STORE_STORE_FILE_H
#define COMMON_STORE_STORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/read_error.h"

/* A part of the image that may hold something else than zeros. */
struct extent {
    size_t start, end;
};

struct image {
    const uint8_t *data;
    size_t size;
    const struct extent *extents; /* ascending; everything outside is zero */
    size_t extent_count;
    size_t mapped; /* bytes of our anonymous mapping, 0 = borrowed memory */
    bool steady;
};

/* True: *image is to be given to image_end(). False: *trouble says why. */
bool image_load(const char *path, struct image *image, struct trouble *trouble);

/* An image over memory of the caller, for tests. extent must outlive the image. */
struct image image_borrow(const uint8_t *data, size_t size, struct extent *extent);

void image_end(struct image *image);

#endif
