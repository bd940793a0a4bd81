/* graph_reader.h - the bytes of a graph file (leak_graph_file.h) become a struct heap_graph.
 *
 * The only place that handles untrusted input. Each chunk has a checksum, and a file is complete or
 * refused: half a graph would name the wrong owners. A file that somebody made up passes the sums:
 * therefore every number is checked as well.
 */
#ifndef GRAPH_GRAPH_READER_H
#define GRAPH_GRAPH_READER_H

#include "graph/heap/heap_graph.h"

/* What can be wrong with a file: E(NAME, words after its path). */
#define GRAPH_ERROR_TABLE(E)                                                                       \
    E(NONE, "no error")                                                                            \
    E(OPEN, "cannot be opened")                                                                    \
    E(READ, "cannot be read")                                                                      \
    E(NOT_A_GRAPH, "is no heap graph; leakrun --graph=FILE writes one")                            \
    E(IS_RECORDING, "is a recording, which has no graph; leakreport reads it, and leakrun "        \
                    "--graph=FILE writes a graph")                                                 \
    E(VERSION, "is a heap graph of another version of libleak")                                    \
    E(INCOMPLETE, "is incomplete: its end is missing")                                             \
    E(DAMAGED, "is damaged")

enum graph_error {
#define E(name, words) GRAPH_ERROR_##name,
    GRAPH_ERROR_TABLE(E)
#undef E
};

/* Anything but NONE: there is nothing to free. OPEN and READ: errno has the reason. */
enum graph_error graph_reader_open(const char *path, struct heap_graph *graph);
const char *graph_reader_words(enum graph_error error);

#endif
