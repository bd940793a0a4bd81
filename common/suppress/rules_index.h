/* rules_index.h - the first of many rules that fits a record, without asking each of them.
 *
 * Suppressions that were generated are a rule for each of a hundred thousand records, and no more
 * than a few have to do with any one. Those with a signature are found by it; LeakSanitizer's
 * without a wildcard by the name; blocks by the way down a tree: a rule is a path from its root, an
 * edge for each of its frames, and equal beginnings are shared. The answer is that of
 * rules_match_frame() and rules_match_record(), asked in the order of the text.
 */
#ifndef COMMON_SUPPRESS_RULES_INDEX_H
#define COMMON_SUPPRESS_RULES_INDEX_H

#include "common/suppress/rules.h"

struct rules_index;

/* Lives in mem, and what it learns of frames while it is asked; the rules must not go before it. */
struct rules_index *rules_index_begin(struct mem *mem, const struct rules *rules);
void rules_index_end(struct rules_index *index);

/* LeakSanitizer's are asked about every frame, the innermost first, before the blocks; NULL = none.
 */
struct rule_made *rules_index_find(struct rules_index *index, const struct record *record);

#endif
