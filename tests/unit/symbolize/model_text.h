/* model_text.h - a report written by hand, for tests of the formats.
 *
 * One line is one thing, its fields separated by " | "; "-" is an unknown one, \n \t \xNN \\ in a
 * field stand for bytes. What belongs to a record follows it, and so on:
 *
 *   process | EXE | PID | HOW | VALUE | ALLOCATIONS | FREES | PEAK
 *   argv | WORD
 *   forked
 *   compared | CHECKS | MISMATCHES | STOPS
 *   sampled | BYTES
 *   untracked | NAME | WORDS | COUNT
 *   blind | PATH | BUILD-ID | WHY | REMEDY
 *   note | TEXT
 *   stacks | CAPTURES | LEAF CACHE HITS | WALKS | FRAMES WALKED | FRAMES SHARED
 *   recent | ADDRESS | KIND | SERIAL | NAME | whole      its frames follow, after "allocated" those
 *   allocated                                            of the allocation
 *   record | VERDICT | KIND | BYTES | BLOCKS | SIGNATURE
 *   error | BYTES | BLOCKS | SAMPLES        its, and added to the totals'
 *   thread | SERIAL | NAME
 *   freed | SHARE | OF | exact|some|other | FUNCTION | FILE | LINE | MODULE      a place; in order
 *   frame | FUNCTION | FILE | LINE | MODULE | BUILD-ID | OFFSET | user|inlined|runtime|allocator
 * ...
 */
#ifndef MODEL_TEXT_H
#define MODEL_TEXT_H

#include <stdio.h>

#include "symbolize/mem.h"
#include "symbolize/model.h"

struct report model_read(struct mem *mem, FILE *stream);

#endif
