/* listing.c - writes facts and tables as text or JSON; described in listing.h. */
#include "graph/verbs/listing.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/term_text.h"

#define WIDTH 12      /* width of a column with numbers */
#define WIDTH_TYPE 20 /* width of a column with types or fields */
#define WIDTH_CONTENT 26

/* ---- Writing one value ----------------------------------------------------------------------- */

static struct term_text signed_text(int64_t change, bool is_bytes)
{
    uint64_t amount = change < 0 ? -(uint64_t)change : (uint64_t)change;
    struct term_text number = is_bytes ? term_size(amount) : term_number(amount), made = {0};

    made.columns = (size_t)snprintf(made.text, sizeof(made.text), "%s%.100s",
                                    change < 0 ? "-" : "+", number.text);
    return made;
}

static struct term_text cell_text(enum cell_kind kind, union cell cell)
{
    struct term_text made = {0};

    switch (kind) {
    case CELL_TEXT:
    case CELL_TYPE:
        return cell.text ? term_text(cell.text, strlen(cell.text), 0) : made;
    case CELL_CONTENT:
        return cell.text ? term_text(cell.text, strlen(cell.text), WIDTH_CONTENT) : made;
    case CELL_NUMBER:
        return term_number(cell.number);
    case CELL_BYTES:
        return term_size(cell.number);
    case CELL_SIGNED:
    case CELL_SIGNED_BYTES:
        return signed_text(cell.change, kind == CELL_SIGNED_BYTES);
    case CELL_SHARE:
        snprintf(made.text, sizeof(made.text), "%.1f %%", 100 * cell.share);
        break;
    case CELL_ADDRESS:
        snprintf(made.text, sizeof(made.text), "0x%" PRIx64, cell.number);
        break;
    case CELL_OFFSET:
        if (cell.number != LISTING_NO_OFFSET)
            snprintf(made.text, sizeof(made.text), "+0x%" PRIx64, cell.number);
        break;
    }
    made.columns = strlen(made.text);
    return made;
}

static void put_json(struct json_writer *json, const char *key, enum cell_kind kind,
                     union cell cell)
{
    switch (kind) {
    case CELL_TEXT:
    case CELL_TYPE:
    case CELL_CONTENT:
        json_put_text(json, key, cell.text);
        break;
    case CELL_NUMBER:
    case CELL_BYTES:
        json_put_number(json, key, cell.number);
        break;
    case CELL_SIGNED:
    case CELL_SIGNED_BYTES:
        json_put_signed(json, key, cell.change);
        break;
    case CELL_SHARE:
        json_put_fraction(json, key, cell.share);
        break;
    case CELL_ADDRESS:
        json_put_address(json, key, cell.number);
        break;
    case CELL_OFFSET:
        if (cell.number != LISTING_NO_OFFSET)
            json_put_number(json, key, cell.number);
        else
            json_put_null(json, key);
        break;
    }
}

/* ---- Beginning and ending the output --------------------------------------------------------- */

void listing_begin(struct listing *listing, FILE *stream, bool is_json, const char *verb,
                   const char *file)
{
    *listing = (struct listing){.stream = stream, .is_json = is_json, .json.stream = stream};
    if (!is_json)
        return;
    json_open(&listing->json, NULL, '{');
    json_put_text(&listing->json, "format", "libleak-graph");
    json_put_number(&listing->json, "version", 1);
    json_put_text(&listing->json, "command", verb);
    json_put_text(&listing->json, "file", file);
}

void listing_end(struct listing *listing)
{
    if (!listing->is_json)
        return;
    json_close(&listing->json, '}');
    fputc('\n', listing->stream);
}

void listing_fact(struct listing *listing, const char *key, const char *title, enum cell_kind kind,
                  union cell value)
{
    if (listing->is_json)
        put_json(&listing->json, key, kind, value);
    else
        fprintf(listing->stream, "%s: %s\n", title, cell_text(kind, value).text);
}

void listing_sentence(struct listing *listing, const char *key, const char *text)
{
    if (!listing->is_json)
        fprintf(listing->stream, "%s\n", text);
    else if (key)
        json_put_text(&listing->json, key, text);
}

/* ---- Writing a table ------------------------------------------------------------------------- */

static bool is_left_out(const struct listing *listing, size_t column)
{
    return listing->no_types && listing->columns[column].kind == CELL_TYPE;
}

static void print_cell(struct listing *listing, size_t column, const char *text, size_t columns)
{
    enum cell_kind kind = listing->columns[column].kind;
    bool is_text = kind == CELL_TEXT || kind == CELL_TYPE || kind == CELL_CONTENT;
    size_t width = kind == CELL_TYPE ? WIDTH_TYPE : kind == CELL_CONTENT ? WIDTH_CONTENT : WIDTH;
    int pad =
        (is_text && column + 1 == listing->count) || columns >= width ? 0 : (int)(width - columns);

    if (is_left_out(listing, column))
        return;
    if (column)
        fputs("  ", listing->stream);
    if (is_text)
        fprintf(listing->stream, "%s%*s", text, pad, "");
    else
        fprintf(listing->stream, "%*s%s", pad, "", text);
}

void listing_open_table(struct listing *listing, const char *key, const char *heading,
                        const struct column *columns, size_t count)
{
    listing->columns = columns;
    listing->count = count;
    if (listing->is_json) {
        json_open(&listing->json, key, '[');
        return;
    }
    if (heading)
        fprintf(listing->stream, "\n%s\n", heading);
    for (size_t i = 0; i < count; i++)
        print_cell(listing, i, columns[i].title, strlen(columns[i].title));
    fputc('\n', listing->stream);
}

void listing_row(struct listing *listing, const union cell *cells)
{
    if (listing->is_json) {
        listing->json.flat = true;
        json_open(&listing->json, NULL, '{');
        for (size_t i = 0; i < listing->count; i++)
            if (!is_left_out(listing, i))
                put_json(&listing->json, listing->columns[i].key, listing->columns[i].kind,
                         cells[i]);
        json_close(&listing->json, '}');
        listing->json.flat = false;
        return;
    }
    for (size_t i = 0; i < listing->count; i++) {
        struct term_text text = cell_text(listing->columns[i].kind, cells[i]);

        print_cell(listing, i, text.text, text.columns);
    }
    fputc('\n', listing->stream);
}

void listing_close_table(struct listing *listing, uint64_t more)
{
    if (listing->is_json)
        json_close(&listing->json, ']');
    else if (more)
        fprintf(listing->stream, "%s more (--top=N shows N)\n", term_number(more).text);
}
