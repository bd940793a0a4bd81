/* rules.c - does a rule fit? See rules.h. */
#include "symbolize/rules.h"

#include <string.h>

#include "leak_store.h"

/* ---- Patterns ------------------------------------------------------------------------------- */

bool rules_glob(const char *pattern, const char *text, bool one)
{
    const char *star = NULL, *resume = NULL; /* behind the last *, and where its text may end */

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

/* ---- Matching ------------------------------------------------------------------------------- */

bool rules_is_leak(enum verdict verdict)
{
    return verdict != VERDICT_REACHABLE && verdict != VERDICT_RUNTIME;
}

bool rules_match_frame(const struct rule_made *made, const struct frame *frame)
{
    const char *const names[] = {frame->function, frame->file, frame->module};

    for (size_t i = 0; made->glob && i < sizeof(names) / sizeof(*names); i++)
        if (names[i] && *names[i] && rules_glob(made->glob, names[i], false))
            return true;
    return false;
}

static bool is_like(const struct rule_frame *wanted, const char *name)
{
    return rules_glob(wanted->pattern, name && *name ? name : "???", true);
}

static bool match_place(const struct rule_frame *wanted, const struct frame *frame)
{
    switch (wanted->what) {
    case RULE_FUNCTION:
        return is_like(wanted, frame->function) ||
               (frame->symbol && is_like(wanted, frame->symbol));
    case RULE_OBJECT:
        return is_like(wanted, frame->module);
    case RULE_SOURCE:
        return (!wanted->line || wanted->line == frame->line) &&
               (is_like(wanted, frame->file) || is_like(wanted, base_name(frame->file)));
    default:
        return false;
    }
}

/* Valgrind's stacks begin in its own malloc; ours in what called it. */
static bool match_allocator(const struct rule_frame *wanted, uint32_t kind)
{
    static const struct {
        uint32_t kind;
        const char *name;
    } names[] = {
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

    if (wanted->what == RULE_OBJECT)
        return is_like(wanted, "/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so") ||
               is_like(wanted, "/usr/libexec/valgrind/vgpreload_memcheck-arm64-linux.so");
    if (wanted->what == RULE_SOURCE)
        return !wanted->line && is_like(wanted, "vg_replace_malloc.c");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if ((!kind || names[i].kind == kind) && is_like(wanted, names[i].name))
            return true;
    return false;
}

/* Of the record's stack with the allocator in front, which is number 0. */
static bool match_at(const struct rule_frame *wanted, const struct record *record, size_t i)
{
    return i ? match_place(wanted, record->frames[i - 1]) : match_allocator(wanted, record->kind);
}

/* The frames from number `from` on begin as the rule says; what comes after them does not count. */
static bool match_frames(const struct rule_made *made, const struct record *record, size_t from)
{
    size_t star = 0, resume = 0, wanted = 0; /* as in rules_glob; star: 0 = none yet */

    for (size_t at = from;;) {
        if (wanted == made->frame_count)
            return true;
        if (made->frames[wanted].what == RULE_FRAMES) {
            star = ++wanted;
            resume = at;
        } else if (at <= record->frame_count && match_at(&made->frames[wanted], record, at)) {
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

static bool is_small_enough(const struct rule_made *made, const struct record *record)
{
    return record->blocks <= made->most_blocks && record->bytes <= made->most_bytes;
}

bool rules_match_record(const struct rule_made *made, const struct record *record)
{
    if (made->glob || made->expired || !made->verdicts[record->verdict])
        return false;
    if (!is_small_enough(made, record))
        return false;
    if (made->has_signature && made->signature != record->signature)
        return false;
    if (!made->frame_count || match_frames(made, record, 0))
        return true;
    /* An allocator that stands in the stack itself: then there it begins. */
    return record->frame_count && record->frames[0]->role == FRAME_ALLOCATOR &&
           match_frames(made, record, 1);
}
