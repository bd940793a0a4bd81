/* rows.h - the rows met so far, by return address: a lock-free, insert-only table.
 *
 * A slot is two words, key and row; the key is written last. When a module goes, the slots of its
 * range are given up before the range can be used again (rows_forget, called by modules), and may
 * then be taken by others: nobody can be reading a row of code that no longer exists.
 * The table has a fixed size and is dense enough in practice (131 to 11.9 k rows per program
 * against 64 k slots); when a probe finds no room the row is simply worked out each time.
 */
#ifndef PRELOAD_ROWS_H
#define PRELOAD_ROWS_H

#include "preload/cfi.h"
#include "preload/guard.h"

bool rows_start(void);
/* The row for a return address. */
struct cfi_row rows_get(struct guard *guard, uintptr_t pc);
/* cfi_other_at for a return address; not kept. */
int16_t rows_other(struct guard *guard, uintptr_t pc);
void rows_forget(uintptr_t start, uintptr_t end);

#endif
