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
 *   mistake | TYPE | FORM | KIND | SIZE | OFFSET | SAID | RIGHT | COUNT | SERIAL | ADDRESS | WHERE
 *                                           its frames follow, then:
 *   made | SERIAL | COUNT                   the block was allocated, as that one; frames follow
 *   before | FORM | SERIAL | NAME | whole   it was freed before; frames follow
 *   brief | KIND | BYTES | BLOCKS | OF | GROWN | SIGNATURE    temporary blocks; their frames follow
 *   ever | KIND | BYTES | BLOCKS            what a stack allocated in all; its frames follow
 *   record | VERDICT | KIND | BYTES | BLOCKS | SIGNATURE
 *   error | BYTES | BLOCKS | SAMPLES        its, and added to the totals'
 *   thread | SERIAL | NAME
 *   others                                  further threads, unknown ones
 *   of | COUNT                              blocks that its stacks allocated
 *   freed | SHARE | OF | exact|some|other | FUNCTION | FILE | LINE | MODULE      a place; in order
 *   freed_common | CALLEE | FUNCTION | FILE | LINE | MODULE | close     of that place: the common
 *                                           function
 *   orphaned | BLOCKS | HOLDER'S FUNCTION | FUNCTION | FILE | LINE | MODULE      who freed the holder
 *   frame | FUNCTION | FILE | LINE | MODULE | BUILD-ID | OFFSET | user|inlined|runtime|allocator
 *   retained | BYTES | BLOCKS
 *   tag | NAME | BYTES | BLOCKS             of its blocks; the largest first
 *   is | cycle|dropped|ignored|shared|tagged|header
 *   interior | OFFSET | BLOCKS | FUNCTION | FILE | LINE      pointers that hold it; no FUNCTION: roots
 *   suppressed | RULE | WHERE | REASON      by that; it leaves the totals
 *   unused | RULE | WHERE                   a rule that fits nothing
 *   expired | RULE | WHERE | DAY            one that would have, perhaps
 *   owner | N                               the N-th record of the process, from 1
 *   sample | ADDRESS | SIZE | SERIAL | NAME | COUNT | CONTENT
 *   root | CLASS | WORDS | VARIABLE | FUNCTION | FILE | LINE | MODULE | SERIAL | OFFSET
 *   step | OFFSET | INTO | SIZE | FUNCTION | FILE | LINE | SIGNATURE | WORD | TYPE
 *   skipped | N                             a root begins a path: that of the record, or of the owner
 *   words | TEXT | NAMED                    the path in words of the source
 *   look | RUNG | OCCASION | PAUSE | CHECK | PARKED | MISSED | SKIPPED | last
 *   running | SERIAL | TID | NAME           a thread the look saw; its frames follow
 *   keeps | BYTES | BLOCKS                  an owner; its root follows
 *   resource | TYPE | COUNT | BYTES | once|taken      its names, threads and frames follow
 *   name | TEXT
 *   closed | SERIAL | NAME                  a bad close's: who closed it first; its frames follow
 *   opened                                  likewise
 *   inherited | DESCRIPTOR | NAME
 *   total | TYPE | OPENED | OPEN            of a kind of resources
 *   missed | COUNT
 */
#ifndef MODEL_TEXT_H
#define MODEL_TEXT_H

#include <stdio.h>

#include "common/base/arena.h"
#include "common/model/model.h"

struct report model_read(struct arena *mem, FILE *stream);

#endif
