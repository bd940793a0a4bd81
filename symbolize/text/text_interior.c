/* text_interior.c - writes, below a record, the interior pointers that hold its blocks; described
 * in text.h. It looks like this:
 *
 *     only interior pointers: all 788 at +12, from blocks of read_table() (dict.c:7)
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CALL_COLUMNS 40

/* Writes where the pointers are: "table (dict.c:7)" if a root with a name is the only holder of the
 * record, else "variables or stacks" or the blocks. */
static void write_holder(const struct interior *interior, const struct record *record,
                         const struct view *view, FILE *stream)
{
    const struct root *root = record->path ? record->path->root : NULL;
    const struct frame *frame = interior->holder;
    char buffer[PATH_MAX];

    if (interior->root && root && record->path->count == 1)
        fputs(term_text(root->words, strlen(root->words), 0).text, stream);
    else if (interior->root)
        fputs("variables or stacks", stream);
    else
        fprintf(stream, "blocks of %s", text_call(frame, view, CALL_COLUMNS).text);
    if (!interior->root && frame && frame->file && frame->line) {
        const char *path = report_display_path(view, frame->file, buffer, sizeof(buffer));

        fprintf(stream, " (%s:%" PRIu32 ")", term_text(path, strlen(path), 0).text, frame->line);
    }
}

static void write_offset(uint64_t offset, FILE *stream)
{
    if (offset)
        fprintf(stream, "+%s", term_number(offset).text);
    else
        fputs("their start", stream);
}

/* Returns the number of blocks of the record if all interior pointers have one offset, else 0. */
static uint64_t at_one_offset(const struct record *record)
{
    uint64_t blocks = 0;

    for (size_t i = 0; i < record->interior_count; i++) {
        if (record->interiors[i].offset != record->interiors[0].offset)
            return 0;
        blocks = add_saturating(blocks, record->interiors[i].blocks);
    }
    return blocks == record->blocks ? blocks : 0;
}

/* Writes pointers with one offset: "all 788 at +12, from A and B". */
static void write_one_offset(const struct record *record, size_t shown, const struct view *view,
                             FILE *stream)
{
    if (record->blocks > 1)
        fprintf(stream, "all %s at ", term_number(record->blocks).text);
    write_offset(record->interiors[0].offset, stream);
    for (size_t i = 0; i < shown; i++) {
        fputs(i ? " and " : ", from ", stream);
        write_holder(&record->interiors[i], record, view, stream);
    }
}

/* Writes pointers with several offsets: "500 at +12, from A; 12 at +16, from B". */
static void write_offsets(const struct record *record, size_t shown, const struct view *view,
                          FILE *stream)
{
    for (size_t i = 0; i < shown; i++) {
        fprintf(stream, "%s%s at ", i ? "; " : "", term_number(record->interiors[i].blocks).text);
        write_offset(record->interiors[i].offset, stream);
        fputs(", from ", stream);
        write_holder(&record->interiors[i], record, view, stream);
    }
}

/* Says whether all recorded pointers to the record's blocks point to their start. The record is
 * then possibly lost only because the blocks that contain these pointers are. */
static bool is_held_by_possible(const struct record *record)
{
    for (size_t i = 0; i < record->interior_count; i++)
        if (record->interiors[i].offset)
            return false;
    return true;
}

void text_interior_words(const struct record *record, const struct view *view, FILE *stream)
{
    size_t shown = view->verbose || record->interior_count < 2 ? record->interior_count : 2;

    if (record->verdict == VERDICT_POSSIBLE && is_held_by_possible(record)) {
        fprintf(stream, "only possibly lost blocks of %s point to it",
                text_call(record->interiors[0].holder, view, CALL_COLUMNS).text);
        return;
    }
    fputs(record->verdict == VERDICT_POSSIBLE ? "only interior pointers: "
                                              : "held behind a header: ",
          stream);
    if (at_one_offset(record))
        write_one_offset(record, shown, view, stream);
    else
        write_offsets(record, shown, view, stream);
    if (shown < record->interior_count)
        fputs("; ...", stream);
    if (record->tagged)
        fputs(": tagged pointers?", stream);
}

/* Writes words in lines that fit the terminal; all lines but the first are indented further. */
static void write_wrapped(const char *words, FILE *stream)
{
    size_t used = TEXT_INDENT;

    fprintf(stream, "%*s", TEXT_INDENT, "");
    for (bool first = true; *words; first = false) {
        size_t length = strcspn(words, " ");
        size_t columns = term_text(words, length, 0).columns;

        if (!first && used + 1 + columns > TEXT_COLUMNS) {
            fprintf(stream, "\n%*s", TEXT_INDENT + 2, "");
            used = TEXT_INDENT + 2;
        } else if (!first) {
            putc(' ', stream);
            used++;
        }
        fwrite(words, 1, length, stream);
        used += columns;
        words += length + (words[length] == ' ');
    }
    putc('\n', stream);
}

void text_interior(const struct record *record, const struct view *view, FILE *stream)
{
    char *words = NULL;
    size_t size;
    FILE *memory = record->interior_count ? open_memstream(&words, &size) : NULL;

    if (!memory)
        return;
    text_interior_words(record, view, memory);
    fclose(memory);
    if (words)
        write_wrapped(words, stream);
    free(words);
}
