#include "preload/leakcheck/graph_stream.h"
#include "preload/base/strbuf.h"
#include "preload/base/sys.h"

#include <errno.h>
#include <fcntl.h>

static void write_all(struct graph_stream *stream, const void *from, size_t size)
{
    const char *at = from;
    while (size && !stream->error) {
        ssize_t written = sys_write(stream->fd, at, size);
        if (written == -EINTR)
            continue;
        if (written <= 0) {
            stream->error = written ? (int)written : -ENOSPC;
            return;
        }
        at += written;
        size -= (size_t)written;
    }
}

/* Makes the name that a graph file has until it is complete. False: the name is too long. */
static bool name_part(char part[PATH_MAX], const char *path, int pid)
{
    struct strbuf text = strbuf_on(part, PATH_MAX);
    strbuf_add_all(&text, path, ".", NULL);
    strbuf_add_number(&text, (uint64_t)pid);
    strbuf_add(&text, ".part");
    return !text.cut;
}

void graph_stream_discard(const char *path, int pid)
{
    static char part[PATH_MAX]; /* static, because this may run on a small signal stack */
    if (name_part(part, path, pid))
        sys_unlink(part);
}

bool graph_stream_open(struct graph_stream *stream, const char *path)
{
    const struct leak_graph_head head = {
        .magic = LEAK_GRAPH_MAGIC, .version = LEAK_GRAPH_VERSION, .head_size = sizeof head};
    bool named = name_part(stream->part, path, sys_getpid());
    char *memory = sys_map(sizeof stream->chunk + LEAK_GRAPH_CHUNK_MOST + sizeof(uint64_t));
    stream->payload = memory ? (uint8_t *)memory + sizeof stream->chunk : NULL;
    stream->chunk = (struct leak_graph_chunk){.magic = LEAK_GRAPH_CHUNK_MAGIC};
    stream->used = 0;
    stream->fd = !memory  ? -ENOMEM
                 : !named ? -ENAMETOOLONG
                          : sys_open(stream->part,
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    stream->error = stream->fd < 0 ? stream->fd : 0;
    write_all(stream, &head, sizeof head);
    return !stream->error;
}

void graph_stream_flush(struct graph_stream *stream)
{
    struct leak_graph_chunk *chunk = &stream->chunk;
    size_t whole = (size_t)round_up(stream->used, sizeof(uint64_t));
    if (!stream->used)
        return;
    chunk->length = (uint32_t)stream->used;
    memset(stream->payload + stream->used, 0, whole - stream->used);
    chunk->sum = leak_graph_sum(chunk, (const uint64_t *)stream->payload);
    memcpy(stream->payload - sizeof *chunk, chunk, sizeof *chunk);
    write_all(stream, stream->payload - sizeof *chunk, sizeof *chunk + whole);
    chunk->ordinal++;
    stream->used = 0;
}

void graph_stream_begin(struct graph_stream *stream, enum leak_graph_section section)
{
    graph_stream_flush(stream);
    stream->chunk.type = section;
}

void graph_stream_text(struct graph_stream *stream, const void *text, size_t length)
{
    if (length > LEAK_GRAPH_TEXT_MOST)
        length = LEAK_GRAPH_TEXT_MOST;
    graph_stream_number(stream, length);
    memcpy(stream->payload + stream->used, text, length);
    stream->used += length;
}

bool graph_stream_close(struct graph_stream *stream, const char *path)
{
    if (stream->fd < 0)
        return false;
    graph_stream_flush(stream);
    int closed = sys_close(stream->fd); /* on NFS, close writes data and may fail */
    if (!stream->error && closed < 0)
        stream->error = closed;
    if (!stream->error) {
        int named = sys_rename(stream->part, path);
        stream->error = named < 0 ? named : 0;
    }
    if (stream->error)
        sys_unlink(stream->part);
    stream->fd = -1;
    return !stream->error;
}
