#include "preload/unwind/eh_reader.h"

uint64_t eh_read_uint(struct eh_reader *cursor, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(cursor->end - cursor->at) < size) {
        cursor->bad = true;
        cursor->at = cursor->end;
        return 0;
    }
    memcpy(&value, cursor->at, size);
    cursor->at += size;
    return value;
}

uint64_t eh_read_uleb(struct eh_reader *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; !cursor->bad; shift += 7) {
        uint8_t byte = eh_read_uint(cursor, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

int64_t eh_read_sleb(struct eh_reader *cursor)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0;
    do {
        byte = eh_read_uint(cursor, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) && !cursor->bad);
    if (shift < 64 && (byte & 0x40))
        value |= ~0ull << shift;
    return value;
}

uint64_t eh_read_encoded(struct eh_reader *cursor, uint8_t encoding, uintptr_t data_base)
{
    uintptr_t base = 0;
    switch (encoding & 0x70) {
    case 0x00:
        break;
    case 0x10:
        base = (uintptr_t)cursor->at;
        break;
    case 0x30:
        base = data_base;
        break;
    default:
        cursor->bad = true;
    }
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        return base + eh_read_uint(cursor, 8);
    case 0x02:
        return base + eh_read_uint(cursor, 2);
    case 0x03:
        return base + eh_read_uint(cursor, 4);
    case 0x0a:
        return base + (int16_t)eh_read_uint(cursor, 2);
    case 0x0b:
        return base + (int64_t)(int32_t)eh_read_uint(cursor, 4);
    case 0x01:
        return base + eh_read_uleb(cursor);
    case 0x09:
        return base + eh_read_sleb(cursor);
    default:
        cursor->bad = true;
        return 0;
    }
}
