/* folded.c - writes stacks for flame graphs; described in formats.h.
 *
 * Frames are distinguished by name, so records whose stacks have equal names share a line. A name
 * must be one word: characters that would end the word or the line are replaced.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>

#include "common/base/term_text.h"
#include "symbolize/profile/profile.h"

/* ---- Writing one stack ----------------------------------------------------------------------- */

/* Says whether a program that reads the format may take the character for the end of a frame, a
 * word or a line. */
static bool is_separator(const char *at, size_t length)
{
    const unsigned char *byte = (const unsigned char *)at;

    if (length == 1)
        return *byte == ' ' || *byte == ';' || (*byte >= '\t' && *byte <= '\r');
    if (length == 2) /* U+00A0, the only space with two bytes in UTF-8 */
        return byte[0] == 0xc2 && byte[1] == 0xa0;
    /* U+2000 to U+200A and U+202F are spaces, too */
    return length == 3 && byte[0] == 0xe2 && byte[1] == 0x80 &&
           (byte[2] <= 0x8a || byte[2] == 0xaf);
}

static void write_folded_name(const char *name, FILE *stream)
{
    while (*name) {
        char shown[LEAK_ESCAPE_SIZE];
        size_t length = leak_escape(name, shown);

        if (is_separator(name, length))
            putc_unlocked(*name == ';' ? ':' : '_', stream);
        else
            fputs_unlocked(shown, stream);
        name += length;
    }
}

static void write_folded_process(const struct process *process, FILE *stream)
{
    const char *exe = base_name(process->exe);

    write_folded_name(exe ? exe : "unknown", stream);
    fprintf(stream, "[%" PRId32 "];", process->pid);
}

static void write_folded_stack(const struct heap_profile *profile,
                               const struct profile_stack *stack, uint64_t sum, FILE *stream)
{
    if (profile->many)
        write_folded_process(stack->process, stream);
    for (size_t i = stack->count; i > 0; i--) {
        char buffer[FRAME_NAME_SIZE];

        write_folded_name(frame_name(stack->frames[i - 1], buffer), stream);
        if (i > 1)
            putc_unlocked(';', stream);
    }
    if (stack->label)
        fputs(stack->label, stream);
    fprintf(stream, " %" PRIu64 "\n", sum);
}

static void write_folded(const struct report *report, const struct view *view, bool blocks,
                         FILE *stream)
{
    struct heap_profile profile = heap_profile_begin(report, view, false);

    for (size_t i = 0; i < profile.count; i++) {
        const struct amount *amount = &profile.stacks[i].of[view->weight];
        uint64_t sum = blocks ? amount->blocks : amount->bytes;

        if (sum) /* a stack may have only blocks of size 0, which a graph of bytes does not show */
            write_folded_stack(&profile, &profile.stacks[i], sum, stream);
    }
    heap_profile_end(&profile);
}

void folded_write(const struct report *report, const struct view *view, FILE *stream)
{
    write_folded(report, view, false, stream);
}

void folded_write_blocks(const struct report *report, const struct view *view, FILE *stream)
{
    write_folded(report, view, true, stream);
}
