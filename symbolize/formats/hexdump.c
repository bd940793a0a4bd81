/* hexdump.c - writes the contents of blocks as hexadecimal bytes; described in formats.h. */
#include "symbolize/formats/formats.h"

#include <inttypes.h>

#include "common/encode/encode.h"

static const char *plural_suffix(uint64_t number)
{
    return number == 1 ? "" : "s";
}

static void write_sample(const struct record *record, const struct sample *sample, FILE *stream)
{
    fprintf(stream, "Leak of %" PRIu64 " byte%s", sample->size, plural_suffix(sample->size));
    if (sample->address)
        fprintf(stream, " at 0x%" PRIx64, sample->address);
    fprintf(stream, " (T%u#%u, %s, %s)", (unsigned)sample->thread.serial, (unsigned)sample->count,
            kind_word[record->kind], verdict_word[record->verdict]);
    if (!sample->content || !sample->length)
        fputs(", content not recorded", stream);
    else if (sample->length < sample->size)
        fprintf(stream, ", the first %zu", sample->length);
    putc('\n', stream);
    if (sample->content)
        hex_dump(sample->content, sample->length, 4, stream);
}

static void write_hexdump_record(const struct record *record, FILE *stream)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < record->sample_count; i++) {
        bytes += record->samples[i].size;
        write_sample(record, &record->samples[i], stream);
    }
    if (record->blocks > record->sample_count && record->bytes >= bytes)
        fprintf(stream, "Leak of %" PRIu64 " byte%s more in %" PRIu64 " block%s, not shown\n",
                record->bytes - bytes, plural_suffix(record->bytes - bytes),
                record->blocks - record->sample_count,
                plural_suffix(record->blocks - record->sample_count));
}

void hexdump_write(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];
        size_t left = view->top ? view->top : SIZE_MAX;

        for (size_t k = 0; k < process->record_count && left; k++) {
            const struct record *record = &process->records[k];

            if (!view->show[record->verdict] || (record->suppressed_by && !view->suppressed))
                continue;
            write_hexdump_record(record, stream);
            left--;
        }
    }
}
