/* protobuf.c - builds messages of protocol buffers in memory. */
#include "common/encode/encode.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void protobuf_end(struct protobuf *proto)
{
    free(proto->bytes);
    *proto = (struct protobuf){0};
}

void protobuf_varint(struct protobuf *proto, uint64_t number)
{
    proto->bytes = array_grow(proto->bytes, &proto->capacity, proto->length + 10, 1);
    for (; number >= 0x80; number >>= 7)
        proto->bytes[proto->length++] = (uint8_t)(number | 0x80);
    proto->bytes[proto->length++] = (uint8_t)number;
}

void protobuf_number(struct protobuf *proto, unsigned field, uint64_t number)
{
    if (!number)
        return;
    protobuf_varint(proto, field << 3 | WIRE_VARINT);
    protobuf_varint(proto, number);
}

void protobuf_bytes(struct protobuf *proto, unsigned field, const void *bytes, size_t length)
{
    protobuf_varint(proto, field << 3 | WIRE_BYTES);
    protobuf_varint(proto, length);
    proto->bytes = array_grow(proto->bytes, &proto->capacity, proto->length + length, 1);
    if (length)
        memcpy(proto->bytes + proto->length, bytes, length);
    proto->length += length;
}

void protobuf_message(struct protobuf *proto, unsigned field, const struct protobuf *message)
{
    protobuf_bytes(proto, field, message->bytes, message->length);
}
