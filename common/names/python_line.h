/* python_line.h - the source line of a Python instruction, from the line table of its code
 * object. */
#ifndef COMMON_NAMES_PYTHON_LINE_H
#define COMMON_NAMES_PYTHON_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "common/store/store.h"

/* The source line of the Python instruction at an offset in bytes. 0 = unknown: the compiler
 * added the instruction, or the table ends before it. Reads nothing outside of the table,
 * whatever it contains. */
uint32_t python_line(const struct store_code *code, uint64_t offset);

#endif
