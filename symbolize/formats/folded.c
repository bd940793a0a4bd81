/* folded.c - stacks for flame graphs; see formats.h.
 *
 * Frames are distinguished by name, so records whose stacks have equal names share a line. A name
 * is one word: characters that would end it, or the line, are replaced.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/view/format_api.h"
#include "common/base/hashmap.h"
#include "common/base/arena.h"
#include "common/base/term_text.h"

/* A stack of one process, with the sum of its records. */
struct line {
    const struct record *record; /* a record with this stack */
    const struct process *process;
    uint64_t sum;
};

struct folding {
    const struct view *view;
    bool blocks;             /* sum blocks instead of bytes */
    bool many;               /* several processes: each is a root */
    struct hashmap by_names; /* hash of a stack's names -> index + 1 */
    struct line *lines;
    size_t count, capacity;
    struct hashmap name_hashes; /* frame -> hash of its name */
};

/* ---- Adding up ------------------------------------------------------------------------------- */

static uint64_t hash_name(struct folding *folding, const struct frame *frame)
{
    bool fresh;
    uint64_t *slot = hashmap_put(&folding->name_hashes, (uintptr_t)frame, &fresh);

    if (fresh) {
        char buffer[FRAME_NAME_SIZE];
        const char *name = frame_name(frame, buffer);

        *slot = hash_text(1, name, strlen(name));
    }
    return *slot;
}

static size_t first_frame(const struct folding *folding, const struct record *record)
{
    return folding->view->all_frames ? 0 : frame_first_caller(record->frames, record->frame_count);
}

static void add_to_line(struct folding *folding, const struct process *process,
                        const struct record *record)
{
    uint64_t key = hash_mix(2, folding->many ? (uintptr_t)process : 0), *slot;
    struct line *line;

    for (size_t i = first_frame(folding, record); i < record->frame_count; i++)
        key = hash_mix(key, hash_name(folding, record->frames[i]));
    slot = hashmap_put(&folding->by_names, key, NULL);
    if (!*slot) {
        folding->lines = array_grow(folding->lines, &folding->capacity, folding->count + 1,
                                    sizeof(*folding->lines));
        folding->lines[folding->count++] = (struct line){record, process, 0};
        *slot = folding->count;
    }
    line = &folding->lines[*slot - 1];
    line->sum = add_saturating(line->sum, folding->blocks ? record->blocks : record->bytes);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Some reader takes the character for the end of a frame, a word or a line. */
static bool is_separator(const char *at, size_t length)
{
    const unsigned char *byte = (const unsigned char *)at;

    if (length == 1)
        return *byte == ' ' || *byte == ';' || (*byte >= '\t' && *byte <= '\r');
    if (length == 2) /* the space of Latin-1 */
        return byte[0] == 0xc2 && byte[1] == 0xa0;
    return length == 3 && byte[0] == 0xe2 && byte[1] == 0x80 && /* other spaces */
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

static void write_folded_line(const struct folding *folding, const struct line *line, FILE *stream)
{
    const struct record *record = line->record;
    size_t first = first_frame(folding, record);

    if (folding->many) {
        const char *exe = base_name(line->process->exe);

        write_folded_name(exe ? exe : "unknown", stream);
        fprintf(stream, "[%" PRId32 "];", line->process->pid);
    }
    for (size_t i = record->frame_count; i > first; i--) {
        char buffer[FRAME_NAME_SIZE];

        write_folded_name(frame_name(record->frames[i - 1], buffer), stream);
        if (i > first + 1)
            putc_unlocked(';', stream);
    }
    if (!record->frame_count)
        fputs("[no_stack]", stream);
    fprintf(stream, " %" PRIu64 "\n", line->sum);
}

static void write_all(const struct report *report, struct folding *folding, FILE *stream)
{
    folding->many = report->process_count > 1;
    for (size_t i = 0; i < report->process_count; i++) {
        struct listing listing = {.process = &report->processes[i], .view = folding->view};
        const struct record *record;

        while ((record = listing_next(&listing)))
            add_to_line(folding, &report->processes[i], record);
    }
    for (size_t i = 0; i < folding->count; i++)
        if (folding->lines[i].sum) /* a graph of bytes has no blocks of size 0 */
            write_folded_line(folding, &folding->lines[i], stream);
    hashmap_end(&folding->by_names);
    hashmap_end(&folding->name_hashes);
    free(folding->lines);
}

void folded_write(const struct report *report, const struct view *view, FILE *stream)
{
    write_all(report, &(struct folding){.view = view}, stream);
}

void folded_write_blocks(const struct report *report, const struct view *view, FILE *stream)
{
    write_all(report, &(struct folding){.view = view, .blocks = true}, stream);
}
