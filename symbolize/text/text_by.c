/* text_by.c - see text_by.h.
 *
 *     shop (pid 42) has 344 bytes in 6 blocks, by module,
 *     lost, indirect, possible, hidden, unfreed:
 *
 *       share           bytes    blocks records  module
 *      87.2 %             300         3       3  /opt/shop/liba.so
 *      12.8 %              44         3       3  /opt/shop/shop
 *
 *     Shown: 344 bytes in 6 blocks of 6 records. Rest: 0 bytes in 0 blocks of 0 records.
 */
#include "symbolize/text/text_by.h"

#include <limits.h>
#include <string.h>

#include "symbolize/view/view.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text_head.h"

#define LEFT 43 /* columns before the name */

static void write_head(const struct process *process, const struct group_by_table *table,
                       const struct view *view, FILE *stream)
{
    const char *between = "";

    text_name(process, false, stream);
    fprintf(stream, "has %s", term_count(table->all.bytes, "byte").text);
    fprintf(stream, " in %s, by %s,\n", term_count(table->all.blocks, "block").text,
            group_by_word[view->by]);
    for (int v = 0; v < VERDICT_MAX; v++)
        if (group_by_includes(view, (enum verdict)v)) {
            fprintf(stream, "%s%s", between, verdict_word[v]);
            between = ", ";
        }
    fprintf(stream, "%s:\n\n", process->sample > 1 ? "; estimated from samples" : "");
}

/* A name as the other reports have it. */
static struct shown name_of(const struct group_by_row *row, const struct view *view)
{
    const struct frame *frame = record_title_frame(row->first);
    size_t columns = view->verbose || view->full_names ? 0 : TEXT_COLUMNS - LEFT;
    char buffer[PATH_MAX];
    const char *name = row->name;

    if ((view->by == BY_FUNCTION || view->by == BY_SITE) && frame)
        return text_function_name(frame, view, columns);
    if (view->by == BY_FILE && frame && frame->file)
        name = report_display_path(view, frame->file, buffer, sizeof(buffer));
    return term_text(name, strlen(name), columns);
}

static void write_row(const struct group_by_table *table, const struct group_by_row *row,
                      const struct view *view, FILE *stream)
{
    const struct frame *frame = record_title_frame(row->first);
    int width;

    fprintf(stream, "%5.1f %%", 100 * group_by_share(table, row));
    fprintf(stream, "%16s", term_number(row->sum.bytes).text);
    fprintf(stream, "%10s", term_number(row->sum.blocks).text);
    fprintf(stream, "%8s  ", term_number(row->sum.records).text);
    fprintf(stream, "%s\n", name_of(row, view).text);
    if (view->by != BY_SITE)
        return;
    width = frame ? fprintf(stream, "%*s%s", LEFT, "", text_place(frame, view).text) : 0;
    text_signature(row->first->signature, width, view, stream);
}

static void write_part(const char *word, const struct verdict_total *part, FILE *stream)
{
    fprintf(stream, "%s: %s", word, term_count(part->bytes, "byte").text);
    fprintf(stream, " in %s", term_count(part->blocks, "block").text);
    fprintf(stream, " of %s.", term_count(part->records, "record").text);
}

static void write_process(const struct process *process, const struct view *view, FILE *stream)
{
    struct group_by_table table = group_by_make(process, view);
    struct verdict_total shown = {table.all.bytes - table.rest.bytes,
                                  table.all.blocks - table.rest.blocks,
                                  table.all.records - table.rest.records};

    write_head(process, &table, view, stream);
    text_style(view, stream, STYLE_BOLD);
    fprintf(stream, "%7s%16s%10s%8s  %s\n", "share", "bytes", "blocks", "records",
            group_by_heading[view->by]);
    text_style(view, stream, STYLE_PLAIN);
    for (size_t i = 0; i < table.shown; i++)
        write_row(&table, &table.rows[i], view, stream);
    putc('\n', stream);
    write_part("Shown", &shown, stream);
    write_part(" Rest", &table.rest, stream);
    fputs("\n\n", stream);
    group_by_end(&table);
}

void text_by(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++)
        if (!report_omits_process(&report->processes[i], view))
            write_process(&report->processes[i], view, stream);
}
