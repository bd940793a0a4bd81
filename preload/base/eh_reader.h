/* eh_reader.h - reading the encodings of .eh_frame from a piece of memory, never past its end.
 *
 * A cursor that has gone bad stays bad and answers 0, so a reader may take several values and look
 * once. Pure functions of the bytes; nothing is aligned.
 */
#ifndef PRELOAD_BASE_EH_READER_H
#define PRELOAD_BASE_EH_READER_H

#include "preload/base/base.h"

struct cursor {
    const uint8_t *at, *end;
    bool bad; /* ran past the end, or met what we do not read */
};

uint64_t cursor_take(struct cursor *cursor, size_t size); /* size <= 8, little endian */
uint64_t cursor_uleb(struct cursor *cursor);
int64_t cursor_sleb(struct cursor *cursor);
/* A value in one of the DW_EH_PE_* encodings; data_base: what "datarel" is relative to. */
uint64_t cursor_encoded(struct cursor *cursor, uint8_t encoding, uintptr_t data_base);

#endif
