/* xml_escape.h - foreign text in lines and in XML, whatever bytes it holds.
 *
 * Control characters and bytes that are no UTF-8 are written as \xNN, as on the terminal: in XML
 * 1.0 most of them have no form at all, and in formats of lines a newline would make up a line.
 * That cannot be taken back where a text has such words itself. Nothing is cut off.
 */
#ifndef COMMON_ENCODE_XML_ESCAPE_H
#define COMMON_ENCODE_XML_ESCAPE_H

#include <stdbool.h>
#include <stdio.h>

/* On one line, as it is otherwise. */
void escape_line(FILE *stream, const char *text);

/* Between tags of XML and HTML. Newlines and tabs stay what they are, here and in attributes. */
void escape_xml(FILE *stream, const char *text);

/* A line of its own, indented so far: "<name>text</name>"; nothing for NULL. */
void escape_element(FILE *stream, int indent, const char *name, const char *text);

/* " name="text""; nothing for NULL. */
void escape_attribute(FILE *stream, const char *name, const char *text);

/* Of a workflow command of GitHub's: the message, or the value of a property. Newlines stay what
 * they are. */
void escape_command(FILE *stream, const char *text, bool property);

/* As code in Markdown, in a cell of a table, too. */
void escape_code(FILE *stream, const char *text);

#endif
