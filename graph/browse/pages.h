/* pages.h - makes the pages that the browser shows, without drawing them. A page is a list of rows;
 * each row opens another page. There are three kinds: owners (the groups of one level of the tree
 * of dominators), the blocks of a group, and one block with the path to it and the pointers to and
 * from it.
 */
#ifndef GRAPH_PAGES_H
#define GRAPH_PAGES_H

#include "graph/analyze/owner_tree.h"
#include "graph/analyze/root_paths.h"
#include "graph/verbs/verbs.h"

enum page_kind { PAGE_OWNERS, PAGE_BLOCKS, PAGE_BLOCK };
enum row_kind { ROW_HEADING, ROW_PLAIN, ROW_GROUP, ROW_BLOCK };

struct page_row {
    enum row_kind kind;
    uint32_t number;  /* number of the group or block that the row opens */
    const char *text; /* the text of the row; lives in the arena of the names */
};

struct page {
    enum page_kind kind;
    const char *title, *facts, *heading;
    struct page_row *row;
    size_t count, room;
    struct owner_groups groups; /* the groups that the rows of a PAGE_OWNERS show */
};

struct pages {
    struct verb_run *run;
    struct dominators dominators;
    struct owner_question question;
    struct root_tree tree;
};

struct pages pages_begin(struct verb_run *run);
void pages_end(struct pages *pages);

/* most rows in a part of a page; one more row says how many are left out */
#define PAGE_ROWS_MOST 2000

struct page page_of_top(struct pages *pages);
/* Make a page of the blocks that a group of a PAGE_OWNERS holds, and a page of the blocks in that
 * group. */
struct page page_below(struct pages *pages, const struct page *owners, uint32_t group);
struct page page_of_members(struct pages *pages, const struct page *owners, uint32_t group);
struct page page_of_block(struct pages *pages, uint32_t block);
void page_end(struct page *page);

#endif
