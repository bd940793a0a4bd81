/* message.h - requests and answers between the report and its name process: a row of numbers and
 * texts.
 *
 * The name process may be corrupted by a hostile file, so messages are checked: a message that
 * is too long, too short or read in another order than written becomes `bad`, and from then on
 * every number read from it is 0 and every text NULL.
 */
#ifndef COMMON_NAMES_MESSAGE_H
#define COMMON_NAMES_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/debuginfo/elf_binary.h"

#define MESSAGE_MOST ((size_t)16 << 20) /* most bytes of a message; a longer one is invalid */
/* Most bytes of a text in a message; a longer one is sent as NULL. */
#define MESSAGE_TEXT_MOST ((size_t)64 << 10)

struct message {
    char *bytes;
    size_t length, capacity;
    size_t at; /* offset of the next byte to read */
    bool bad;
};

void message_clear(struct message *message);
void message_end(struct message *message);

void message_put_number(struct message *message, uint64_t number);
void message_put_text(struct message *message, const char *text); /* text NULL is allowed */
void message_put_bytes(struct message *message, const void *bytes, size_t length);

uint64_t message_number(struct message *message);
/* Reads the next text of a message. It is valid until the message is cleared or received anew.
 * NULL: the text was NULL, or the message is bad. */
const char *message_text(struct message *message);
const uint8_t *message_bytes(struct message *message, size_t *length);

void message_put_location(struct message *message, const struct variable_location *place);
void message_take_location(struct message *message, struct variable_location *place);

/* Sends a message. False: the other process has closed the socket. */
bool message_send(int fd, const struct message *message);
/* Receives a message. False: the other process closed the socket, sent nothing for the time
 * limit of the socket, or sent no valid message. */
bool message_receive(int fd, struct message *message);

#endif
