/* text_blocks.c - see text_blocks.h.
 *
 *     shop (pid 42) has these blocks:
 *
 *     lost      0x561bd3b4dbd0      119 bytes  T1#20     f  /opt/shop/shop.c:2
 *
 *     Listed: 1 block of 119 bytes, of 4 blocks of 464 bytes.
 *     3 blocks, 345 bytes in all, are known only by the sums of their records, or left out by
 *     --top: a look keeps the largest few of each line.
 *
 * A look keeps the largest blocks of each line it finds; all others it only adds up.
 */
#include "symbolize/text/text_blocks.h"

#include <inttypes.h>

#include "symbolize/view/view.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text_head.h"

#define NAME_COLUMNS 24

struct sums {
    uint64_t known_blocks, known_bytes, blocks, bytes;
};

static void write_block(const struct record *record, const struct sample *sample,
                        const struct view *view, FILE *stream)
{
    const struct frame *frame = record_title_frame(record);
    char serial[40], address[24] = "";

    if (sample->address)
        snprintf(address, sizeof(address), "0x%" PRIx64, sample->address);
    snprintf(serial, sizeof(serial), "T%" PRIu32 "#%" PRIu32, sample->thread.serial, sample->count);
    fprintf(stream, "%-9s %-15s %13s  %-9s", verdict_word[record->verdict], address,
            term_count(sample->size, "byte").text, serial);
    if (frame) {
        fprintf(stream, " %s",
                text_function_name(frame, view, view->verbose ? 0 : NAME_COLUMNS).text);
        fprintf(stream, "  %s", text_place(frame, view).text);
    }
    putc('\n', stream);
}

/* top: records, as elsewhere. */
static struct sums write_records(const struct process *process, const struct view *view,
                                 FILE *stream)
{
    struct sums sums = {0};
    size_t listed = 0;

    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];

        if (record->suppressed_by || !group_by_includes(view, record->verdict))
            continue;
        sums.blocks = add_saturating(sums.blocks, record->blocks);
        sums.bytes = add_saturating(sums.bytes, record->bytes);
        if (view->quiet || (view->top && listed >= view->top))
            continue;
        listed++;
        for (size_t k = 0; k < record->sample_count; k++) {
            sums.known_blocks++;
            sums.known_bytes = add_saturating(sums.known_bytes, record->samples[k].size);
            write_block(record, &record->samples[k], view, stream);
        }
    }
    return sums;
}

static void write_sums(const struct sums *sums, bool sampled, FILE *stream)
{
    const char *about = sampled ? "about " : "";
    uint64_t blocks = sums->blocks - sums->known_blocks;
    uint64_t bytes = sums->bytes > sums->known_bytes ? sums->bytes - sums->known_bytes : 0;

    if (sums->known_blocks)
        putc('\n', stream);
    fprintf(stream, "Listed: %s", term_count(sums->known_blocks, "block").text);
    fprintf(stream, " of %s", term_count(sums->known_bytes, "byte").text);
    fprintf(stream, ", of %s%s", about, term_count(sums->blocks, "block").text);
    fprintf(stream, " of %s.\n", term_count(sums->bytes, "byte").text);
    if (sums->blocks <= sums->known_blocks)
        return;
    fprintf(stream, "%s%s, ", about, term_count(blocks, "block").text);
    fprintf(stream,
            "%s in all, %s known only by the sums of their records, or left out by\n"
            "--top: a look keeps the largest few of each line.\n",
            term_count(bytes, "byte").text, blocks == 1 ? "is" : "are");
}

void text_blocks(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];
        struct sums sums;

        if (report_omits_process(process, view))
            continue;
        text_name(process, false, stream);
        fputs("has these blocks:\n\n", stream);
        sums = write_records(process, view, stream);
        write_sums(&sums, process->sample > 1, stream);
        putc('\n', stream);
    }
}
