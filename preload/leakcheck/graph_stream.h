/* graph_stream.h - writes a graph file: numbers into chunks, chunks into a file.
 *
 * The file appears under its name when it is complete, and never before: until then it has another
 * one in the same directory. The first error is kept; after it nothing is written, and the caller
 * goes on as before.
 *
 * For the process of a leak check only: plain writes, one buffer.
 */
#ifndef PRELOAD_LEAKCHECK_GRAPH_STREAM_H
#define PRELOAD_LEAKCHECK_GRAPH_STREAM_H

#include "preload/base/base.h"
#include "leak_graph_file.h"

#include <limits.h>

#define GRAPH_STREAM_ITEM_MOST 128 /* bytes of an item without texts */

struct graph_stream {
    int fd;    /* < 0: not open */
    int error; /* -errno of the first failure; 0: none */
    struct leak_graph_chunk chunk;
    uint8_t *payload; /* of the chunk that is being filled, behind room for its head */
    size_t used;
    char part[PATH_MAX]; /* the name until the end */
};

/* Opens the file. False: error says why. */
bool graph_stream_open(struct graph_stream *stream, const char *path);
/* The items that follow are of this section. */
void graph_stream_begin(struct graph_stream *stream, enum leak_graph_section section);
/* Gives the file its name. False: there is none, and error says why. */
bool graph_stream_close(struct graph_stream *stream, const char *path);

/* Removes what a process that was killed has left behind instead of a file of that name. One thread at
 * a time. */
void graph_stream_discard(const char *path, int pid);

void graph_stream_flush(struct graph_stream *stream);

/* Call before each item: it stays in one chunk. */
static ALWAYS_INLINE void graph_stream_item(struct graph_stream *stream, size_t bytes)
{
    if (unlikely(stream->used + bytes > LEAK_GRAPH_CHUNK_MOST))
        graph_stream_flush(stream);
}

static ALWAYS_INLINE void graph_stream_number(struct graph_stream *stream, uint64_t number)
{
    uint8_t *at = stream->payload + stream->used;
    for (; number >= 0x80; number >>= 7)
        *at++ = (uint8_t)number | 0x80;
    *at++ = (uint8_t)number;
    stream->used = (size_t)(at - stream->payload);
}

static ALWAYS_INLINE void graph_stream_signed(struct graph_stream *stream, int64_t number)
{
    graph_stream_number(stream, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

/* A number of 8 bytes, little-endian on every CPU that libleak knows. */
static ALWAYS_INLINE void graph_stream_word(struct graph_stream *stream, uint64_t word)
{
    memcpy(stream->payload + stream->used, &word, sizeof word);
    stream->used += sizeof word;
}

/* Adds a text to an item. Within an item of LEAK_GRAPH_TEXT_MOST more bytes for each text; a longer
 * one is cut. */
void graph_stream_text(struct graph_stream *stream, const void *text, size_t length);

#endif
