/* gzip.h - what is written, compressed, to a stream; or how long it would be. */
#ifndef COMMON_ENCODE_GZIP_H
#define COMMON_ENCODE_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct gzip;
enum gzip_level { GZIP_FAST = 1, GZIP_USUAL = 6 };

/* Whether the stream took it all is for the stream's owner to ask: ferror(). */
struct gzip *gzip_begin(FILE *stream, enum gzip_level level); /* NULL: nowhere */
void gzip_write(struct gzip *gzip, const void *bytes, size_t length);
size_t gzip_size(const struct gzip *gzip); /* what is out so far: some is held back */
void gzip_end(struct gzip *gzip);

#endif
