/* terminal_list.c - lists that scroll, the input line, and the foot of a screen. */
#include "common/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

#define WHEEL_LINES 3

/* ---- Lists ----------------------------------------------------------------------------------- */

static void move_by(struct terminal_list *list, long steps)
{
    long at = (long)list->selected + steps;

    if (at >= (long)list->count)
        at = (long)list->count - 1;
    list->selected = at > 0 ? (size_t)at : 0;
}

void terminal_list_select(struct terminal_list *list, size_t item)
{
    list->selected = item;
    move_by(list, 0);
}

void terminal_list_place(struct terminal_list *list, int top, int lines, size_t count)
{
    size_t shown = lines > 0 ? (size_t)lines : 0;

    list->top = top;
    list->lines = (int)shown;
    list->count = count;
    move_by(list, 0);
    if (list->selected >= list->first + shown)
        list->first = list->selected + 1 - shown;
    if (list->first + shown > count)
        list->first = count > shown ? count - shown : 0;
    if (list->selected < list->first)
        list->first = list->selected;
}

static bool handle_click(struct terminal_list *list, const struct terminal *terminal, bool *opened)
{
    int line = terminal->mouse_line - list->top;
    size_t item = list->first + (size_t)(line > 0 ? line : 0);

    if (line < 0 || line >= list->lines || item >= list->count)
        return false;
    if (opened && item == list->selected)
        *opened = true;
    list->selected = item;
    return true;
}

bool terminal_list_handle_key(struct terminal_list *list, const struct terminal *terminal, int key,
                              bool *opened)
{
    switch (key) {
    case KEY_UP:
    case 'k':
        move_by(list, -1);
        return true;
    case KEY_DOWN:
    case 'j':
        move_by(list, 1);
        return true;
    case KEY_SR:
        move_by(list, -WHEEL_LINES);
        return true;
    case KEY_SF:
        move_by(list, WHEEL_LINES);
        return true;
    case KEY_PPAGE:
        move_by(list, -list->lines);
        return true;
    case KEY_NPAGE:
        move_by(list, list->lines);
        return true;
    case KEY_HOME:
    case 'g':
        list->selected = 0;
        return true;
    case KEY_END:
    case 'G':
        list->selected = list->count ? list->count - 1 : 0;
        return true;
    case KEY_MOUSE:
        return handle_click(list, terminal, opened);
    default:
        return false;
    }
}

/* ---- The input line -------------------------------------------------------------------------- */

void terminal_input_begin(struct terminal_input *input, const char *label)
{
    input->label = label;
}

/* Removes the last character, which may have several bytes. */
static void remove_last(char *text)
{
    size_t length = strlen(text);

    while (length && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
        length--;
    text[length ? length - 1 : 0] = 0;
}

enum terminal_input_state terminal_input_handle_key(struct terminal_input *input, int key)
{
    size_t length = strlen(input->text);

    if (key == '\n') {
        input->label = NULL;
        return INPUT_DONE;
    }
    if (key == KEY_ESCAPE) {
        input->label = NULL;
        input->text[0] = 0;
        return INPUT_LEFT;
    }
    if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
        remove_last(input->text);
        return INPUT_CHANGED;
    }
    if (key == ('u' & 0x1f)) {
        input->text[0] = 0;
        return INPUT_CHANGED;
    }
    if (key >= ' ' && key < 256 && length + 1 < TERMINAL_INPUT_SIZE) {
        input->text[length] = (char)key;
        input->text[length + 1] = 0;
        return INPUT_CHANGED;
    }
    return INPUT_GOES_ON;
}

/* ---- The foot -------------------------------------------------------------------------------- */

void terminal_put_foot(struct terminal *terminal, int line, const char *text,
                       const struct terminal_input *input, const struct terminal_key *keys)
{
    int column;

    terminal->word_count = 0;
    terminal_put_line(terminal, line, STYLE_OF_FOOT, "");
    if (input && input->label) {
        column = terminal_put(terminal, line, 0, COLS, STYLE_OF_FOOT, false, input->label);
        column = terminal_put(terminal, line, column, COLS, STYLE_OF_FOOT, false, ": ");
        column = terminal_put(terminal, line, column, COLS - column - 1, STYLE_OF_TITLE, true,
                              input->text);
        terminal_put(terminal, line, column, 1, STYLE_OF_TITLE, true, "_");
        return;
    }
    column = terminal_put(terminal, line, 0, COLS, STYLE_OF_FOOT, false, text);
    column += *text ? 2 : 0;
    for (; keys->name; keys++) {
        int from = column, width = (int)(strlen(keys->name) + 1 + strlen(keys->does));

        if (column + width > COLS ||
            terminal->word_count == sizeof(terminal->words) / sizeof(*terminal->words))
            continue;
        column = terminal_put(terminal, line, column, COLS, STYLE_OF_TITLE, true, keys->name);
        column = terminal_put(terminal, line, column + 1, COLS, STYLE_OF_FOOT, false, keys->does);
        terminal->words[terminal->word_count++] =
            (struct foot_word){.line = line, .from = from, .end = column, .key = keys->key};
        column += 2;
    }
}

void terminal_put_keys(const struct terminal *terminal, int top, int lines,
                       const struct terminal_key *keys)
{
    int count = 0, columns, width;

    while (keys[count].name)
        count++;
    columns = lines > 0 ? (count + lines - 1) / lines : 1;
    width = COLS / (columns ? columns : 1);
    for (int i = 0; i < lines; i++)
        terminal_put_line(terminal, top + i, STYLE_OF_PLAIN, "");
    for (int i = 0; i < count && lines > 0; i++) {
        int at = i / lines * width, line = top + i % lines;

        terminal_put(terminal, line, at, 9, STYLE_OF_NAME, false, keys[i].name);
        terminal_put(terminal, line, at + 10, width - 11, STYLE_OF_PLAIN, false, keys[i].does);
    }
}
