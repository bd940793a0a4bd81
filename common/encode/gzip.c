/* gzip.c - compresses with zlib into a stream, or only measures the compressed size. */
#include "common/encode/encode.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "common/base/arena.h"

#define CHUNK 65536
/* Largest window of zlib; + 16: with a gzip header, without name and time. */
#define GZIP_WINDOW (15 + 16)
#define GZIP_MEMORY 8

struct gzip {
    z_stream state;
    FILE *stream;
    uint8_t out[CHUNK];
};

struct gzip *gzip_begin(FILE *stream, enum gzip_level level)
{
    struct gzip *gzip = array_grow(NULL, &(size_t){0}, 1, sizeof(*gzip));

    gzip->state = (z_stream){0};
    gzip->stream = stream;
    if (deflateInit2(&gzip->state, (int)level, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        fputs("leakreport: not enough memory\n", stderr);
        exit(2);
    }
    return gzip;
}

/* Runs zlib until it has consumed all input; with Z_FINISH until it has written all output. */
static void deflate_input(struct gzip *gzip, int flush)
{
    do {
        gzip->state.next_out = gzip->out;
        gzip->state.avail_out = CHUNK;
        deflate(&gzip->state, flush);
        if (gzip->stream)
            fwrite(gzip->out, 1, CHUNK - gzip->state.avail_out, gzip->stream);
    } while (!gzip->state.avail_out);
}

void gzip_write(struct gzip *gzip, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;

    while (length) {
        size_t part = length < UINT32_MAX ? length : UINT32_MAX;

        gzip->state.next_in = (uint8_t *)(uintptr_t)at;
        gzip->state.avail_in = (uInt)part;
        deflate_input(gzip, Z_NO_FLUSH);
        at += part;
        length -= part;
    }
}

size_t gzip_size(const struct gzip *gzip)
{
    return gzip->state.total_out;
}

void gzip_end(struct gzip *gzip)
{
    deflate_input(gzip, Z_FINISH);
    deflateEnd(&gzip->state);
    free(gzip);
}
