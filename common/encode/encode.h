/* encode.h - the encodings that reports are written in: escaped text, hex dumps, gzip, protocol
 * buffers. JSON has a header of its own, json_writer.h.
 */
#ifndef COMMON_ENCODE_ENCODE_H
#define COMMON_ENCODE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Foreign text in lines, XML, Markdown and URIs (escape.c) --------------------------------
 *
 * Escaped as leak_escape.h says: XML 1.0 cannot express most control characters at all, and in a
 * format of lines a newline would forge a line. Nothing is cut off. */

/* Writes the text on one line: line breaks are escaped, all other characters stay. */
void escape_line(FILE *stream, const char *text);

/* Writes text between tags of XML or HTML. Newlines and tabs survive, here and in attributes. */
void escape_xml(FILE *stream, const char *text);

/* A line of its own with that indentation: "<name>text</name>"; nothing for NULL. */
void escape_element(FILE *stream, int indent, const char *name, const char *text);

/* " name="text""; nothing for NULL. */
void escape_attribute(FILE *stream, const char *name, const char *text);

/* Writes the message of a GitHub workflow command, or the value of one of the command's properties.
 * Newlines survive. */
void escape_command(FILE *stream, const char *text, bool property);

/* Writes text as code in Markdown, also in a table cell. */
void escape_code(FILE *stream, const char *text);

/* A path in a URI: what is not a plain letter, digit or sign becomes %XX. */
void escape_uri_path(const char *path, FILE *stream);

/* ---- Bytes of a block, for people (hex.c) -----------------------------------------------------
 *
 *     0000  48 00 65 00 6c 00 6c 00  6f 00 00 00 01 02 03 04  |H.e.l.l.o.......|
 *     UTF-16 at +0: "Hello"
 *
 * "*" stands for lines that repeat the line above. Text follows where it is more than the right
 * column shows: UTF-8 beyond ASCII, UTF-16 and UTF-32 (low byte first), as runs of printable
 * characters. */
void hex_dump(const uint8_t *bytes, size_t length, int indent, FILE *stream);

/* The bytes in one line: printable ones as they are, others as \xNN, a backslash doubled. At most
 * size - 1 characters of the line; an escape is never cut. */
void hex_line(const uint8_t *bytes, size_t length, char *text, size_t size);

/* ---- gzip (gzip.c) --------------------------------------------------------------------------- */

struct gzip;
enum gzip_level { GZIP_FAST = 1, GZIP_USUAL = 6 };

/* Compresses to a stream; NULL only measures. The owner of the stream checks ferror() for write
 * errors. */
struct gzip *gzip_begin(FILE *stream, enum gzip_level level);
void gzip_write(struct gzip *gzip, const void *bytes, size_t length);
size_t gzip_size(const struct gzip *gzip); /* written so far; zlib holds some bytes back */
void gzip_end(struct gzip *gzip);

/* ---- Protocol buffers (protobuf.c) ------------------------------------------------------------
 *
 * A message is built in memory, because its length precedes it. Zeros and empty texts are the
 * defaults of readers, so callers may leave them out. */

struct protobuf {
    uint8_t *bytes;
    size_t length, capacity;
};

void protobuf_end(struct protobuf *proto);

void protobuf_varint(struct protobuf *proto, uint64_t number); /* an item of a packed list */
void protobuf_number(struct protobuf *proto, unsigned field, uint64_t number); /* nothing for 0 */
void protobuf_bytes(struct protobuf *proto, unsigned field, const void *bytes, size_t length);
/* Writes a message as a field, even an empty one, because it is an item of a list. */
void protobuf_message(struct protobuf *proto, unsigned field, const struct protobuf *message);

#endif
