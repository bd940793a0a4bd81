/* target_stream.h - reports to whoever listens: a socket, or a command's standard input. */
#ifndef SYMBOLIZE_OUTPUT_TARGET_STREAM_H
#define SYMBOLIZE_OUTPUT_TARGET_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#define TARGET_WHY 160

/* Both: false, and why[TARGET_WHY] says in words what went wrong. Patience has begun. */

/* where: the path of a stream socket, or HOST:PORT, [ADDRESS]:PORT. */
bool target_stream_socket(const char *where, const char *text, size_t length, char *why);
/* By sh -c. It is waited for, and must end with 0; whether it reads all of it is its own affair. */
bool target_stream_command(const char *command, const char *text, size_t length, char *why);

#endif
