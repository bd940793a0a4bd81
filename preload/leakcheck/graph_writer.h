/* graph_writer.h - writes the graph of a leak check into a file (leak_graph_file.h), in two halves:
 * the graph itself while pointers can be followed, and what is known only at the end.
 *
 * Memory: one chunk, and the marks of a few thousand sites. What fails is kept as an error and has no
 * effect on the leak check.
 */
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
    int pid; /* of the program: this process is a copy */
    const struct reach *reach;
    const struct roots *roots;
    const struct elf_images *images;
    const struct leak_snapshot *head; /* when, tick, occasion, milestone */
    uint64_t
        content_most; /* bytes of a content that may be written; 0: no first words and no numbers either */
};

struct graph_writer {
    struct graph_stream stream;
    const struct graph_input *input;
    uint32_t next; /* blocks before it are written */
    bool open;     /* the last one's edges may follow */
    uint64_t edges, root_words;
    uint64_t last_word; /* of the open block's edges, + 1; of a range of roots, + 1 */
    uint32_t last_range, last_target, last_bond;
    struct block block[2];                 /* the open one and the last, by parity of the number */
    uint64_t word_slots[LEAK_GRAPH_SLOTS]; /* the last VALUE of each */
    struct block_content content;
};

/* Begins the file, between reach_mark and leak_graph_build. The writer is too large for a stack. */
void graph_writer_begin(struct graph_writer *writer, const struct graph_input *input);
/* graph NULL: the leak check failed, and no file is made. False: none was made; the error is the
 * stream's. */
bool graph_writer_end(struct guard *guard, struct graph_writer *writer,
                      const struct leak_graph *graph);

#endif
