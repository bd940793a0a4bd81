/* text_tags.c - see text_tags.h.
 *
 *     under the tag mesh                                 all of it is
 *
 *     under the tag mesh: 4,096 bytes in 3 blocks        some of it
 *     under the tag scene: 96 bytes in 1 block
 */
#include "symbolize/text/text_tags.h"

#include <string.h>

#include "symbolize/records/sampling_error.h"
#include "common/view/text_frame.h"

#define TAGS_TOLD 3 /* without -v */
#define NAME_COLUMNS 24

static void write_tag(const struct tag_sum *sum, const struct record *all, int indent,
                      const struct view *view, FILE *stream)
{
    size_t columns = view->verbose || view->full_names ? 0 : NAME_COLUMNS;

    fprintf(stream, "%*sunder the tag %s", indent, "",
            term_text(sum->name, strlen(sum->name), columns).text);
    if (sum->blocks != all->blocks || sum->bytes != all->bytes)
        fprintf(stream, ": %s in %s", estimate_bytes(sum->bytes, all->error.bytes).text,
                estimate_count(sum->blocks, all->error.blocks, "block").text);
    putc('\n', stream);
}

void text_tags(const struct tag_sums *sums, const struct record *all, int indent,
               const struct view *view, FILE *stream)
{
    size_t told = view->verbose || sums->count <= TAGS_TOLD + 1 ? sums->count : TAGS_TOLD;

    for (size_t i = 0; i < told; i++)
        write_tag(&sums->sum[i], all, indent, view, stream);
    if (told < sums->count)
        fprintf(stream, "%*sand under %s (-v lists them)\n", indent, "",
                term_count(sums->count - told, "more tag").text);
}
