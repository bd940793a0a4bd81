/* terminal.h - what leaktop, leakgraph and `leakreport browse` draw their screens with: a terminal
 * with styles, keys and a mouse, lists that scroll, a line to type in, and a foot that names keys.
 *
 * A product that calls it is linked with ncurses. All text may be foreign: it is cut to the screen,
 * control characters are shown as escapes, and locales other than UTF-8 get ASCII. One terminal at
 * a time, of one thread.
 */
#ifndef COMMON_TERMINAL_TERMINAL_H
#define COMMON_TERMINAL_TERMINAL_H

#include <curses.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define KEY_ESCAPE 27

/* ---- terminal.c: the screen ------------------------------------------------------------------ */

/* Each style is a colour where there are colours and NO_COLOR is not set; without it, attributes.
 * S(NAME, of 256 colours, of 8, attributes); -1 = the terminal's own */
#define TERMINAL_STYLE_TABLE(S)                                                                    \
    S(PLAIN, -1, -1, 0)                                                                            \
    S(TITLE, -1, -1, A_BOLD)                                                                       \
    S(HEADING, 75, COLOR_CYAN, A_UNDERLINE)                                                        \
    S(SELECTED, -1, -1, A_REVERSE)                                                                 \
    S(FOOT, -1, -1, A_REVERSE)                                                                     \
    S(FAINT, 245, -1, A_DIM)                                                                       \
    S(NAME, 79, COLOR_CYAN, 0)                                                                     \
    S(NUMBER, 180, COLOR_YELLOW, 0)                                                                \
    S(GOOD, 114, COLOR_GREEN, 0)                                                                   \
    S(WARNING, 214, COLOR_YELLOW, A_BOLD)                                                          \
    S(ALARM, 203, COLOR_RED, A_BOLD)                                                               \
    S(MATCH, 226, COLOR_YELLOW, A_BOLD | A_UNDERLINE)

enum terminal_style {
#define S(name, of_256, of_8, attributes) STYLE_OF_##name,
    TERMINAL_STYLE_TABLE(S)
#undef S
        STYLE_OF_MAX
};

struct terminal {
    bool utf8;
    SCREEN *screen;
    struct foot_word { /* of the foot that was drawn last, for the mouse */
        int line, from, end, key;
    } words[24];
    size_t word_count;
    int mouse_line, mouse_column; /* of the last KEY_MOUSE */
};

/* Keys are read without waiting: poll the standard input, then terminal_read_key() until ERR. NULL:
 * the type of terminal is unknown, and errno is as newterm() left it. */
struct terminal *terminal_begin(void);
/* The terminal is as it was. */
void terminal_end(struct terminal *terminal);

/* A key of curses, or ERR. A click on a word of the foot is its key, the wheel is KEY_SR and KEY_SF
 * (up and down); another click is KEY_MOUSE. */
int terminal_read_key(struct terminal *terminal);

/* Writes a whole line: what the text leaves of it is blank. */
void terminal_put_line(const struct terminal *terminal, int line, enum terminal_style style,
                       const char *text);
/* Writes a part of a line, at most so many columns; returns the column behind it. reversed: as
 * part of a selected line. */
int terminal_put(const struct terminal *terminal, int line, int column, int columns,
                 enum terminal_style style, bool reversed, const char *text);

/* A line that a function writes to a stream: begin, write, then put it. */
struct terminal_buffer {
    char text[8192];
    FILE *stream;
};

FILE *terminal_buffer_begin(struct terminal_buffer *buffer);
const char *terminal_buffer_end(struct terminal_buffer *buffer); /* the text */

/* ---- terminal_list.c: lists, a line to type in, the foot ------------------------------------- */

/* A list in the lines [top, top + lines): selected < count unless count is 0, and after
 * terminal_list_place() the selected item is on the screen:
 *     first <= selected < first + lines */
struct terminal_list {
    size_t count, selected, first;
    int top, lines;
};

/* Places the list on the screen, where it is drawn from now on. */
void terminal_list_place(struct terminal_list *list, int top, int lines, size_t count);
/* Moves the selection: arrows, j, k, page keys, Home, End, g, G, wheel, click. False: not a key of
 * lists. A click on the selected item is *opened, as Enter should be; NULL is allowed. */
bool terminal_list_handle_key(struct terminal_list *list, const struct terminal *terminal, int key,
                              bool *opened);
void terminal_list_select(struct terminal_list *list, size_t item);

#define TERMINAL_INPUT_SIZE 128

/* A line that the user types, as after "/". */
struct terminal_input {
    const char *label; /* NULL = nothing is being typed */
    char text[TERMINAL_INPUT_SIZE];
};

enum terminal_input_state { INPUT_GOES_ON, INPUT_CHANGED, INPUT_DONE, INPUT_LEFT };

/* Begins the input of one line. label: what it asks for, as "filter". The text that `input` has is
 * edited. */
void terminal_input_begin(struct terminal_input *input, const char *label);
/* Enter ends it; Escape empties it and ends it (INPUT_LEFT). */
enum terminal_input_state terminal_input_handle_key(struct terminal_input *input, int key);

/* A key and what it does: {'/', "/", "filter"}. */
struct terminal_key {
    int key;
    const char *name, *does; /* name NULL: the last one */
};

/* Names keys in a line, as many as there is room for, the first ones first; behind a text, which
 * may be empty. While a line is typed, that is shown. */
void terminal_put_foot(struct terminal *terminal, int line, const char *text,
                       const struct terminal_input *input, const struct terminal_key *keys);

/* Lists keys and what they do from a line on, in as many columns as there must be. */
void terminal_put_keys(const struct terminal *terminal, int top, int lines,
                       const struct terminal_key *keys);

#endif
