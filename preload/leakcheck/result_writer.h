/* result_writer.h - what a look found, written into the store.
 *
 * Blocks of one site with one verdict become one line of the table "found"; for the largest of them
 * it is told how it is reached, and for what is not reachable what it holds. Who keeps most alive
 * goes into "roots". The tables' layout: leak_store.h.
 */
#ifndef PRELOAD_LEAKCHECK_RESULT_WRITER_H
#define PRELOAD_LEAKCHECK_RESULT_WRITER_H

#include "preload/mark/leak_graph.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

struct found_look {
    const struct reach *reach;
    const struct graph *graph;
    const struct roots *roots;
    const struct images *images;
    const struct leak_snapshot *head; /* all but the tables */
    uint64_t place;                   /* of a chunk that may be written over; 0: none */
    uint64_t content_most;            /* bytes of one block that are kept */
    uintptr_t about;                  /* somebody asks about it, 0: nobody does */
};

/* The place of the chunk in the store; 0: no memory, or no room. */
uint64_t found_write(struct guard *guard, const struct found_look *look);

#endif
