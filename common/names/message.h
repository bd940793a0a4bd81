/* message.h - requests and answers between two processes of one program: numbers and texts, one
 * after the other.
 *
 * The other side may be damaged: a message that is too long, too short or read in another order than
 * it was written is `bad`, and then every number is 0 and every text NULL.
 */
#ifndef COMMON_NAMES_MESSAGE_H
#define COMMON_NAMES_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/debuginfo/elf_binary.h"

#define MESSAGE_MOST ((size_t)16 << 20)      /* bytes of one message */
#define MESSAGE_TEXT_MOST ((size_t)64 << 10) /* of one text; a longer one is left out, like NULL */

struct message {
    char *bytes;
    size_t length, capacity;
    size_t at; /* of the reader */
    bool bad;
};

void message_clear(struct message *message);
void message_end(struct message *message);

void message_put_number(struct message *message, uint64_t number);
void message_put_text(struct message *message, const char *text); /* NULL is allowed */
void message_put_bytes(struct message *message, const void *bytes, size_t length);

uint64_t message_number(struct message *message);
/* Belongs to the message until it is cleared or received anew. */
const char *message_text(struct message *message);
const uint8_t *message_bytes(struct message *message, size_t *length);

void message_put_location(struct message *message, const struct variable_location *place);
void message_take_location(struct message *message, struct variable_location *place);

/* Sends a message. False: the other side has gone. */
bool message_send(int fd, const struct message *message);
/* Receives a message. False: the other side has gone, was silent for the time that the socket
 * allows, or sent no message. */
bool message_receive(int fd, struct message *message);

#endif
