/* rules.h - suppression rules: parsed from text, matched against call stacks.
 *
 * A file may mix three forms. LeakSanitizer's:
 *     leak:pattern      matches a part of a frame's function, source file or module
 * where * is a wildcard, ^ in front and $ at the end anchor the pattern. Valgrind's:
 *     {
 *        name
 *        Memcheck:Leak
 *        match-leak-kinds: definite
 *        fun:malloc
 *        ...
 *        fun:_ZN5cache3addEv
 *     }
 * whose frames match the stack from the innermost frame on, as far as they go; * and ? are
 * wildcards. Blocks of other tools, or about other errors, are skipped, as Valgrind skips these:
 *     {
 *        name
 *        libleak:Leak
 *        signature=0123456789abcdef
 *        count<=10
 *        bytes<=4096
 *        expires=2027-01-31
 *        reason=kept until the next release
 *        managed_by=a garbage collector
 *     }
 * managed_by= says who frees the blocks of a rule, so that a report counts them as "not judged".
 * A libleak block may also list frames and leak kinds; it needs a signature or a frame. All its
 * conditions must hold. # begins a comment.
 *
 * Generated suppressions are one rule for each of a hundred thousand records, so rules_index_find()
 * does not try them one by one: it looks signatures up in a hash table, LeakSanitizer patterns
 * without a wildcard by the name, and blocks in a tree in which a rule is a path from the root, one
 * edge for each frame, and equal beginnings are shared. Its answer equals that of
 * rules_match_frame() and rules_match_record(), tried in the order of the text.
 */
#ifndef COMMON_SUPPRESS_RULES_H
#define COMMON_SUPPRESS_RULES_H

#include "common/base/arena.h"
#include "common/model/model.h"

#define RULES_LINE_MAX 4096 /* characters */

/* One frame line of a suppression in Valgrind's form. */
struct rule_frame {
    enum { RULE_FRAMES, RULE_FUNCTION, RULE_OBJECT, RULE_SOURCE } what; /* FRAMES: any number */
    const char *pattern;
    uint32_t line; /* of the source, 0 = any */
};

struct loaded_rule {
    struct rule rule;           /* first: record->suppressed_by points to it */
    struct verdict_total total; /* what it suppressed in one process; owned by suppress.c */
    bool used;                  /* in any process */
    const char *glob;           /* a LeakSanitizer pattern; NULL = a block, described by: */
    struct rule_frame *frames;
    size_t frame_count;
    bool verdicts[VERDICT_MAX];
    /* These conditions exist only in libleak's own form of a suppression. */
    bool has_signature;
    uint64_t signature;
    uint64_t most_blocks, most_bytes; /* of a record, UINT64_MAX = any */
    bool expired;                     /* an expired rule matches nothing */
};

struct rules {
    struct loaded_rule **made; /* in the order of the text */
    size_t count;
    const char *trouble; /* "FILE:LINE: error", the first one; NULL = none */
};

/* Skips what is wrong. `where` names the text in messages. Everything lives in mem. */
struct rules rules_parse(struct arena *mem, const char *where, const char *text, size_t length);

/* Does a LeakSanitizer rule match this frame? */
bool rules_match_frame(const struct loaded_rule *made, const struct frame *frame);
/* Does a block match this record? */
bool rules_match_record(const struct loaded_rule *made, const struct record *record);

/* The index matches names place by place. Place 0 of a stack is the allocator, which Valgrind's
 * stacks begin with; place 1 is the innermost frame. */
struct rule_name {
    int what; /* as in struct rule_frame */
    const char *name;
    uint32_t line;
};
#define RULE_NAMES_MAX 24
/* All names that a place may have. */
size_t rules_place_names(const struct record *record, size_t i,
                         struct rule_name names[RULE_NAMES_MAX]);
bool rules_match_name(const struct rule_frame *wanted, const struct rule_name *name);
/* Says whether rules may also begin at the second frame: the stack itself has the allocator as its
 * first frame, or the block comes from a pool and has none. */
bool rules_may_skip_allocator(const struct record *record);

/* Does LeakSanitizer call records of this verdict leaks? */
bool verdict_is_leak(enum verdict verdict);

/* * matches any text; with `one`, ? matches any character. */
bool glob_match(const char *pattern, const char *text, bool one);

/* ---- Index ----------------------------------------------------------------------------------- */

struct rules_index;

/* The index and its cache of frames live in mem; the rules must outlive it. */
struct rules_index *rules_index_begin(struct arena *mem, const struct rules *rules);
void rules_index_end(struct rules_index *index);

/* The rule that suppresses a record: first LeakSanitizer rules, tried on every frame, innermost
 * first; then blocks. NULL = none. */
struct loaded_rule *rules_index_find(struct rules_index *index, const struct record *record);

#endif
