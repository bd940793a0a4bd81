/* pointers.h - who points at one block: every word of the roots and of all blocks is asked.
 */
#ifndef PRELOAD_POINTERS_H
#define PRELOAD_POINTERS_H

#include "preload/growing.h"
#include "preload/held.h"

#define POINTERS_MOST 1024

/* struct leak_pointer, to out. */
void pointers_find(struct held *held, const struct block *block, struct growing *out);

#endif
