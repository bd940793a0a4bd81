/* graph_stream.h - writes a graph file: collects numbers in chunks, and writes whole chunks to the
 * file.
 *
 * The file gets its name when it is complete; until then it has another name in the same directory.
 * After the first error, which is kept in "error", nothing is written, so callers need not test
 * each call.
 *
 * Only for the process copy in which a leak check runs. */
#ifndef PRELOAD_LEAKCHECK_GRAPH_STREAM_H
#define PRELOAD_LEAKCHECK_GRAPH_STREAM_H

#include "preload/base/base.h"
#include "leak_graph_file.h"

#include <limits.h>

/* Largest size in bytes of an item (a record of the file) without its texts. */
#define GRAPH_STREAM_ITEM_MOST 128

struct graph_stream {
    int fd;    /* descriptor of the file; < 0: not open */
    int error; /* -errno of the first failure; 0: there was none */
    struct leak_graph_chunk chunk;
    /* Content of the chunk that is being filled; memory for the chunk's header lies before it. */
    uint8_t *payload;
    size_t used;
    char part[PATH_MAX]; /* name of the file until it is complete */
};

/* Opens the file. False: it failed, and stream->error says why. */
bool graph_stream_open(struct graph_stream *stream, const char *path);
/* Begins a section: the items that follow belong to it. */
void graph_stream_begin(struct graph_stream *stream, enum leak_graph_section section);
/* Completes the file and gives it its name. False: that failed, and stream->error says why. */
bool graph_stream_close(struct graph_stream *stream, const char *path);

/* Removes the incomplete file of this name that a killed process with this pid has left. One thread
 * at a time. */
void graph_stream_discard(const char *path, int pid);

void graph_stream_flush(struct graph_stream *stream);

/* Begins an item (a record of the file) of at most "bytes" bytes. If the current chunk has no room
 * for it, that chunk is written first, because an item must lie in one chunk. */
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

/* Adds a number of 8 bytes; it is little-endian, as every CPU that libleak supports. */
static ALWAYS_INLINE void graph_stream_word(struct graph_stream *stream, uint64_t word)
{
    memcpy(stream->payload + stream->used, &word, sizeof word);
    stream->used += sizeof word;
}

/* Adds a text to an item; a text longer than LEAK_GRAPH_TEXT_MOST is truncated. graph_stream_item
 * must have reserved LEAK_GRAPH_TEXT_MOST bytes for each text. */
void graph_stream_text(struct graph_stream *stream, const void *text, size_t length);

#endif
