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
 * Texts with names of programs and files are escaped as leak_escape.h says: XML 1.0 cannot
 * express most control characters at all, and in a format of lines a newline would forge a line.
 * No function cuts its text. */

/* Writes the text on one line: line breaks and other control characters are escaped. */
void escape_line(FILE *stream, const char *text);

/* Writes text between tags of XML or HTML. Newlines and tabs stay. */
void escape_xml(FILE *stream, const char *text);

/* Writes a line "<name>text</name>" with that indentation; nothing if text is NULL. */
void escape_element(FILE *stream, int indent, const char *name, const char *text);

/* Writes " name="text"" as an attribute of XML or HTML, in which newlines and tabs are escaped;
 * nothing if text is NULL. */
void escape_attribute(FILE *stream, const char *name, const char *text);

/* Writes the message of a GitHub workflow command, or with `property` the value of one of its
 * properties. Newlines are escaped so that GitHub restores them. */
void escape_command(FILE *stream, const char *text, bool property);

/* Writes text as code in Markdown, also in a table cell. */
void escape_code(FILE *stream, const char *text);

/* Writes a path for a URI: all bytes but plain letters, digits and "/._-+~" become %XX. */
void escape_uri_path(const char *path, FILE *stream);

/* ---- Dumping the bytes of a block for people to read (hex.c) ----------------------------------
 *
 *     0000  48 00 65 00 6c 00 6c 00  6f 00 00 00 01 02 03 04  |H.e.l.l.o.......|
 *     UTF-16 at +0: "Hello"
 *
 * "*" stands for lines that repeat the line above. Runs of printable characters that the right
 * column cannot show follow the dump: UTF-8 beyond ASCII, UTF-16 and UTF-32 (low byte first). */
void hex_dump(const uint8_t *bytes, size_t length, int indent, FILE *stream);

/* Writes bytes as one line of text: printable ones stay, others become \xNN, a backslash is
 * doubled. The line has at most size - 1 characters and never ends inside an escape. */
void hex_line(const uint8_t *bytes, size_t length, char *text, size_t size);

/* ---- gzip (gzip.c) --------------------------------------------------------------------------- */

struct gzip;
enum gzip_level { GZIP_FAST = 1, GZIP_USUAL = 6 };

/* Begins to compress into a stream; with stream NULL only measures the compressed size. The owner
 * of the stream checks ferror() for write errors. */
struct gzip *gzip_begin(FILE *stream, enum gzip_level level);
void gzip_write(struct gzip *gzip, const void *bytes, size_t length);
size_t gzip_size(const struct gzip *gzip); /* bytes written so far; zlib may hold back a few more */
void gzip_end(struct gzip *gzip);

/* ---- Protocol buffers (protobuf.c) ------------------------------------------------------------
 *
 * A message is built in memory, because its length precedes it. Zeros and empty texts are the
 * defaults of readers, so a writer may leave them out. */

struct protobuf {
    uint8_t *bytes;
    size_t length, capacity;
};

void protobuf_end(struct protobuf *proto);

/* Writes a number without a field, as an item of a packed list. */
void protobuf_varint(struct protobuf *proto, uint64_t number);
/* Writes a field with a number; nothing for 0. */
void protobuf_number(struct protobuf *proto, unsigned field, uint64_t number);
void protobuf_bytes(struct protobuf *proto, unsigned field, const void *bytes, size_t length);
/* Writes a message as a field, also an empty one, because fields that repeat form a list. */
void protobuf_message(struct protobuf *proto, unsigned field, const struct protobuf *message);

#endif
