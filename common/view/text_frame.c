/* text_frame.c - writes one frame of the text report. */
#include "common/view/text_frame.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/names/names.h"
#include "common/base/term_text.h"
#include "common/encode/encode.h"

#define NAME_COLUMNS 34 /* columns for the function's name, so that the places of frames line up */
#define NAME_LEAST                                                                                 \
    (NAME_COLUMNS / 2) /* with fewer columns for the name, the place gets a line of its
                                       * own */

void text_style(const struct view *view, FILE *stream, enum text_style style)
{
    static const char *const codes[] = {"0", "1", "1;33", "2", "1;31"};

    if (view->colour)
        fprintf(stream, "\033[%sm", codes[style]);
}

void text_signature(uint64_t signature, int width, const struct view *view, FILE *stream)
{
    text_style(view, stream, STYLE_FAINT);
    fprintf(stream, "%*s%016" PRIx64 "\n",
            width + 18 <= (int)text_columns(view) ? (int)text_columns(view) - 16 - width : 1, "",
            signature);
    text_style(view, stream, STYLE_PLAIN);
}

struct term_text text_bare_name(const struct frame *frame, size_t columns)
{
    char buffer[FRAME_NAME_SIZE];
    const char *place = frame_name(frame, buffer), *scope;

    if (!frame->function)
        return term_text(place, strlen(place), columns);
    scope = demangle_scope(frame->function);
    return term_text(scope, demangle_bare_length(scope), columns);
}

/* Leaves out as many outer scopes of a C++ name as needed to fit: "…::Stack::grow". If that is not
 * enough, the name is cut in its middle. */
static struct term_text without_scopes(const char *name, size_t length, size_t columns)
{
    struct term_text text = term_text(name, length, 0);
    char shorter[CXX_SHORTEN_MAX + sizeof("…")];

    for (const char *at = name; text.columns > columns && (at = strstr(at, "::")); at += 2) {
        snprintf(shorter, sizeof(shorter), "…%s", at);
        text = term_text(shorter, strlen(shorter), 0);
    }
    return text.columns > columns ? term_text(name, length, columns) : text;
}

/* Shortens a qualified name to what its author wrote, and if that does not fit, to less: first its
 * template arguments are left out, then its outer scopes. */
static struct term_text shorten_name(char *name, size_t columns)
{
    size_t length;

    cxx_shorten_name(name);
    length = cxx_name_lambdas(name);
    if (columns && term_text(name, length, 0).columns > columns) {
        length = cxx_omit_arguments(name);
        return without_scopes(name, length, columns);
    }
    return term_text(name, length, columns);
}

#define LAMBDA_LEAD "lambda in "

struct term_text text_function_name(const struct frame *frame, const struct view *view,
                                    size_t columns)
{
    const char *scope = frame->function ? demangle_scope(frame->function) : "", *owner;
    size_t lead = strlen(LAMBDA_LEAD), owner_length;
    char name[CXX_SHORTEN_MAX], in_lambda[TERM_TEXT_MAX + sizeof(LAMBDA_LEAD)];

    if (frame->function && (view->verbose || view->full_names))
        return term_text(frame->function, strlen(frame->function), 0);
    owner = demangle_lambda_owner(scope, &owner_length);
    if (!owner)
        return demangle_copy_name(scope, name, sizeof(name)) ? shorten_name(name, columns)
                                                             : text_bare_name(frame, columns);
    if (owner_length >= sizeof(name))
        return text_bare_name(frame, columns);
    memcpy(name, owner, owner_length);
    name[owner_length] = 0;
    snprintf(in_lambda, sizeof(in_lambda), LAMBDA_LEAD "%s",
             shorten_name(name, columns > lead ? columns - lead : columns).text);
    return term_text(in_lambda, strlen(in_lambda), columns);
}

struct term_text text_place(const struct frame *frame, const struct view *view)
{
    char buffer[PATH_MAX], place[PATH_MAX + 32];
    const char *path;

    place[0] = 0;
    if (frame->file) {
        path = report_display_path(view, frame->file, buffer, sizeof(buffer));
        if (frame->line && frame->column && view->exact)
            snprintf(place, sizeof(place), "%s:%" PRIu32 ":%" PRIu32, path, frame->line,
                     frame->column);
        else if (frame->line)
            snprintf(place, sizeof(place), "%s:%" PRIu32, path, frame->line);
        else
            snprintf(place, sizeof(place), "%s", path);
    } else if (frame->function && frame->module && !view->exact) {
        snprintf(place, sizeof(place), "in %s", base_name(frame->module));
    }
    return term_text(place, strlen(place), 0);
}

const char *text_place_lead(const struct frame *frame, const struct term_text *place)
{
    return !place->columns ? "" : frame->file ? " at " : " ";
}

struct term_text text_place_within(const struct frame *frame, const struct view *view,
                                   size_t columns)
{
    struct term_text place = text_place(frame, view), shorter = place;
    const char *at = frame->file ? place.text : "";

    while (shorter.columns > columns && (at = strchr(at, '/')))
        shorter.columns =
            (size_t)snprintf(shorter.text, sizeof(shorter.text), "…/%.1000s", ++at) - 2;
    return at && shorter.columns <= columns ? shorter : place;
}

/* The columns of a function's name in its shortest form that is not cut: without template arguments
 * and outer scopes. */
