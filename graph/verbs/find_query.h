/* find_query.h - parses and evaluates the condition of leakgraph find:
 *
 *     size > 1k and retained >= 1M and (site ~ "node" or not verdict = reachable)
 *     type ~ "entry" and refs = 0
 *
 * Numbers may be hexadecimal, or end in k, m or g (powers of 1024). The operator ~ means that the
 * text contains the word. Texts can only be compared by =, != and ~.
 */
#ifndef GRAPH_FIND_QUERY_H
#define GRAPH_FIND_QUERY_H

#include "graph/heap/heap_graph.h"

/* The fields of a condition: F(NAME, word, is it a text?, help) */
#define FIND_FIELD_TABLE(F)                                                                        \
    F(ADDRESS, "address", false, "of the block")                                                   \
    F(SIZE, "size", false, "of the block")                                                         \
    F(RETAINED, "retained", false, "bytes that go with it, its own included")                      \
    F(HELD, "held", false, "blocks that go with it, itself included")                              \
    F(REFS, "refs", false, "pointers to it from blocks")                                           \
    F(POINTERS, "pointers", false, "pointers in it")                                               \
    F(DISTANCE, "distance", false, "pointers from a root word to it")                              \
    F(WORD, "word", false, "its first word")                                                       \
    F(THREAD, "thread", false, "the number of the thread that allocated it")                       \
    F(SITE, "site", true, "the function, file and line that allocated it")                         \
    F(TYPE, "type", true, "what it is, as debug information tells")                                \
    F(STACK, "stack", true, "any function of its call stack")                                      \
    F(VERDICT, "verdict", true, "lost, indirect, possible, hidden or reachable")

enum find_field {
#define F(name, word, is_text, help) FIND_##name,
    FIND_FIELD_TABLE(F)
#undef F
        FIND_FIELDS
};

#define FIND_WRONG_SIZE 192
struct find_query;

/* Parses a condition. NULL: the text is wrong, and `wrong` has the reason. */
struct find_query *find_query_parse(const char *text, char wrong[FIND_WRONG_SIZE]);
void find_query_end(struct find_query *query);
/* Says whether the condition has this field. Fields that take long are computed only if they are
 * needed. */
bool find_query_has(const struct find_query *query, enum find_field field);

/* Functions that return the fields of a block. */
struct find_source {
    uint64_t (*number)(void *context, uint32_t block, enum find_field field);
    /* Says whether the field equals the word; with `contains`, whether it contains the word. */
    bool (*text)(void *context, uint32_t block, enum find_field field, const char *word,
                 bool contains);
    void *context;
};
bool find_query_matches(const struct find_query *query, const struct find_source *source,
                        uint32_t block);

#endif
