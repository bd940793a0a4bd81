/* eh_reader.h - reads the encodings of .eh_frame from a piece of memory, never past its end.
 *
 * After a failure all reads of a reader fail and return 0, so a caller can read several values and
 * test for failure once. Pure functions of the bytes; nothing needs to be aligned. */
#ifndef PRELOAD_UNWIND_EH_READER_H
#define PRELOAD_UNWIND_EH_READER_H

#include "preload/base/base.h"

struct eh_reader {
    const uint8_t *at, *end;
    bool bad; /* a read went past the end, or met an encoding that is not supported */
};

/* Reads size <= 8 bytes, little endian. */
uint64_t eh_read_uint(struct eh_reader *cursor, size_t size);
uint64_t eh_read_uleb(struct eh_reader *cursor);
int64_t eh_read_sleb(struct eh_reader *cursor);
/* Reads a value in one of the DW_EH_PE_* encodings: the low four bits are its format, bits 4-6 say
 * to what it is relative. data_base: the base of DW_EH_PE_datarel. */
uint64_t eh_read_encoded(struct eh_reader *cursor, uint8_t encoding, uintptr_t data_base);

#endif
