/* generate_suppressions.c - writes suppressions for the listed records; described in formats.h and
 * rules.h.
 *
 * Names come from untrusted programs: bytes that would end a line, that are no character, or that
 * have a meaning in patterns, are written as the wildcard of the syntax.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <string.h>

#include "leak_store.h"
#include "common/view/format_api.h"
#include "common/base/hashmap.h"
#include "common/suppress/rules.h"
#include "common/base/term_text.h"

/* most bytes of a name in a pattern; '*' replaces the rest */
#define PATTERN_MOST (RULES_LINE_MAX - 64)
/* most frames of a suppression; Valgrind's stacks have at most 12 frames by default */
#define VALGRIND_FRAMES 10

struct generating {
    FILE *stream;
    /* hashes of the suppressions that were written: each is written only once */
    struct hashmap written;
};

typedef void suppression_writer(struct generating *generating, const struct record *record);

static bool is_fresh(struct generating *generating, uint64_t hash)
{
    bool fresh;

    hashmap_put(&generating->written, hash, &fresh);
    return fresh;
}

/* Writes a name as a part of a pattern. odd: the wildcard for characters that cannot be written.
 * special: characters with a meaning in patterns. */
static void write_pattern_name(const char *name, char odd, const char *special, FILE *stream)
{
    const char *begin = name;

    while (*name && name - begin < PATTERN_MOST) {
        char shown[LEAK_ESCAPE_SIZE];
        size_t length = leak_escape(name, shown);
        bool plain = strncmp(name, shown, length) == 0; /* leak_escape() changed nothing */
        bool edge = *name == ' ' && (name == begin || !name[1]);

        if (plain && !edge && !strchr(special, *name))
            fwrite(name, 1, length, stream);
        else
            /* one wildcard for each byte, because Valgrind compares bytes */
            for (size_t i = 0; i < length; i++)
                putc(odd, stream);
        name += length;
    }
    if (*name)
        putc('*', stream);
}

/* Writes a record in one line: "480 bytes in 10 blocks lost, allocated in make_book
 * (0123456789abcdef)". */
static void write_suppressed_record(const struct record *record, FILE *stream)
{
    const struct frame *title = record_title_frame(record);
    char buffer[FRAME_NAME_SIZE];
    const char *name = title ? frame_name(title, buffer) : "[no stack]";

    fprintf(stream, "%s in %s %s, ", term_count(record->bytes, "byte").text,
            term_count(record->blocks, "block").text, verdict_words[record->verdict]);
    fprintf(stream, "allocated in %s (%016" PRIx64 ")", term_text(name, strlen(name), 60).text,
            record->signature);
}

/* ---- Suppressions for LeakSanitizer ---------------------------------------------------------- */

static void write_lsan_pattern(const struct frame *frame, FILE *stream)
{
    const char *name = frame->function ? frame->function : frame->module;

    bool whole = strlen(name) < PATTERN_MOST;

    fputs("leak:^", stream);
    write_pattern_name(name, '*', "$^", stream);
    fputs(whole ? "$\n" : "\n", stream);
}

static void write_lsan_suppression(struct generating *generating, const struct record *record)
{
    const struct frame *title = record_title_frame(record);
    const char *name = title && title->function ? title->function : title ? title->module : NULL;

    fputs("# ", generating->stream);
    write_suppressed_record(record, generating->stream);
    putc('\n', generating->stream);
    if (!verdict_is_leak(record->verdict))
        fputs("#   not a leak for LeakSanitizer: its syntax has no rule for it\n",
              generating->stream);
    else if (!name || !*name)
        fputs("#   no function name to match\n", generating->stream);
    else if (is_fresh(generating, hash_text(1, name, strlen(name))))
        write_lsan_pattern(title, generating->stream);
    else
        fputs("#   see above\n", generating->stream);
}

/* ---- Suppressions for Valgrind --------------------------------------------------------------- */

/* Returns a pattern for the allocation function, with which Valgrind's stacks begin. NULL: the
 * block comes from an allocator of the program; Valgrind's stack begins with the same frame as
 * libleak's, so no pattern must be added. */
static const char *allocator_of(uint32_t kind)
{
    switch (kind) {
    case LEAK_KIND_MALLOC:
        return "*alloc*";
    case LEAK_KIND_NEW:
    case LEAK_KIND_ALIGNED_NEW:
        return "_Znw*";
    case LEAK_KIND_NEW_ARRAY:
    case LEAK_KIND_ALIGNED_NEW_ARRAY:
        return "_Zna*";
    case LEAK_KIND_MEMALIGN:
        return "*align*";
    case LEAK_KIND_CUSTOM:
    case LEAK_KIND_POOL:
        return NULL;
    default:
        return "*";
    }
}

