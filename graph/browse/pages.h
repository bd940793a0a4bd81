/* pages.h - what the browser shows, without a terminal: a page is rows, each of which opens another
 * page. Three kinds: owners (the groups of one level of the tree of dominators), the blocks of a
 * group, and one block with the way to it, what points to it and what it points to. */
#ifndef GRAPH_PAGES_H
#define GRAPH_PAGES_H

#include "graph/analyze/owner_tree.h"
#include "graph/analyze/root_paths.h"
#include "graph/verbs/verbs.h"

enum page_kind { PAGE_OWNERS, PAGE_BLOCKS, PAGE_BLOCK };
enum row_kind { ROW_HEADING, ROW_PLAIN, ROW_GROUP, ROW_BLOCK };

struct page_row {
    enum row_kind kind;
    uint32_t number;  /* of the group or block */
    const char *text; /* of the arena of the names */
};

struct page {
    enum page_kind kind;
    const char *title, *facts, *heading;
    struct page_row *row;
    size_t count, room;
    struct owner_groups groups; /* of OWNERS */
};

struct pages {
    struct verb_run *run;
    struct dominators dominators;
    struct owner_question question;
    struct root_tree tree;
};

struct pages pages_begin(struct verb_run *run);
void pages_end(struct pages *pages);

#define PAGE_ROWS_MOST 2000 /* of a part of a page; a row says how many more there are */

struct page page_of_top(struct pages *pages);
/* What the blocks of a group of an OWNERS page hold, and the blocks themselves. */
struct page page_below(struct pages *pages, const struct page *owners, uint32_t group);
struct page page_of_members(struct pages *pages, const struct page *owners, uint32_t group);
struct page page_of_block(struct pages *pages, uint32_t block);
void page_end(struct page *page);

#endif
