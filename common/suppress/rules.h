/* rules.h - rules that say which leaks are known: read from text, asked about a stack.
 *
 * Three forms, which may stand in one file. LeakSanitizer's:
 *     leak:pattern      a part of a frame's function, source file or module
 * where * stands for anything, ^ in front and $ at the end for the ends of the name. Valgrind's:
 *     {
 *        name
 *        Memcheck:Leak
 *        match-leak-kinds: definite
 *        fun:malloc
 *        ...
 *        fun:_ZN5cache3addEv
 *     }
 * whose frames are the stack's, innermost first, as far as they go; * and ? in names. Blocks of
 * other tools, or about other errors, are passed over, as Valgrind does with ours:
 *     {
 *        name
 *        libleak:Leak
 *        signature=0123456789abcdef
 *        count<=10
 *        bytes<=4096
 *        expires=2027-01-31
 *        reason=kept until the next release
 *     }
 * which may name frames and leak kinds, too, and needs a signature or a frame. All must hold. #
 * begins a comment.
 */
#ifndef COMMON_SUPPRESS_RULES_H
#define COMMON_SUPPRESS_RULES_H

#include "common/base/arena.h"
#include "common/model/model.h"

#define RULES_LINE_MAX 4096 /* characters */

/* A line of Valgrind's: which frame. */
struct rule_frame {
    enum { RULE_FRAMES, RULE_FUNCTION, RULE_OBJECT, RULE_SOURCE } what; /* FRAMES: any number */
    const char *pattern;
    uint32_t line; /* of the source, 0 = any */
};

struct rule_made {
    struct rule rule;           /* first: what a record names is found again */
    struct verdict_total total; /* kept quiet by it in one process; suppress.c's */
    bool used;                  /* in any */
    const char *glob;           /* LeakSanitizer's; NULL = a block, and then: */
    struct rule_frame *frames;
    size_t frame_count;
    bool verdicts[VERDICT_MAX];
    /* Of ours alone. */
    bool has_signature;
    uint64_t signature;
    uint64_t most_blocks, most_bytes; /* of a record, UINT64_MAX = any */
    bool expired;                     /* then it fits nothing */
};

struct rules {
    struct rule_made **made; /* in the order of the text */
    size_t count;
    const char *trouble; /* "FILE:LINE: what is wrong", of the first mistake; NULL = none */
};

/* What is wrong is left out. `where` names the text. Everything lives in mem. */
struct rules rules_read(struct mem *mem, const char *where, const char *text, size_t length);

/* A rule of LeakSanitizer's: does it name this frame? */
bool rules_match_frame(const struct rule_made *made, const struct frame *frame);
/* A block: is it about this record? */
bool rules_match_record(const struct rule_made *made, const struct record *record);
/* For who asks many blocks at once. Places of a stack are numbered: 0 is the allocator that
 * Valgrind's have in front, 1 the innermost frame. */
struct rule_name {
    int what; /* as of a rule_frame */
    const char *name;
    uint32_t line;
};
#define RULES_NAMES 24
/* All that a place may be called. */
size_t rules_names_at(const struct record *record, size_t i, struct rule_name names[RULES_NAMES]);
bool rules_match_name(const struct rule_frame *wanted, const struct rule_name *name);
/* An allocator stands in the stack itself, or (carved blocks) at no place: then rules may begin at
 * place 1, as well. */
bool rules_begins_later(const struct record *record);

/* Is a record of this verdict a leak in LeakSanitizer's words? */
bool rules_is_leak(enum verdict verdict);

/* * is any text, and with `one` ? any character. */
bool rules_glob(const char *pattern, const char *text, bool one);

#endif
