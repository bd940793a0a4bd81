/* term_text.h - text as people read it: UTF-8, foreign text on a terminal, numbers, times, C++ names.
 *
 * Names and paths come from programs that are not trusted: leak_escape.h says how they are shown.
 * A column is a character: double width is not looked up.
 */
#ifndef COMMON_BASE_TERM_TEXT_H
#define COMMON_BASE_TERM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leak_escape.h"

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

bool utf8_valid(const char *text);

/* ---- Text for a terminal (term_text.c) ------------------------------------------------------------ */

#define TERM_TEXT_MAX 4096 /* bytes of one text, with its NUL */

struct term_text {
    char text[TERM_TEXT_MAX];
    size_t columns;
};

/* The text as a terminal shows it, at most `columns` wide (0 = no limit). An ellipsis replaces the
 * middle of a wider text. */
struct term_text term_text(const char *text, size_t length, size_t columns);

struct term_text term_number(uint64_t number);                  /* "1,234,567" */
struct term_text term_count(uint64_t number, const char *word); /* "1 block", "2 blocks" */
struct term_text term_size(uint64_t bytes);                     /* "480 bytes", "3.1 MB" */
struct term_text term_shell_word(const char *word);             /* quoted when a shell needs it */

/* ---- Times (times.c) ------------------------------------------------------------------------- */

#define TIME_TEXT_SIZE 64

uint64_t time_now_ns(void);    /* CLOCK_REALTIME */
uint64_t time_steady_ns(void); /* CLOCK_MONOTONIC */

/* "2024-05-06T07:08:09.123Z"; NULL for 0 and for a time that no calendar holds. */
const char *time_format_iso(uint64_t ns, char text[TIME_TEXT_SIZE]);

/* The time of such a text in nanoseconds, 0 = it is not one. */
uint64_t time_parse_iso(const char *text);

/* A duration: "0.4 s", "12 s", "3 min 20 s", "5 h 10 min", "12 days". */
const char *time_format_span(uint64_t ns, char text[TIME_TEXT_SIZE]);

/* ---- C++ names (cxx_shorten.c) --------------------------------------------------------------- */

#define CXX_SHORTEN_MAX 8192 /* longer names are left as they are */

/* Shortens a terminated C++ name in place to what its author wrote; returns the new length.
 *
 *     std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >
 *     std::vector<std::string>
 *
 * What it removes is what the standard library adds: inline namespaces, default arguments of its
 * own templates, and spaces between closing brackets. Names that differ in anything else still
 * differ afterwards. */
size_t cxx_shorten_name(char *name);

#endif