static const char *leak_kind_of(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_LOST:
    case VERDICT_HIDDEN:
        return "definite";
    case VERDICT_INDIRECT:
        return "indirect";
    case VERDICT_POSSIBLE:
        return "possible";
    case VERDICT_REACHABLE:
        return "reachable";
    default:
        return "all";
    }
}

/* Says whether the pattern should match a name that only contains this one: Valgrind may show a
 * longer name of a C++ function whose symbol libleak does not know. C functions have only one
 * name. */
static bool is_partly_named(const struct frame *frame)
{
    size_t length = frame->file ? strlen(frame->file) : 0;

    return !frame->symbol && !frame->inlined && length > 2 &&
           strcmp(frame->file + length - 2, ".c") != 0;
}

/* Writes a pattern for a library. The file name that libleak records has a version, that of
 * Valgrind has none, so the pattern ends before the version. */
static void write_object_pattern(const char *module, FILE *stream)
{
    const char *name = base_name(module);
    const char *version = strstr(name, ".so.");

    fputs("   obj:*/", stream);
    for (; *name && (!version || name < version + 3); name++)
        putc(*name > ' ' && (unsigned char)*name < 0x7f ? *name : '?', stream);
    fputs(version ? "*\n" : "\n", stream);
}

static void write_frame_pattern(const struct frame *frame, FILE *stream)
{
    const char *name = frame->symbol ? frame->symbol : frame->function;
    const char *part = name && strcmp(name, "main") != 0 && is_partly_named(frame) ? "*" : "";

    if (!name && frame->module) {
        write_object_pattern(frame->module, stream);
        return;
    }
    fprintf(stream, "   %s:%s", name ? "fun" : "obj", part);
    write_pattern_name(name ? name : "*", '?', "", stream);
    fprintf(stream, "%s\n", part);
}

/* Says whether the frame is the last one to write. Valgrind's stacks end at main, and Valgrind
 * names the frames further out than start_thread differently. */
static bool is_start(const struct frame *frame)
{
    return frame->function &&
           (strcmp(frame->function, "main") == 0 || strcmp(frame->function, "start_thread") == 0);
}

static void write_valgrind_suppression(struct generating *generating, const struct record *record)
{
    size_t first = frame_first_caller(record->frames, record->frame_count);
    FILE *stream = generating->stream;

    fputs("{\n   ", stream);
    write_suppressed_record(record, stream);
    fputs("\n   Memcheck:Leak\n", stream);
    fprintf(stream, "   match-leak-kinds: %s\n", leak_kind_of(record->verdict));
    if (allocator_of(record->kind))
        fprintf(stream, "   fun:%s\n", allocator_of(record->kind));
    if (first)
        fputs("   ...\n", stream);
    for (size_t i = first; i < record->frame_count && i < first + VALGRIND_FRAMES; i++) {
        write_frame_pattern(record->frames[i], stream);
        if (is_start(record->frames[i]))
            break;
    }
    fputs("}\n", stream);
}

/* ---- Suppressions for libleak ---------------------------------------------------------------- */

static void write_libleak_suppression(struct generating *generating, const struct record *record)
{
    FILE *stream = generating->stream;

    if (!is_fresh(generating, hash_mix(2, record->signature)))
        return;
    fputs("{\n   ", stream);
    write_suppressed_record(record, stream);
    fprintf(stream, "\n   libleak:Leak\n   signature=%016" PRIx64 "\n", record->signature);
    fprintf(stream, "   # count<=%" PRIu64 "\n   # bytes<=%" PRIu64 "\n", record->blocks,
            record->bytes);
    fputs("   # expires=YYYY-MM-DD\n   # reason=\n}\n", stream);
}

/* ---- Writing the suppressions of a report ---------------------------------------------------- */

static void generate_rules(const struct report *report, const struct view *view, FILE *stream,
                           suppression_writer *write)
{
    struct generating generating = {.stream = stream};

    for (size_t i = 0; i < report->process_count; i++) {
        struct listing listing = {.process = &report->processes[i], .view = view, .owners = true};
        const struct record *record;

        while (report->processes[i].alike == i && (record = listing_next(&listing))) {
            /* blocks that the C and C++ runtime keeps are no leaks */
            if (record->verdict == VERDICT_RUNTIME)
                continue;
            if (record->frame_count)
                write(&generating, record);
            else
                fputs("# a record without a stack: no function name to match\n", stream);
        }
    }
    hashmap_end(&generating.written);
}

void generate_lsan(const struct report *report, const struct view *view, FILE *stream)
{
    generate_rules(report, view, stream, write_lsan_suppression);
}

void generate_valgrind(const struct report *report, const struct view *view, FILE *stream)
{
    generate_rules(report, view, stream, write_valgrind_suppression);
}

void generate_libleak(const struct report *report, const struct view *view, FILE *stream)
{
    generate_rules(report, view, stream, write_libleak_suppression);
}
