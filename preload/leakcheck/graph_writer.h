/* graph_writer.h - writes the graph of a leak check to a file (leak_graph_file.h) in two parts:
 * first the graph, while pointers can be followed, then verdicts and names, which are known only at
 * the end.
 *
 * It uses memory for one chunk, and marks for a few thousand sites. An error in writing the file
 * has no effect on the leak check; the first one is kept in stream.error. */
#ifndef PRELOAD_LEAKCHECK_GRAPH_WRITER_H
#define PRELOAD_LEAKCHECK_GRAPH_WRITER_H

#include "preload/base/reentry_guard.h"
#include "preload/leakcheck/graph_stream.h"
#include "preload/graph/block_content.h"
#include "preload/graph/leak_graph.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

struct graph_input {
    const char *path;
    int pid; /* pid of the program; this process is a copy of it */
    const struct reach *reach;
    const struct roots *roots;
    const struct elf_images *images;
    /* Source of the time, tick, occasion and milestone that are written. */
    const struct leak_snapshot *head;
    /* The largest number of bytes of a block's content that may be written; 0: neither contents nor
     * first words nor hashes of contents are written. */
    uint64_t content_most;
};

struct graph_writer {
    struct graph_stream stream;
    const struct graph_input *input;
    uint32_t next; /* number of the next block to write; those before it are written */
    bool open;     /* the block that was written last may get more edges */
    uint64_t edges, root_words;
    /* Number (from 1) of the last word written: in the open block, or in a range of roots. */
    uint64_t last_word;
    uint32_t last_range, last_target, last_bond;
    /* The block that is being written and the one before it, at index (number of the block) % 2. */
    struct block block[2];
    /* For each hash of a site: the first word of the last written block whose site has this
     * hash. */
    uint64_t word_slots[LEAK_GRAPH_SLOTS];
    struct block_content content;
};

/* Writes the first part of the file; called between reach_mark and leak_graph_build. The writer is
 * too large for a stack. */
void graph_writer_begin(struct graph_writer *writer, const struct graph_input *input);
/* Writes the second part of the file. graph NULL: the leak check failed, so no file is made. False:
 * no file was made; writer->stream.error says why. */
bool graph_writer_end(struct guard *guard, struct graph_writer *writer,
                      const struct leak_graph *graph);

#endif
