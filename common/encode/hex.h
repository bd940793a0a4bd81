/* hex.h - bytes of a block, for people: hex and characters, and what reads as text.
 *
 *     0000  48 00 65 00 6c 00 6c 00  6f 00 00 00 01 02 03 04  |H.e.l.l.o.......|
 *     UTF-16 at +0: "Hello"
 *
 * Lines that repeat the one before are left out behind a "*". Text is told where it is more than
 * what the right-hand column shows: UTF-8 beyond ASCII, UTF-16 and UTF-32, low byte first, as runs
 * of printable characters.
 */
#ifndef COMMON_ENCODE_HEX_H
#define COMMON_ENCODE_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void dump(const uint8_t *bytes, size_t length, int indent, FILE *stream);

/* The bytes in one line: printable ones as they are, others as \xNN, a backslash doubled. At most
 * size - 1 characters of it, whole ones. */
void dump_line(const uint8_t *bytes, size_t length, char *text, size_t size);

#endif
