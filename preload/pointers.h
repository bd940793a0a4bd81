/* pointers.h - who points at one block: every word of the roots and of all blocks is asked.
 */
#ifndef PRELOAD_POINTERS_H
#define PRELOAD_POINTERS_H

#include "preload/growing.h"
#include "preload/held.h"

/* struct leak_pointer, to out: at most LEAK_POINTERS. */
void pointers_find(struct held *held, const struct block *block, struct growing *out);

#endif
