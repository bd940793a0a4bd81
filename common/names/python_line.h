/* python_line.h - the line of an instruction of Python code, by the table that its version writes. */
#ifndef COMMON_NAMES_PYTHON_LINE_H
#define COMMON_NAMES_PYTHON_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "common/store/store.h"

/* The source line of a Python instruction at an offset in bytes, 0 = unknown: an instruction that
 * the compiler added has no line, nor has one that the table does not reach. Reads nothing outside
 * of the table, whatever it contains. */
uint32_t python_line(const struct store_code *code, uint64_t offset);

#endif
