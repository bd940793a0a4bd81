/* result_writer.h - writes the result of a leak check into the recording file.
 *
 * The blocks of one allocation site that have the same verdict form one line of the table "found".
 * The largest blocks of a line are written with their content, and the largest one with the path
 * from its root. The root words that keep most bytes alive go into the table "roots". leak_store.h
 * defines the layout of the tables. */
#ifndef PRELOAD_LEAKCHECK_RESULT_WRITER_H
#define PRELOAD_LEAKCHECK_RESULT_WRITER_H

#include "preload/memory/collections.h"
#include "preload/graph/leak_graph.h"
#include "preload/roots/roots.h"
#include "preload/track/milestones.h"
#include "leak_store.h"

struct result_input {
    const struct reach *reach;
    struct leak_graph *graph; /* result_writer_write frees its sums of retained blocks */
    const struct roots *roots;
    const struct elf_images *images;
    /* Header of the result; all members but the places of the tables are set. */
    const struct leak_snapshot *head;
    /* Offset in the recording file of an old result that may be overwritten; 0: none. */
    uint64_t place;
    /* Offset in the recording file of the last check's result; 0: none. */
    uint64_t before;
    uint64_t content_most; /* the largest number of bytes of a block's content that are written */
    /* Address of any byte of a block: the words that point to it are wanted; 0: none. */
    uintptr_t about;
};

/* Writes the result and returns the offset of its chunk in the recording file; 0: there is no
 * memory, or no room in the file. */
uint64_t result_writer_write(struct guard *guard, const struct result_input *input);

/* ---- Ages -------------------------------------------------------------------------------------
 * For each line of "found", milestone_ages counts the blocks that were allocated after each
 * milestone.
 *
 *     a line's blocks = older than all milestones + sum over milestones of the blocks since that
 *                       milestone and before the next one */
struct milestone_ages {
    /* All milestones, in the order of their ticks. */
    struct leak_milestone milestone[LEAK_MILESTONES];
    uint32_t count;
    /* The highest site whose blocks a fork child has inherited: their ticks are those of another
     * process. */
    uint64_t inherited;
    struct milestone_ages_sum {
        uint64_t blocks, bytes;
        /* Array, indexed by line of "found" * number of milestones + milestone. */
    } * sum;
};

/* Allocates the sums for at most lines_most lines. False: there is no memory. */
bool milestone_ages_begin(struct milestone_ages *ages, uint32_t lines_most);
void milestone_ages_add(struct milestone_ages *ages, uint32_t line, const struct block *block);
/* Appends a struct leak_age for each line of "found" and each milestone, if blocks of the line were
 * allocated between this milestone and the next one. */
void milestone_ages_write(const struct milestone_ages *ages, uint32_t lines,
                          struct growable_array *out);

#endif
