/* eh_reader.h - reads the encodings of .eh_frame from a piece of memory, never past its end.
 *
 * A reader that has failed once stays failed and yields 0, so that a caller can read several values
 * and check for failure once. Pure functions of the bytes; nothing needs to be aligned.
 */
#ifndef PRELOAD_UNWIND_EH_READER_H
#define PRELOAD_UNWIND_EH_READER_H

#include "preload/base/base.h"

struct eh_reader {
    const uint8_t *at, *end;
    bool bad; /* ran past the end, or met an encoding that is not supported */
};

uint64_t eh_read_uint(struct eh_reader *cursor, size_t size); /* size <= 8, little endian */
uint64_t eh_read_uleb(struct eh_reader *cursor);
int64_t eh_read_sleb(struct eh_reader *cursor);
/* A value in one of the DW_EH_PE_* encodings: the low nibble is the format, bits 4-6 the base that
 * the value is relative to. data_base: the base of DW_EH_PE_datarel. */
uint64_t eh_read_encoded(struct eh_reader *cursor, uint8_t encoding, uintptr_t data_base);

#endif
