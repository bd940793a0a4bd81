/* graph_reader.h - reads a graph file (leak_graph_file.h) into a struct heap_graph.
 *
 * Only this module handles untrusted input. Each chunk has a checksum, and an incomplete file is
 * refused, because half a graph would show wrong owners. A forged file may have correct checksums,
 * so every number is checked, too.
 */
#ifndef GRAPH_GRAPH_READER_H
#define GRAPH_GRAPH_READER_H

#include "graph/heap/heap_graph.h"

/* The errors that a file may have: E(NAME, words that follow the path in a message). */
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

/* Reads a graph file. If the result is not GRAPH_ERROR_NONE, there is no graph to free. For OPEN
 * and READ errno has the reason. */
enum graph_error graph_reader_open(const char *path, struct heap_graph *graph);
const char *graph_reader_words(enum graph_error error);

#endif
