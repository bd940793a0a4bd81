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
 * whose frames must match the first frames of the stack, innermost first; * and ? are wildcards.
 * Blocks of other Valgrind tools, or about other errors, are skipped. libleak's own form, which
 * Valgrind skips:
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
 * managed_by= names the memory manager that frees the blocks of a rule, so that a report counts
 * them as "not judged". A rule in this form may also list frames and leak kinds; it needs a
 * signature or a frame, and all its conditions must hold. # begins a comment.
 *
 * Generated suppressions may have a rule for each of a hundred thousand records, so
 * rules_index_find() does not try rules one by one. It finds signatures and LeakSanitizer
 * patterns without a wildcard in hash tables, and rules with frames in a tree. There a rule is a
 * path from the root, with one edge for each frame, and rules share equal beginnings. It finds
 * the same rule as rules_match_frame() and rules_match_record() tried in the order of the text.
 */
#ifndef COMMON_SUPPRESS_RULES_H
#define COMMON_SUPPRESS_RULES_H

#include "common/base/arena.h"
#include "common/model/model.h"

#define RULES_LINE_MAX 4096 /* most characters of a line */

/* A frame line of a rule in Valgrind's or libleak's form. */
struct rule_frame {
    /* RULE_FRAMES stands for "...", which matches any number of frames. */
    enum { RULE_FRAMES, RULE_FUNCTION, RULE_OBJECT, RULE_SOURCE } what;
    const char *pattern;
    uint32_t line; /* line in the source file, 0 = any */
};

struct loaded_rule {
    struct rule rule;           /* first member, since record->suppressed_by points to it */
    struct verdict_total total; /* the blocks that the rule suppressed in the current process;
                                 * suppress.c counts them */
    bool used;                  /* the rule suppressed something, in any process */
    const char *glob;           /* a LeakSanitizer pattern as a glob; NULL = a rule with frames,
                                 * which the next members describe */
    struct rule_frame *frames;
    size_t frame_count;
    bool verdicts[VERDICT_MAX];
    /* The conditions from here on exist only in libleak's own form of a suppression. */
    bool has_signature;
    uint64_t signature;
    uint64_t most_blocks, most_bytes; /* limits for the blocks and bytes of a record, UINT64_MAX
                                       * = any */
    bool expired;                     /* the rule is expired and matches nothing */
};

struct rules {
    struct loaded_rule **made; /* the rules, in the order of the text */
    size_t count;
    const char *trouble; /* the first error: "FILE:LINE: error"; NULL = none */
};

/* Parses rules; skips what is wrong. `where` names the text in messages. Everything lives in
 * mem. */
struct rules rules_parse(struct arena *mem, const char *where, const char *text, size_t length);

/* Says whether a LeakSanitizer rule matches a frame. */
bool rules_match_frame(const struct loaded_rule *made, const struct frame *frame);
/* Says whether a rule in Valgrind's or libleak's form matches a record. */
bool rules_match_record(const struct loaded_rule *made, const struct record *record);

/* A name of a place in a stack. Place 0 is the allocator, with which Valgrind's stacks begin;
 * place 1 is the innermost frame of the record, and so on. */
struct rule_name {
    int what; /* RULE_FUNCTION, RULE_OBJECT or RULE_SOURCE */
    const char *name;
    uint32_t line;
};
#define RULE_NAMES_MAX 24
/* Lists all names that a place in a record's stack may have. Returns their number. */
size_t rules_place_names(const struct record *record, size_t i,
                         struct rule_name names[RULE_NAMES_MAX]);
bool rules_match_name(const struct rule_frame *wanted, const struct rule_name *name);
/* Says whether rules may also begin at the second frame, because the allocator is the record's
 * first frame or, for a block from a pool, there is no allocator in its stack. */
bool rules_may_skip_allocator(const struct record *record);

/* Says whether LeakSanitizer would call blocks with this verdict leaked. */
bool verdict_is_leak(enum verdict verdict);

/* Says whether a text matches a pattern, in which * is any text and, with `one`, ? is any
 * character. */
bool glob_match(const char *pattern, const char *text, bool one);

/* ---- The index of rules ---------------------------------------------------------------------- */

struct rules_index;

/* Builds an index. The index and its cache of frames live in mem; the rules must outlive it. */
struct rules_index *rules_index_begin(struct arena *mem, const struct rules *rules);
void rules_index_end(struct rules_index *index);

/* Finds the rule that suppresses a record. First it tries LeakSanitizer rules on every frame,
 * innermost first, then the other rules. NULL = none. */
struct loaded_rule *rules_index_find(struct rules_index *index, const struct record *record);

#endif
