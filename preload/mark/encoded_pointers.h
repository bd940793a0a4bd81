/* encoded_pointers.h - blocks that are held only by pointers kept in another form.
 *
 * Asked when all that plain pointers lead to is marked, and only if something is left: every word
 * of the roots and of the marked blocks is taken for
 *
 *     a pointer with a tag        in its low 4 bits, its high 16, or both
 *     a pointer shifted           right by 1 to 4
 *     a complement                of a pointer
 *     what glibc keeps            xored with its guard, then rotated left by 17 (guard 0: not
 * tried) what the program keeps      xored with a value it told (0: not tried)
 *
 * and counts only if it then is exactly the start of a block that is left. Of what the hidden ones
 * hold, plain pointers count like those of possible ones, and so do those in another form.
 */
#ifndef PRELOAD_MARK_ENCODED_POINTERS_H
#define PRELOAD_MARK_ENCODED_POINTERS_H

#include "preload/mark/mark_nodes.h"

/* Blocks that are hidden by themselves stand in the queue already. False: no memory. */
bool decode_hidden(struct reach *reach, uint64_t guard, uint64_t xor);

#endif
