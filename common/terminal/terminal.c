/* terminal.c - the screen of the interactive tools: styles, text and keys, drawn with ncurses. */
#include "common/terminal/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"

/* ---- Styles of text -------------------------------------------------------------------------- */

static const struct {
    short of_256, of_8;
    attr_t attributes;
} styles[STYLE_OF_MAX] = {
#define S(name, of_256, of_8, attributes) {of_256, of_8, attributes},
    TERMINAL_STYLE_TABLE(S)
#undef S
};

static bool in_colour;

static void begin_colours(void)
{
    const char *without = getenv("NO_COLOR");

    in_colour =
        !(without && *without) && has_colors() && start_color() == OK && use_default_colors() == OK;
    for (short i = 0; in_colour && i < STYLE_OF_MAX; i++)
        init_pair((short)(i + 1), COLORS >= 256 ? styles[i].of_256 : styles[i].of_8, -1);
}

/* The curses attributes of a style. A colour replaces A_DIM; other attributes, like reversed,
 * stay. */
static attr_t style_attributes(enum terminal_style style)
{
    attr_t attributes = styles[style].attributes;
    bool coloured = COLORS >= 256 ? styles[style].of_256 >= 0 : styles[style].of_8 >= 0;

    if (!in_colour || !coloured)
        return attributes;
    return (attributes & ~(attr_t)A_DIM) | COLOR_PAIR(style + 1);
}

/* ---- Taking and releasing the terminal ------------------------------------------------------- */

struct terminal *terminal_begin(void)
{
    struct terminal *terminal = calloc(1, sizeof(*terminal));

    if (!terminal)
        return NULL;
    setlocale(LC_CTYPE, "");
    terminal->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    terminal->screen = newterm(NULL, stdout, stdin);
    if (!terminal->screen) {
        free(terminal);
        return NULL;
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    begin_colours();
    mouseinterval(0);
    mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    return terminal;
}

void terminal_end(struct terminal *terminal)
{
    endwin();
    delscreen(terminal->screen);
    free(terminal);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static int read_mouse(struct terminal *terminal)
{
    MEVENT event;

    if (getmouse(&event) != OK)
        return KEY_MOUSE;
    if (event.bstate & BUTTON4_PRESSED)
        return KEY_SR;
    if (event.bstate & BUTTON5_PRESSED)
        return KEY_SF;
    terminal->mouse_line = event.y;
    terminal->mouse_column = event.x;
    for (size_t i = 0; i < terminal->word_count; i++) {
        const struct foot_word *word = &terminal->words[i];

        if (word->line == event.y && event.x >= word->from && event.x < word->end)
            return word->key;
    }
    return KEY_MOUSE;
}

int terminal_read_key(struct terminal *terminal)
{
    int key = getch();

    if (key == KEY_RESIZE)
        erase();
    if (key == '\r' || key == KEY_ENTER)
        return '\n';
    return key == KEY_MOUSE ? read_mouse(terminal) : key;
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* Replaces each character beyond ASCII by "~", in place. */
static void make_ascii(char *text)
{
    char *to = text;

    for (; *text; text++)
        if ((unsigned char)*text < 0x80)
            *to++ = *text;
        else if ((unsigned char)*text >= 0xc0)
            *to++ = '~';
    *to = 0;
}

int terminal_put(const struct terminal *terminal, int line, int column, int columns,
                 enum terminal_style style, bool reversed, const char *text)
{
    int room = COLS - column < columns ? COLS - column : columns;
    struct term_text shown;

    if (room <= 0 || line < 0 || line >= LINES)
        return column;
    shown = term_text(text, strlen(text), (size_t)room);
    if (!terminal->utf8)
        make_ascii(shown.text);
    attrset(style_attributes(style) | (reversed ? A_REVERSE : 0));
    mvaddstr(line, column, shown.text);
    attrset(A_NORMAL);
    return column + (int)shown.columns;
}

void terminal_put_line(const struct terminal *terminal, int line, enum terminal_style style,
                       const char *text)
{
    bool fills = styles[style].attributes & (A_REVERSE | A_UNDERLINE);
    int column;

    if (line < 0 || line >= LINES)
        return;
    move(line, 0);
    clrtoeol();
    column = terminal_put(terminal, line, 0, COLS, style, false, text);
    attrset(style_attributes(style));
    for (; fills && column < COLS; column++)
        mvaddch(line, column, ' ');
    attrset(A_NORMAL);
}

FILE *terminal_buffer_begin(struct terminal_buffer *buffer)
{
    buffer->text[0] = 0;
    return buffer->stream = fmemopen(buffer->text, sizeof(buffer->text), "w");
}

const char *terminal_buffer_end(struct terminal_buffer *buffer)
{
    fclose(buffer->stream);
    buffer->text[sizeof(buffer->text) - 1] = 0;
    return buffer->text;
}
