/* protobuf.c - see protobuf.h. */
#include "common/encode/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void proto_end(struct proto *proto)
{
    free(proto->bytes);
    *proto = (struct proto){0};
}

void proto_varint(struct proto *proto, uint64_t number)
{
    proto->bytes = mem_more(proto->bytes, &proto->capacity, proto->length + 10, 1);
    for (; number >= 0x80; number >>= 7)
        proto->bytes[proto->length++] = (uint8_t)(number | 0x80);
    proto->bytes[proto->length++] = (uint8_t)number;
}

void proto_number(struct proto *proto, unsigned field, uint64_t number)
{
    if (!number)
        return;
    proto_varint(proto, field << 3 | WIRE_VARINT);
    proto_varint(proto, number);
}

static void append(struct proto *proto, unsigned field, const void *bytes, size_t length)
{
    proto_varint(proto, field << 3 | WIRE_BYTES);
    proto_varint(proto, length);
    proto->bytes = mem_more(proto->bytes, &proto->capacity, proto->length + length, 1);
    if (length)
        memcpy(proto->bytes + proto->length, bytes, length);
    proto->length += length;
}

void proto_bytes(struct proto *proto, unsigned field, const void *bytes, size_t length)
{
    append(proto, field, bytes, length);
}

void proto_message(struct proto *proto, unsigned field, const struct proto *message)
{
    append(proto, field, message->bytes, message->length);
}
