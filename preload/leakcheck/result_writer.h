/* result_writer.h - writes the result of a leak check into the recording file.
 *
 * Blocks of one allocation site with one verdict form one line of the table "found". The largest
 * blocks of a line are written with the path that reaches them or, if they are not reachable, with
 * their content. The roots that keep most alive go into the table "roots". leak_store.h defines
 * the layout of the tables.
 */
#ifndef PRELOAD_LEAKCHECK_RESULT_WRITER_H
#define PRELOAD_LEAKCHECK_RESULT_WRITER_H

#include "preload/memory/collections.h"
#include "preload/graph/leak_graph.h"
#include "preload/roots/roots.h"
#include "preload/track/milestones.h"
#include "leak_store.h"

struct result_input {
    const struct reach *reach;
    struct leak_graph *graph; /* what blocks retain is freed on the way */
    const struct roots *roots;
    const struct elf_images *images;
    const struct leak_snapshot *head; /* all fields except the tables */
    uint64_t place;                   /* of a chunk that may be overwritten; 0: none */
    uint64_t before;                  /* the place of the last check's chunk; 0: none */
    uint64_t content_most;            /* bytes of one block that are kept */
    uintptr_t about;                  /* an address whose referrers are wanted, 0: none */
};

/* The place of the chunk in the recording file; 0: no memory or no space. */
uint64_t result_writer_write(struct guard *guard, const struct result_input *input);

/* ---- Ages -------------------------------------------------------------------------------------
 * For each line of "found": how much was allocated since which milestone.
 *
 *     a line's blocks = older than all milestones + sum over milestones of the blocks since that
 *                       milestone and before the next one
 */
struct milestone_ages {
    struct leak_milestone milestone[LEAK_MILESTONES]; /* by tick */
    uint32_t count;
    uint64_t inherited; /* blocks of sites up to here have ticks of another process */
    struct milestone_ages_sum {
        uint64_t blocks, bytes;
    } * sum; /* by line and milestone */
};

/* Allocates the ages. False: no memory. */
bool milestone_ages_begin(struct milestone_ages *ages, uint32_t lines_most);
void milestone_ages_add(struct milestone_ages *ages, uint32_t line, const struct block *block);
/* Appends a struct leak_age for each line and milestone that has blocks. */
void milestone_ages_write(const struct milestone_ages *ages, uint32_t lines,
                          struct growable_array *out);

#endif
