/* graph_writer.h - writes the graph of a leak check to a file (leak_graph_file.h) in two parts:
 * first the graph, while pointers can be followed, then verdicts and names, which are known only at
 * the end.
 *
 * It uses memory for one chunk, and marks for a few thousand sites. The first error is kept, and
 * has no effect on the leak check. */
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
    int pid; /* pid of the program: this process is a copy */
    const struct reach *reach;
    const struct roots *roots;
    const struct elf_images *images;
    /* Source of the time, tick, occasion and milestone that are written. */
    const struct leak_snapshot *head;
    /* The largest number of bytes of a block's content that may be written; 0: no first words and
     * no hashes of contents either. */
    uint64_t content_most;
};

struct graph_writer {
    struct graph_stream stream;
    const struct graph_input *input;
    uint32_t next; /* number of blocks that are written */
    bool open;     /* the block that was written last may get more edges */
    uint64_t edges, root_words;
    /* Index + 1 of the last word written: of the open block, or of a range of roots. */
    uint64_t last_word;
    uint32_t last_range, last_target, last_bond;
    /* The block that is being written and the one before it, by parity of their numbers. */
    struct block block[2];
    /* The last first word that was written for each hash of a site. */
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
