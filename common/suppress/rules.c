/* rules.c - matches a suppression rule against a record. */
#include "common/suppress/rules.h"

#include <string.h>

#include "leak_store.h"

/* ---- Patterns -------------------------------------------------------------------------------- */

bool glob_match(const char *pattern, const char *text, bool one)
{
    const char *star = NULL, *resume = NULL; /* the pattern behind the last *, and where the text
                                              * for that * ends */

    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = text;
        } else if (*text && (*pattern == *text || (one && *pattern == '?'))) {
            pattern++;
            text++;
        } else if (!*text && !*pattern) {
            return true;
        } else if (!star || !*resume) {
            return false;
        } else {
            pattern = star;
            text = ++resume;
        }
    }
}

/* ---- Matching rules -------------------------------------------------------------------------- */

bool verdict_is_leak(enum verdict verdict)
{
    return verdict != VERDICT_REACHABLE && verdict != VERDICT_RUNTIME;
}

bool rules_match_frame(const struct loaded_rule *made, const struct frame *frame)
{
    const char *const names[] = {frame->function, frame->file, frame->module};

    for (size_t i = 0; made->glob && i < sizeof(names) / sizeof(*names); i++)
        if (names[i] && *names[i] && glob_match(made->glob, names[i], false))
            return true;
    return false;
}

static struct rule_name make_name(int what, const char *name, uint32_t line)
{
    return (struct rule_name){what, name && *name ? name : "???", line};
}

static size_t names_of_frame(const struct frame *frame, struct rule_name names[RULE_NAMES_MAX])
{
    size_t count = 0;

    names[count++] = make_name(RULE_FUNCTION, frame->function, 0);
    if (frame->symbol)
        names[count++] = make_name(RULE_FUNCTION, frame->symbol, 0);
    names[count++] = make_name(RULE_OBJECT, frame->module, 0);
    names[count++] = make_name(RULE_SOURCE, frame->file, frame->line);
    names[count++] = make_name(RULE_SOURCE, base_name(frame->file), frame->line);
    return count;
}

/* Lists the names of the allocator, the first frame of Valgrind's stacks; libleak's stacks begin
 * with the caller of malloc. */
static size_t names_of_allocator(uint32_t kind, struct rule_name names[RULE_NAMES_MAX])
{
    static const struct {
        uint32_t kind;
        const char *name;
    } known[] = {
        {LEAK_KIND_MALLOC, "malloc"},
        {LEAK_KIND_MALLOC, "calloc"},
        {LEAK_KIND_MALLOC, "realloc"},
        {LEAK_KIND_MALLOC, "reallocarray"},
        {LEAK_KIND_NEW, "_Znwm"},
        {LEAK_KIND_NEW, "_ZnwmRKSt9nothrow_t"},
        {LEAK_KIND_NEW, "operator new(unsigned long)"},
        {LEAK_KIND_NEW, "operator new(unsigned long, std::nothrow_t const&)"},
        {LEAK_KIND_NEW_ARRAY, "_Znam"},
        {LEAK_KIND_NEW_ARRAY, "_ZnamRKSt9nothrow_t"},
        {LEAK_KIND_NEW_ARRAY, "operator new[](unsigned long)"},
        {LEAK_KIND_NEW_ARRAY, "operator new[](unsigned long, std::nothrow_t const&)"},
        {LEAK_KIND_ALIGNED_NEW, "_ZnwmSt11align_val_t"},
        {LEAK_KIND_ALIGNED_NEW, "_ZnwmSt11align_val_tRKSt9nothrow_t"},
        {LEAK_KIND_ALIGNED_NEW_ARRAY, "_ZnamSt11align_val_t"},
        {LEAK_KIND_ALIGNED_NEW_ARRAY, "_ZnamSt11align_val_tRKSt9nothrow_t"},
        {LEAK_KIND_MEMALIGN, "memalign"},
        {LEAK_KIND_MEMALIGN, "posix_memalign"},
        {LEAK_KIND_MEMALIGN, "aligned_alloc"},
    };
    size_t count = 0;

    _Static_assert(sizeof(known) / sizeof(*known) + 3 <= RULE_NAMES_MAX, "there is room");
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (!kind || known[i].kind == kind)
            names[count++] = make_name(RULE_FUNCTION, known[i].name, 0);
    names[count++] =
        make_name(RULE_OBJECT, "/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so", 0);
    names[count++] =
        make_name(RULE_OBJECT, "/usr/libexec/valgrind/vgpreload_memcheck-arm64-linux.so", 0);
    names[count++] = make_name(RULE_SOURCE, "vg_replace_malloc.c", 0);
    return count;
}

size_t rules_place_names(const struct record *record, size_t i,
                         struct rule_name names[RULE_NAMES_MAX])
{
    return i ? names_of_frame(record->frames[i - 1], names)
             : names_of_allocator(record->kind, names);
}

bool rules_match_name(const struct rule_frame *wanted, const struct rule_name *name)
{
    return (int)wanted->what == name->what && (!wanted->line || wanted->line == name->line) &&
           glob_match(wanted->pattern, name->name, true);
}

static bool match_place(const struct rule_frame *wanted, const struct record *record, size_t i)
{
    struct rule_name names[RULE_NAMES_MAX];
    size_t count = rules_place_names(record, i, names);

    for (size_t k = 0; k < count; k++)
        if (rules_match_name(wanted, &names[k]))
            return true;
    return false;
}

/* Says whether the frames of the record, from place `from` on (0 is the allocator), begin with
 * those of the rule. The record may have more frames. */
static bool match_frames(const struct loaded_rule *made, const struct record *record, size_t from)
{
    size_t star = 0, resume = 0, wanted = 0; /* wanted: index of the rule's next frame. star: index
                                              * behind the rule's last "..." so far, 0 = none.
                                              * resume: place where the frames for that "..." end */

    for (size_t at = from;;) {
        if (wanted == made->frame_count)
            return true;
        if (made->frames[wanted].what == RULE_FRAMES) {
            star = ++wanted;
            resume = at;
        } else if (at <= record->frame_count && match_place(&made->frames[wanted], record, at)) {
            wanted++;
            at++;
        } else if (!star || resume >= record->frame_count) {
            return false;
        } else {
            wanted = star;
            at = ++resume;
        }
    }
}

static bool is_within_limits(const struct loaded_rule *made, const struct record *record)
{
    return record->blocks <= made->most_blocks && record->bytes <= made->most_bytes;
}

bool rules_may_skip_allocator(const struct record *record)
{
    return record->kind >= LEAK_KIND_CUSTOM ||
           (record->frame_count && record->frames[0]->role == FRAME_ALLOCATOR);
}

bool rules_match_record(const struct loaded_rule *made, const struct record *record)
{
    if (made->glob || made->expired || !made->verdicts[record->verdict])
        return false;
    if (!is_within_limits(made, record))
        return false;
    if (made->has_signature && made->signature != record->signature)
        return false;
    return !made->frame_count || match_frames(made, record, 0) ||
           (rules_may_skip_allocator(record) && match_frames(made, record, 1));
}
