/* message.c - sends and receives messages over a socket. A message is sent as its length and its
 * bytes; a text in a message as its length with the NUL (0 = NULL) and its bytes. */
#include "common/names/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "common/base/arena.h"

void message_clear(struct message *message)
{
    message->length = message->at = 0;
    message->bad = false;
}

void message_end(struct message *message)
{
    free(message->bytes);
    *message = (struct message){0};
}

/* ---- Contents of a message ------------------------------------------------------------------- */

static void append(struct message *message, const void *bytes, size_t length)
{
    message->bytes = array_grow(message->bytes, &message->capacity, message->length + length, 1);
    memcpy(message->bytes + message->length, bytes, length);
    message->length += length;
}

void message_put_number(struct message *message, uint64_t number)
{
    append(message, &number, sizeof(number));
}

void message_put_bytes(struct message *message, const void *bytes, size_t length)
{
    message_put_number(message, length);
    if (length)
        append(message, bytes, length);
}

void message_put_text(struct message *message, const char *text)
{
    size_t length = text ? strlen(text) + 1 : 0;

    message_put_bytes(message, text, length <= MESSAGE_TEXT_MOST ? length : 0);
}

static const void *take_bytes(struct message *message, size_t length)
{
    const char *bytes = message->bytes + message->at;

    if (message->bad || length > message->length - message->at) {
        message->bad = true;
        return NULL;
    }
    message->at += length;
    return bytes;
}

uint64_t message_number(struct message *message)
{
    uint64_t number = 0;
    const void *bytes = take_bytes(message, sizeof(number));

    if (bytes)
        memcpy(&number, bytes, sizeof(number));
    return number;
}

const uint8_t *message_bytes(struct message *message, size_t *length)
{
    const uint8_t *bytes;

    *length = message_number(message);
    bytes = take_bytes(message, *length);
    if (!bytes)
        *length = 0;
    return bytes;
}

const char *message_text(struct message *message)
{
    size_t length;
    const char *text = (const char *)message_bytes(message, &length);

    if (!text || !length)
        return NULL;
    message->bad |= memchr(text, 0, length) != text + length - 1;
    return message->bad ? NULL : text;
}

/* ---- Sending and receiving ------------------------------------------------------------------- */

void message_put_location(struct message *message, const struct variable_location *place)
{
    message_put_number(message, place->kind);
    for (int i = 0; i < 3; i++)
        message_put_number(message, place->given[i]);
}

void message_take_location(struct message *message, struct variable_location *place)
{
    place->kind = message_number(message);
    for (int i = 0; i < 3; i++)
        place->given[i] = message_number(message);
}

bool message_send(int fd, const struct message *message)
{
    uint64_t length = message->length;
    struct iovec parts[] = {{&length, sizeof(length)}, {message->bytes, message->length}};
    struct msghdr whole = {.msg_iov = parts, .msg_iovlen = 2};
    size_t left = sizeof(length) + message->length;

    while (left) {
        ssize_t sent = sendmsg(fd, &whole, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        left -= (size_t)sent;
        for (size_t i = 0; i < 2; i++) {
            size_t done = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;

            parts[i].iov_base = (char *)parts[i].iov_base + done;
            parts[i].iov_len -= done;
            sent -= (ssize_t)done;
        }
    }
    return true;
}

static bool receive_bytes(int fd, void *bytes, size_t length)
{
    for (char *at = bytes; length;) {
        ssize_t got = recv(fd, at, length, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        length -= (size_t)got;
    }
    return true;
}

bool message_receive(int fd, struct message *message)
{
    uint64_t length;

    message_clear(message);
    if (!receive_bytes(fd, &length, sizeof(length)) || length > MESSAGE_MOST)
        return false;
    message->bytes = array_grow(message->bytes, &message->capacity, length, 1);
    message->length = length;
    return receive_bytes(fd, message->bytes, length);
}
