/* size_histogram.c - counts blocks by size; described in explore.h.
 *
 * The recording file has only the sum of the bytes and the number of the blocks of a stack, so all
 * blocks of a stack count as if they had the average size.
 */
#include "symbolize/explore/explore.h"

#include <inttypes.h>

#include "common/base/term_text.h"
#include "symbolize/profile/profile.h"
#include "symbolize/text/text.h"

#define CLASSES 65
#define LEFT_COLUMNS 68 /* width of the text in front of the bars */

struct histogram {
    struct amount made[CLASSES], live[CLASSES];
    /* number of blocks in the class with the most blocks, whose bar has the full length */
    uint64_t most;
};

/* Returns the size class of an amount: the class c with mean size < 1 << c; 0 when there are no
 * bytes. */
static int class_of(const struct amount *amount)
{
    uint64_t size = amount->blocks ? amount->bytes / amount->blocks : 0;

    return size ? 64 - __builtin_clzll(size) : 0;
}

static struct histogram histogram_of(const struct heap_profile *profile)
{
    struct histogram histogram = {.most = 0};

    for (size_t i = 0; i < profile->count; i++) {
        const struct amount *made = &profile->stacks[i].of[WEIGHT_ALLOCATED],
                            *live = &profile->stacks[i].of[WEIGHT_LIVE];

        amount_add(&histogram.made[class_of(made)], *made);
        amount_add(&histogram.live[class_of(live)], *live);
    }
    for (int i = 0; i < CLASSES; i++)
        if (histogram.made[i].blocks > histogram.most)
            histogram.most = histogram.made[i].blocks;
    return histogram;
}

/* Writes the range of sizes of a class: "64 to 127". */
static void write_sizes(int class, FILE *stream)
{
    uint64_t from = class ? 1ull << (class - 1) : 0;
    char text[64];

    if (class < 2)
        snprintf(text, sizeof(text), "%" PRIu64, from);
    else if (class <= 10)
        snprintf(text, sizeof(text), "%" PRIu64 " to %" PRIu64, from, 2 * from - 1);
    else
        snprintf(text, sizeof(text), "from %.40s", term_size(from).text);
    fprintf(stream, "%15s", text);
}

void histogram_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct heap_profile profile = heap_profile_begin(report, view, false);
    struct histogram histogram = histogram_of(&profile);
    uint64_t bars = text_columns(view) - LEFT_COLUMNS;

    if (report->process_count == 1)
        text_process_title(&report->processes[0], false, stream);
    else
        fprintf(stream, "%zu processes", report->process_count);
    fputs(": blocks by size (the average of each call stack)\n\n"
          "  size in bytes   allocated        bytes       live        bytes\n",
          stream);
    for (int i = 0; i < CLASSES; i++) {
        const struct amount *made = &histogram.made[i], *live = &histogram.live[i];

        if (!made->blocks && !live->blocks)
            continue;
        write_sizes(i, stream);
        fprintf(stream, " %11s %12s %10s %12s ", term_number(made->blocks).text,
                term_size(made->bytes).text, term_number(live->blocks).text,
                term_size(live->bytes).text);
        for (uint64_t bar = 0;
             histogram.most && bar < bars && bar * histogram.most < made->blocks * bars; bar++)
            putc('#', stream);
        putc('\n', stream);
    }
    heap_profile_end(&profile);
}
