/* term_text.h - foreign text on a terminal: nothing but printable characters, in so many columns.
 *
 * Names and paths come from programs nobody vouches for, so control characters and stray bytes
 * are written as \xNN. A column is a character; wide ones are not looked up.
 */
#ifndef COMMON_BASE_TERM_TEXT_H
#define COMMON_BASE_TERM_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define SHOW_MAX 4096 /* bytes of one shown text */

struct shown {
    char text[SHOW_MAX];
    size_t columns;
};

/* At most `columns` wide, 0 = as wide as it is; the middle is replaced by an ellipsis. */
struct shown show(const char *text, size_t length, size_t columns);

/* 1234567 as "1,234,567". */
struct shown show_number(uint64_t number);

/* The number and its word: "1 block", "2 blocks". */
struct shown show_count(uint64_t number, const char *word);

/* "480 bytes", "3.1 MB": as much as one wants to read in a sentence. */
struct shown show_size(uint64_t bytes);

/* A word of a shell command, quoted when it must be. */
struct shown show_word(const char *word);

#endif