static size_t shortest_name(const struct frame *frame, const struct view *view)
{
    struct term_text whole = text_function_name(frame, view, 0);
    const char *last = NULL, *lead = strncmp(whole.text, LAMBDA_LEAD, strlen(LAMBDA_LEAD)) == 0
                                         ? LAMBDA_LEAD "…"
                                         : "…";
    char shortest[TERM_TEXT_MAX + sizeof(LAMBDA_LEAD "…")];

    if (view->verbose || view->full_names)
        return whole.columns;
    cxx_omit_arguments(whole.text);
    for (const char *at = whole.text; (at = strstr(at, "::")); at += 2)
        last = at;
    snprintf(shortest, sizeof(shortest), "%s%s", last ? lead : "", last ? last : whole.text);
    return term_text(shortest, strlen(shortest), 0).columns;
}

/* The columns of a frame's place in its shortest form: "…/file.c:12". */
static size_t shortest_place(const struct frame *frame, const struct term_text *place)
{
    const char *file = frame->file ? strrchr(place->text, '/') : NULL;

    return file ? 1 + term_text(file, strlen(file), 0).columns : place->columns;
}

/* The place of a frame, short enough for the name of its function beside it, if that is possible:
 * folders of the path are cut off first, as they say less than the name, and no more of them than
 * needed. If the whole name has no room even so, it loses arguments and outer scopes. */
static struct term_text place_beside_name(const struct frame *frame, const struct view *view,
                                          size_t name, size_t room)
{
    struct term_text place = text_place(frame, view);
    size_t least = shortest_place(frame, &place) + 2, shortest;

    if (name + least > room) {
        shortest = shortest_name(frame, view);
        if (shortest >= name || least + (shortest > NAME_LEAST ? shortest : NAME_LEAST) > room)
            return place;
        name = text_function_name(frame, view, room - least).columns;
        name = name > NAME_LEAST ? name : NAME_LEAST;
    }
    return text_place_within(frame, view, room - 2 - name);
}

/* Begins a terminal hyperlink to the source file. Its URI has the host, so that a terminal on
 * another machine knows that the file is not there. False: no link, because the file is unknown. */
static bool link_begin(const struct frame *frame, const struct view *view, FILE *stream)
{
    struct source_name name = {frame->file, frame->module};
    char path[PATH_MAX], host[HOST_NAME_MAX + 1] = "";

    if (!view->links || !frame->file || view->no_source || !source_find(&view->source, &name, path))
        return false;
    gethostname(host, sizeof(host) - 1);
    fprintf(stream, "\033]8;;file://");
    escape_uri_path(host, stream);
    escape_uri_path(path, stream);
    fprintf(stream, "\033\\");
    return true;
}

static void link_end(bool begun, FILE *stream)
{
    if (begun)
        fprintf(stream, "\033]8;;\033\\");
}

/* Writes what addr2line needs for a frame: module and offset. */
static void write_exact_place(const struct frame *frame, int indent, FILE *stream)
{
    if (frame->symbol)
        fprintf(stream, "%*s%s\n", indent, "",
                term_text(frame->symbol, strlen(frame->symbol), 0).text);
    if (!frame->module && !frame->has_offset)
        return;
    fprintf(stream, "%*sin %s", indent, "",
            frame->module ? term_text(frame->module, strlen(frame->module), 0).text : "no module");
    if (frame->has_offset)
        fprintf(stream, "%s0x%" PRIx64, frame->module ? "+" : ", at ", frame->offset);
    if (frame->build_id)
        fprintf(stream, " (build-id %s)", frame->build_id);
    putc('\n', stream);
}

void text_frame(const struct frame *frame, bool user, int indent, const struct view *view,
                FILE *stream)
{
    fprintf(stream, "%*s", indent, "");
    text_frame_rest(frame, user, indent, view, stream);
}

void text_frame_rest(const struct frame *frame, bool user, int indent, const struct view *view,
                     FILE *stream)
{
    struct term_text place = text_place(frame, view);
    const char *mark = frame->inlined ? " (inlined)" : "";
    size_t columns = text_columns(view) - (size_t)indent, room = columns - strlen(mark);
    bool fits;
    struct term_text name = text_function_name(frame, view, 0);
    size_t gap;
    bool linked;

    if (!view->verbose)
        place = place_beside_name(frame, view, name.columns, room);
    fits = place.columns + 2 + NAME_LEAST <= room;
    name = text_function_name(frame, view, fits ? room - place.columns - 2 : room);
    gap = name.columns + strlen(mark);

    text_style(view, stream, user ? STYLE_NAME : STYLE_PLAIN);
    fputs(name.text, stream);
    text_style(view, stream, STYLE_PLAIN);
    fputs(mark, stream);
    if (place.columns) {
        fits = gap + 2 + place.columns <= columns;
        if (!fits)
            fprintf(stream, "\n%*s", indent + 2, "");
        else if (gap < NAME_COLUMNS && NAME_COLUMNS + 2 + place.columns <= columns)
            fprintf(stream, "%*s", (int)(NAME_COLUMNS - gap + 2), "");
        else
            fputs("  ", stream);
        linked = link_begin(frame, view, stream);
        fputs(place.text, stream);
        link_end(linked, stream);
    }
    putc('\n', stream);
    if (view->exact)
        write_exact_place(frame, indent + 2, stream);
}

void text_source_line(const struct frame *frame, int indent, const struct view *view, FILE *stream)
{
    struct source_name name = {frame->file, frame->module};
    char line[512];
    struct term_text shown;

    if (!frame->file || view->no_source ||
        !source_read_line(&view->source, &name, frame->line, line, sizeof(line)))
        return;
    shown = term_text(line, strlen(line), text_columns(view) - (size_t)indent - 4);
    text_style(view, stream, STYLE_FAINT);
    fprintf(stream, "%*s| %s\n", indent + 2, "", shown.text);
    text_style(view, stream, STYLE_PLAIN);
}
