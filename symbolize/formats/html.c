/* html.c - see html.h. The page is an empty frame; its script (html/report.js) fills it from the
 * data. */
#include "symbolize/formats/html.h"

#include "symbolize/formats/html_data.h"

extern const char html_style[], html_style_end[], html_script[], html_script_end[];

static void put(const char *begin, const char *end, FILE *stream)
{
    fwrite(begin, 1, (size_t)(end - begin), stream);
}

void html_write(const struct report *report, const struct view *view, FILE *stream)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          /* Whatever a program calls its functions, the page loads and sends nothing. */
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n"
          "<title>libleak</title>\n<style>\n",
          stream);
    put(html_style, html_style_end, stream);
    fputs("</style>\n</head>\n<body>\n<header>\n"
          "<h1><span id=\"name\"></span><small>libleak <select id=\"process\" class=\"plain\" "
          "hidden></select></small></h1>\n"
          "<p id=\"headline\"></p>\n"
          "<nav><span id=\"tabs\" role=\"tablist\"></span><span class=\"space\"></span>"
          "<input id=\"search\" type=\"search\" placeholder=\"function, file, module  ( / )\" "
          "aria-label=\"search\"> <button id=\"dark\" class=\"plain\">dark</button></nav>\n"
          "</header>\n<main><div id=\"page\"></div><aside id=\"source\" hidden></aside></main>\n"
          "<noscript>This page shows the report with a script of its own.</noscript>\n"
          "<script id=\"data\" type=\"application/json\">\n",
          stream);
    html_data(report, view, stream);
    fputs("</script>\n<script>\n", stream);
    put(html_script, html_script_end, stream);
    fputs("</script>\n</body>\n</html>\n", stream);
}
