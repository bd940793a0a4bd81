/* html_heap.c - writes the heap graph in the HTML page: runs leakgraph, which reads the graph
 * file. */
#include "symbolize/formats/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/error.h"
#include "common/base/proc.h"
#include "common/base/string_list.h"

/* Returns the command that writes the heap of a graph file as JSON; the caller frees it. NULL:
 * leakgraph is not installed. */
static char *heap_command(const struct view *view)
{
    char *program = proc_find_tool(NULL, "leakgraph"), *tool, *file, *command;

    if (!program)
        return NULL;
    tool = shell_quote(program);
    file = shell_quote(view->heap);
    command = string_format("%s%s -- %s html", tool,
                            view->no_source ? " --json --anonymize" : " --json", file);
    free(program);
    free(tool);
    free(file);
    return command;
}

/* Returns all that a command writes, and its length; the caller frees it. NULL: the command
 * failed. */
static char *read_command(const char *command, size_t *length)
{
    FILE *pipe = popen(command, "re"), *copy;
    char buffer[65536], *text = NULL;
    bool good = pipe != NULL;

    if (!pipe)
        return NULL;
    copy = open_memstream(&text, length);
    for (size_t got; copy && (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
        fwrite(buffer, 1, got, copy);
    good = copy && fclose(copy) == 0;
    good &= pclose(pipe) == 0;
    if (good)
        return text;
    free(text);
    return NULL;
}

/* Writes JSON with each '<' as \u003c, so that no text can end the script element. In JSON '<'
 * stands only in texts, where this is allowed. */
static void put_without_markup(const char *text, size_t length, FILE *stream)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '<')
            fputs("\\u003c", stream);
        else
            putc(text[i], stream);
}

void html_put_heap(const struct view *view, FILE *stream)
{
    char *command = view->heap ? heap_command(view) : NULL, *text;
    size_t length = 0;

    if (!view->heap)
        return;
    text = command ? read_command(command, &length) : NULL;
    free(command);
    if (!text) {
        fprintf(stderr, "leakreport: the page is without the heap of %s\n", view->heap);
        return;
    }
    html_page_begin_graph(stream);
    put_without_markup(text, length, stream);
    free(text);
}
