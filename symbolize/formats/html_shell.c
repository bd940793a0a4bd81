/* html_shell.c - writes the page around the data, and the data that all pages have; described in
 * html_shell.h.
 */
#include "symbolize/formats/html_shell.h"

#include <stdarg.h>
#include <stdlib.h>

#include "common/model/model.h"

extern const char html_style[], html_style_end[], html_script[], html_script_end[];

static void write_asset(const char *begin, const char *end, FILE *stream)
{
    fwrite(begin, 1, (size_t)(end - begin), stream);
}

void html_page_begin(FILE *stream)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          /* Forbids the page to load or send anything, whatever the names of the program
           * contain. */
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<title>libleak</title>\n<style>\n",
          stream);
    write_asset(html_style, html_style_end, stream);
    fputs("</style>\n</head>\n<body>\n<header>\n"
          "<h1><span id=\"name\"></span><small>libleak <select id=\"process\" class=\"plain\" "
          "hidden></select></small></h1>\n"
          "<p id=\"headline\"></p>\n"
          "<nav><span id=\"tabs\" role=\"tablist\"></span><span class=\"space\"></span>"
          "<span class=\"tools\"><input id=\"search\" type=\"search\" "
          "placeholder=\"function, file, module  ( / )\" aria-label=\"search\"> "
          "<button id=\"dark\" class=\"plain\">dark</button></span></nav>\n"
          "</header>\n<main><div id=\"page\"></div><aside id=\"source\" hidden></aside></main>\n"
          "<noscript>This page needs JavaScript to show the report.</noscript>\n"
          "<script id=\"data\" type=\"application/json\">\n",
          stream);
}

void html_page_begin_graph(FILE *stream)
{
    fputs("</script>\n<script id=\"graph\" type=\"application/json\">\n", stream);
}

void html_page_end(FILE *stream)
{
    fputs("</script>\n<script>\n", stream);
    write_asset(html_script, html_script_end, stream);
    fputs("</script>\n</body>\n</html>\n", stream);
}

static void put_words(struct json_writer *json, const char *key,
                      const char *const words[VERDICT_MAX])
{
    json_open(json, key, '[');
    for (int v = 0; v < VERDICT_MAX; v++)
        json_put_text(json, NULL, words[v]);
    json_close(json, ']');
}

void html_put_verdicts(struct json_writer *json)
{
    put_words(json, "verdicts", verdict_word);
    put_words(json, "words", verdict_words);
}

void html_put_fact(struct json_writer *json, const char *what, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    json_open(json, NULL, '[');
    json_put_text(json, NULL, what);
    json_put_text(json, NULL, text ? text : "");
    json_close(json, ']');
    free(text);
}
