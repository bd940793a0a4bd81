/* rows.h - the rows met so far, by return address: a lock-free, insert-only table.
 *
 * A slot is two words, key and row; the key is written last. The key carries the module generation
 * (modules_retired), so a row of a library that went can never serve the next one at its address.
 * The table has a fixed size and is dense enough in practice (131 to 11.9 k rows per program
 * against 64 k slots); when a probe finds no room the row is simply worked out each time.
 */
#ifndef PRELOAD_ROWS_H
#define PRELOAD_ROWS_H

#include "preload/cfi.h"
#include "preload/guard.h"

bool rows_start(void);
/* The row for a return address; retired: modules_retired(pc). */
struct cfi_row rows_get(struct guard *guard, uintptr_t pc, uint32_t retired);

#endif
