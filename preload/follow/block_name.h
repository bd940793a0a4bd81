/* block_name.h - the names of followed blocks in follow_blocks=.
 *
 * T1#4213 is the 4213th allocation of thread 1; T1.3/T1#4213 is one of the fork child that thread 1
 * forked third (fork_chain.h). T1#4213~HASH is for a program that makes some more
 * or some fewer allocations in each run: it is the first block whose call stack has this hash
 * (LEAK_FOLLOWED_STACK) and whose number is not much smaller. Of another thread than the first one,
 * it may be a block of any thread but the first, since such threads may share their work otherwise
 * in each run. */
#ifndef PRELOAD_FOLLOW_BLOCK_NAME_H
#define PRELOAD_FOLLOW_BLOCK_NAME_H

#include "preload/base/reentry_guard.h"
#include "preload/blocks/block.h"

struct block_name {
    uint32_t thread, count;
    uint64_t stack; /* hash of the block's call stack; 0: the number alone names the block */
    uint32_t other; /* a site whose stack has another hash; 0: none is known */
};

/* Parses a name at the beginning of a text. Returns the end of the name; NULL: it has another form.
 * *here: the block is one of this process. */
const char *block_name_parse(const char *text, const char *end, struct block_name *out, bool *here);
/* Parses a number at the beginning of a text. Returns its end; NULL: there is none. */
const char *block_name_parse_decimal(const char *text, const char *end, uint32_t *out);
/* Says whether the block may have this name. */
bool block_name_fits(struct guard *guard, struct block_name *name, const struct block *block);

#endif
