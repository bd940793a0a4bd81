#include "preload/follow/block_name.h"
#include "preload/contexts/context_tree.h"
#include "preload/contexts/sites.h"
#include "preload/interpose/modules.h"
#include "preload/store/fork_chain.h"

/* A block's number may be smaller than the one in its name by a part of that number, and some
 * more. */
#define SLACK_PART 16
#define SLACK_MORE 16

#define HASH_DIGITS 16

const char *block_name_parse_decimal(const char *text, const char *end, uint32_t *out)
{
    uint64_t number = 0;
    const char *at = text;
    for (; at < end && *at >= '0' && *at <= '9' && number <= UINT32_MAX; at++)
        number = 10 * number + (*at - '0');
    *out = number;
    return at > text && number <= UINT32_MAX ? at : NULL;
}

static const char *parse_hash(const char *text, const char *end, uint64_t *out)
{
    const char *digits = "0123456789abcdef", *digit;
    *out = 0;
    if (end - text < HASH_DIGITS)
        return NULL;
    for (end = text + HASH_DIGITS; text < end; text++) {
        if (!(digit = memchr(digits, *text, 16)))
            return NULL;
        *out = *out << 4 | (digit - digits);
    }
    return *out ? text : NULL;
}

/* Parses a thread, "T1", and finds the character behind it. NULL: the text has another form. */
static const char *parse_thread(const char *at, const char *end, uint32_t *out)
{
    if (at >= end || *at != 'T')
        return NULL;
    at = block_name_parse_decimal(at + 1, end, out);
    return at && at < end ? at : NULL;
}

/* Parses the process of a followed block: nothing for the program, "T1.3/" for the child that its
 * first thread forked third, "T1.3/T1.1/" for the first child of that one. Returns the text behind
 * it; NULL: it has another form. *here: it is this process. */
static const char *parse_forks(const char *at, const char *end, bool *here)
{
    struct leak_fork fork;
    uint32_t depth = 0;
    const char *next;
    for (*here = true; (next = parse_thread(at, end, &fork.thread)) && *next == '.'; depth++) {
        at = block_name_parse_decimal(next + 1, end, &fork.count);
        if (!at || at >= end || *at++ != '/')
            return NULL;
        *here &=
            depth < LEAK_FORKS_MOST && memcmp(&fork, &fork_chain.forks[depth], sizeof fork) == 0;
    }
    *here &= depth == fork_chain.depth;
    return at;
}

const char *block_name_parse(const char *text, const char *end, struct block_name *out, bool *here)
{
    const char *at = parse_forks(text, end, here);
    *out = (struct block_name){0};
    if (!at || !(at = parse_thread(at, end, &out->thread)) || *at != '#' ||
        !(at = block_name_parse_decimal(at + 1, end, &out->count)) || !out->count)
        return NULL;
    return at < end && *at == '~' ? parse_hash(at + 1, end, &out->stack) : at;
}

/* Hashes the call stack of a site, independently of the addresses at which objects are loaded.
 * libleak's own frames, which no report has, do not count. */
static uint64_t hash_stack(struct guard *guard, uint32_t site)
{
    uint64_t hash = 0;
    unsigned count = 0;
    uint32_t id = sites_node(site);
    struct leak_node node;
    struct module_view module;
    while (count < LEAK_FOLLOWED_STACK && context_tree_next(&id, &node)) {
        uintptr_t pc = node.pc & LEAK_PC_MOST;
        if (modules_is_own(pc))
            continue;
        bool found = modules_find(guard, pc - 1, &module) && module.map;
        hash = leak_followed_hash(hash, found ? pc - 1 - module.map->l_addr : pc);
        count++;
    }
    return hash;
}

bool block_name_fits(struct guard *guard, struct block_name *name, const struct block *block)
{
    if (!name->stack)
        return block->count == name->count && block->thread == (uint16_t)name->thread;
    uint32_t slack = name->count / SLACK_PART + SLACK_MORE;
    bool is_thread = name->thread == 1 ? block->thread == 1 : block->thread != 1;
    if (!is_thread || block->count + (uint64_t)slack < name->count || block->site == name->other)
        return false;
    if (hash_stack(guard, block->site) == name->stack)
        return true;
    name->other = block->site;
    return false;
}
