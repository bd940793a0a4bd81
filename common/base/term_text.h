/* term_text.h - text for people: escaped names on a terminal, numbers, times, short C++ names.
 *
 * Names and paths come from programs that are not trusted, so control characters are escaped
 * (leak_escape.h). Each character counts as one column, also those of double width.
 */
#ifndef COMMON_BASE_TERM_TEXT_H
#define COMMON_BASE_TERM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leak_escape.h"

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

bool utf8_valid(const char *text);

/* ---- Text for a terminal (term_text.c) ------------------------------------------------------- */

#define TERM_TEXT_MAX 4096 /* most bytes of a text, NUL included; a longer one is cut */

struct term_text {
    char text[TERM_TEXT_MAX];
    size_t columns;
};

/* The text with control characters escaped, at most `columns` wide (0 = no limit). An ellipsis
 * replaces the middle of a wider text. */
struct term_text term_text(const char *text, size_t length, size_t columns);

struct term_text term_number(uint64_t number); /* a number with commas: "1,234,567" */
/* A number with a noun: "1 block", "2 blocks". */
struct term_text term_count(uint64_t number, const char *word);
/* A number of bytes with its unit: "480 bytes", "3.1 MB". */
struct term_text term_size(uint64_t bytes);
struct term_text term_shell_word(const char *word); /* a word, quoted if a shell needs that */

/* ---- Times (times.c) ------------------------------------------------------------------------- */

#define TIME_TEXT_SIZE 64

uint64_t time_now_ns(void);    /* from CLOCK_REALTIME */
uint64_t time_steady_ns(void); /* from CLOCK_MONOTONIC */

/* Formats a time as "2024-05-06T07:08:09.123Z". Returns NULL for 0 and for a time that is too large
 * for a date. */
const char *time_format_iso(uint64_t ns, char text[TIME_TEXT_SIZE]);

/* Parses a time in the form "2024-05-06T07:08:09.123Z"; nanoseconds since 1970, 0 = another
 * form. */
uint64_t time_parse_iso(const char *text);

/* Formats a duration: "0.4 s", "12 s", "3 min 20 s", "5 h 10 min", "12 days". */
const char *time_format_span(uint64_t ns, char text[TIME_TEXT_SIZE]);

/* ---- C++ names (cxx_shorten.c) --------------------------------------------------------------- */

#define CXX_SHORTEN_MAX 8192 /* longer names are not shortened */

/* Shortens a terminated C++ name in place to what its author wrote; returns the new length.
 *
 *     std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >
 *     std::vector<std::string>
 *
 * It removes what the standard library adds: inline namespaces, default arguments of its own
 * templates, and spaces between closing brackets. Two names that differ in anything else still
 * differ afterwards. */
size_t cxx_shorten_name(char *name);

/* Replaces template arguments that name a lambda by the function that contains it, in place; returns
 * the new length in bytes: "each<lambda in parse>" for
 * "each<app::parse(int)::{lambda(int)#1}>". Other arguments of the same list are left out. A list that
 * would become longer stays. */
size_t cxx_name_lambdas(char *name);

/* Replaces the template arguments of a terminated name by "…", in place; returns the new length in
 * bytes: "Cache<…>::Entry<…>::put". */
size_t cxx_omit_arguments(char *name);

#endif
