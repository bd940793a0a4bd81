/* protobuf.h - messages of protocol buffers: numbers, texts and messages in messages.
 *
 * A message is built in memory, because its length stands before it. Zeros and empty texts are what
 * readers assume, so they are left out.
 */
#ifndef COMMON_ENCODE_PROTOBUF_H
#define COMMON_ENCODE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

struct proto {
    uint8_t *bytes;
    size_t length, capacity;
};

void proto_end(struct proto *proto);

void proto_varint(struct proto *proto, uint64_t number); /* of a packed list */
void proto_number(struct proto *proto, unsigned field, uint64_t number);
void proto_bytes(struct proto *proto, unsigned field, const void *bytes, size_t length);
/* Also when it is empty: it counts as one of a list. */
void proto_message(struct proto *proto, unsigned field, const struct proto *message);

#endif
