/* generate.c - see generate.h and rules.h.
 *
 * Names come from programs nobody vouches for: what would end a line, or is no character, is
 * written as the wildcard of the syntax, and so is what means something to a reader of patterns.
 */
#include "symbolize/formats/generate.h"

#include <inttypes.h>
#include <string.h>

#include "leak_store.h"
#include "common/view/format_api.h"
#include "common/base/hashmap.h"
#include "common/suppress/rules.h"
#include "common/base/text.h"

#define PATTERN_MOST (RULES_LINE_MAX - 64) /* bytes of a name */
#define VALGRIND_FRAMES 10                 /* its stacks have 12 unless told otherwise */

struct generating {
    FILE *stream;
    struct map written; /* hash of what was: each is written once */
};

typedef void write_one(struct generating *generating, const struct record *record);

static bool is_fresh(struct generating *generating, uint64_t hash)
{
    bool fresh;

    hashmap_put(&generating->written, hash, &fresh);
    return fresh;
}

/* A name as a part of a pattern. odd: what stands for characters that cannot be written. */
static void write_name(const char *name, char odd, const char *special, FILE *stream)
{
    const char *begin = name;

    while (*name && name - begin < PATTERN_MOST) {
        size_t length = utf8_char_length(name);
        bool plain = length && (unsigned char)*name >= ' ' && *name != 0x7f;
        bool edge = *name == ' ' && (name == begin || !name[1]);

        if (plain && !edge && !strchr(special, *name))
            fwrite(name, 1, length, stream);
        else
            putc(odd, stream);
        name += length ? length : 1;
    }
    if (*name)
        putc('*', stream);
}

/* "480 bytes in 10 blocks lost, allocated in make_book (0123456789abcdef)" */
static void write_what(const struct record *record, FILE *stream)
{
    const struct frame *title = record_title_frame(record);
    char buffer[FRAME_NAME_SIZE];
    const char *name = title ? frame_name(title, buffer) : "[no stack]";

    fprintf(stream, "%s in ", term_count(record->bytes, "byte").text);
    fprintf(stream, "%s %s, ", term_count(record->blocks, "block").text,
            verdict_words[record->verdict]);
    fprintf(stream, "allocated in %s (%016" PRIx64 ")", term_text(name, strlen(name), 60).text,
            record->signature);
}

/* ---- LeakSanitizer's ------------------------------------------------------------------------ */

static void lsan_pattern(const struct frame *frame, FILE *stream)
{
    const char *name = frame->function ? frame->function : frame->module;

    bool whole = strlen(name) < PATTERN_MOST;

    fputs("leak:^", stream);
    write_name(name, '*', "$^", stream);
    fputs(whole ? "$\n" : "\n", stream);
}

static void lsan_one(struct generating *generating, const struct record *record)
{
    const struct frame *title = record_title_frame(record);
    const char *name = title && title->function ? title->function : title ? title->module : NULL;

    fputs("# ", generating->stream);
    write_what(record, generating->stream);
    putc('\n', generating->stream);
    if (!verdict_is_leak(record->verdict))
        fputs("#   is no leak to LeakSanitizer: its files cannot name it\n", generating->stream);
    else if (!name || !*name)
        fputs("#   has no name to go by\n", generating->stream);
    else if (is_fresh(generating, hash_text(1, name, strlen(name))))
        lsan_pattern(title, generating->stream);
    else
        fputs("#   see above\n", generating->stream);
}

/* ---- Valgrind's ----------------------------------------------------------------------------- */

/* NULL: Valgrind's stack begins as ours does, in the program's own allocator. */
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

/* DWARF names some functions of C++ otherwise than linkers do, who are not asked what the source
 * says: what is no C and has one name only is a part of the other. */
static bool is_partly_named(const struct frame *frame)
{
    size_t length = frame->file ? strlen(frame->file) : 0;

    return !frame->symbol && !frame->inlined && length > 2 &&
           strcmp(frame->file + length - 2, ".c") != 0;
}

