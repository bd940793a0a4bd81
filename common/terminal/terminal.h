/* terminal.h - the screens of leaktop, leakgraph and `leakreport browse`: text in styles, keys
 * and mouse, lists that scroll, an input line, and a foot: the last line, which names keys.
 *
 * It needs ncurses. Texts may come from programs that are not trusted: they are cut to the
 * screen, control characters are escaped, and locales other than UTF-8 get ASCII. There is one
 * terminal at a time, used by one thread.
 */
#ifndef COMMON_TERMINAL_TERMINAL_H
#define COMMON_TERMINAL_TERMINAL_H

#include <curses.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define KEY_ESCAPE 27

/* ---- terminal.c: the screen ------------------------------------------------------------------ */

/* The styles of text. S(NAME, colour on terminals of 256 colours, of 8 colours, attributes); -1
 * = the terminal's own colour. Attributes replace colours if there are none or NO_COLOR is set. */
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
    struct foot_word { /* places and keys of the words in the foot, so that clicks on them work */
        int line, from, end, key;
    } words[24];
    size_t word_count;
    int mouse_line, mouse_column; /* place of the click that gave the last KEY_MOUSE */
};

/* Takes over the terminal. Keys are read without waiting: poll the standard input, then call
 * terminal_read_key() until ERR. NULL: the type of terminal is unknown, and errno says why. */
struct terminal *terminal_begin(void);
/* Gives the terminal back in the state that it had before terminal_begin(). */
void terminal_end(struct terminal *terminal);

/* Returns a key as curses numbers it, or ERR. A click on a word of the foot returns that word's
 * key, the wheel returns KEY_SR (up) and KEY_SF (down), another click KEY_MOUSE. */
int terminal_read_key(struct terminal *terminal);

/* Writes a whole line; the rest behind the text becomes blank. */
void terminal_put_line(const struct terminal *terminal, int line, enum terminal_style style,
                       const char *text);
/* Writes text into a part of a line, at most so many columns; returns the column behind it.
 * reversed: the text belongs to the selected line. */
int terminal_put(const struct terminal *terminal, int line, int column, int columns,
                 enum terminal_style style, bool reversed, const char *text);

/* Collects the text of a line from functions that write to a stream: call
 * terminal_buffer_begin(), write to `stream`, call terminal_buffer_end(), then terminal_put(). */
struct terminal_buffer {
    char text[8192];
    FILE *stream;
};

FILE *terminal_buffer_begin(struct terminal_buffer *buffer);
/* Ends the line and returns its text. */
const char *terminal_buffer_end(struct terminal_buffer *buffer);

/* ---- terminal_list.c: lists, an input line, the foot ----------------------------------------- */

/* A list in the lines [top, top + lines) of the screen. selected < count unless count is 0;
 * after terminal_list_place() the selected item is visible:
 *     first <= selected < first + lines */
struct terminal_list {
    size_t count, selected, first;
    int top, lines;
};

/* Sets the lines in which the list is drawn and the number of items, and scrolls to the selected
 * item. */
void terminal_list_place(struct terminal_list *list, int top, int lines, size_t count);
/* Moves the selection by a key: arrows, j, k, page keys, Home, End, g, G, wheel, click. Sets
 * *opened, unless opened is NULL, on a click on the selected item, which works like Enter.
 * False: lists do not use this key. */
bool terminal_list_handle_key(struct terminal_list *list, const struct terminal *terminal, int key,
                              bool *opened);
void terminal_list_select(struct terminal_list *list, size_t item);

#define TERMINAL_INPUT_SIZE 128

/* A line that the user types, such as a filter after "/". */
struct terminal_input {
    const char *label; /* label in front of the line: "filter"; NULL = no input is going on */
    char text[TERMINAL_INPUT_SIZE];
};

enum terminal_input_state { INPUT_GOES_ON, INPUT_CHANGED, INPUT_DONE, INPUT_LEFT };

/* Begins the input of a line. The user edits the text that `input` already has. */
void terminal_input_begin(struct terminal_input *input, const char *label);
/* Handles a key of the input line. Enter ends the input; Escape empties the line and ends the
 * input (INPUT_LEFT). */
enum terminal_input_state terminal_input_handle_key(struct terminal_input *input, int key);

/* A key with its name and what it does: {'/', "/", "filter"}. */
struct terminal_key {
    int key;
    const char *name, *does; /* name of the key, and what it does; name NULL ends an array of
                              * keys */
};

/* Draws the foot: a text, which may be empty, and the names of keys, as many as fit. While the
 * user types, the foot is the input line. */
void terminal_put_foot(struct terminal *terminal, int line, const char *text,
                       const struct terminal_input *input, const struct terminal_key *keys);

/* Draws a list of keys and what they do from line `top` on, in as many columns as necessary. */
void terminal_put_keys(const struct terminal *terminal, int top, int lines,
                       const struct terminal_key *keys);

#endif
