/* reader.h - a store file becomes a struct store.
 *
 * The only place that believes nothing: offsets, counts, ids, lengths and texts of the file are
 * checked, and what does not hold is left out with a note. A truncated or damaged store gives what
 * is still there; only a header that makes no sense is refused.
 */
#ifndef COMMON_STORE_READER_H
#define COMMON_STORE_READER_H

#include <stdbool.h>

#include "common/store/store_file.h"
#include "common/store/store.h"

/* On success *store lives in mem plus what store_end() gives back; path must outlive it.
 * False: *trouble says why, nothing to give back. */
bool reader_open(struct mem *mem, const char *path, struct store *store, struct trouble *trouble);

/* The same over an image in memory, which may go away afterwards. */
bool reader_parse(struct mem *mem, const struct image *image, struct store *store,
                  struct trouble *trouble);

#endif