/* Libraries have their version behind the name here, and not there. */
static void valgrind_object(const char *module, FILE *stream)
{
    const char *name = base_name(module);
    const char *version = strstr(name, ".so.");

    fputs("   obj:*/", stream);
    for (; *name && (!version || name < version + 3); name++)
        putc(*name > ' ' && (unsigned char)*name < 0x7f ? *name : '?', stream);
    fputs(version ? "*\n" : "\n", stream);
}

static void valgrind_frame(const struct frame *frame, FILE *stream)
{
    const char *name = frame->symbol ? frame->symbol : frame->function;
    const char *part = name && strcmp(name, "main") != 0 && is_partly_named(frame) ? "*" : "";

    if (!name && frame->module) {
        valgrind_object(frame->module, stream);
        return;
    }
    fprintf(stream, "   %s:%s", name ? "fun" : "obj", part);
    write_name(name ? name : "*", '?', "", stream);
    fprintf(stream, "%s\n", part);
}

/* Below main Valgrind tells nothing, and below a thread's start something else than we do. */
static bool is_start(const struct frame *frame)
{
    return frame->function &&
           (strcmp(frame->function, "main") == 0 || strcmp(frame->function, "start_thread") == 0);
}

static void valgrind_one(struct generating *generating, const struct record *record)
{
    size_t first = frame_first_caller(record->frames, record->frame_count);
    FILE *stream = generating->stream;

    fputs("{\n   ", stream);
    write_what(record, stream);
    fputs("\n   Memcheck:Leak\n", stream);
    fprintf(stream, "   match-leak-kinds: %s\n", leak_kind_of(record->verdict));
    if (allocator_of(record->kind))
        fprintf(stream, "   fun:%s\n", allocator_of(record->kind));
    if (first)
        fputs("   ...\n", stream);
    for (size_t i = first; i < record->frame_count && i < first + VALGRIND_FRAMES; i++) {
        valgrind_frame(record->frames[i], stream);
        if (is_start(record->frames[i]))
            break;
    }
    fputs("}\n", stream);
}

/* ---- Ours ----------------------------------------------------------------------------------- */

static void libleak_one(struct generating *generating, const struct record *record)
{
    FILE *stream = generating->stream;

    if (!is_fresh(generating, hash_mix(2, record->signature)))
        return;
    fputs("{\n   ", stream);
    write_what(record, stream);
    fprintf(stream, "\n   libleak:Leak\n   signature=%016" PRIx64 "\n", record->signature);
    fprintf(stream, "   # count<=%" PRIu64 "\n   # bytes<=%" PRIu64 "\n", record->blocks,
            record->bytes);
    fputs("   # expires=YYYY-MM-DD\n   # reason=\n}\n", stream);
}

/* ---- All of them ---------------------------------------------------------------------------- */

static void generate(const struct report *report, const struct view *view, FILE *stream,
                     write_one *write)
{
    struct generating generating = {.stream = stream};

    for (size_t i = 0; i < report->process_count; i++) {
        struct listing listing = {.process = &report->processes[i], .view = view, .owners = true};
        const struct record *record;

        while (report->processes[i].alike == i && (record = listing_next(&listing))) {
            if (record->verdict == VERDICT_RUNTIME) /* never counts as a leak */
                continue;
            if (record->frame_count)
                write(&generating, record);
            else
                fputs("# what has no stack has no name to go by\n", stream);
        }
    }
    hashmap_end(&generating.written);
}

void generate_lsan(const struct report *report, const struct view *view, FILE *stream)
{
    generate(report, view, stream, lsan_one);
}

void generate_valgrind(const struct report *report, const struct view *view, FILE *stream)
{
    generate(report, view, stream, valgrind_one);
}

void generate_libleak(const struct report *report, const struct view *view, FILE *stream)
{
    generate(report, view, stream, libleak_one);
}
