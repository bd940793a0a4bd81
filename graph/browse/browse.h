/* browse.h - implements leakgraph browse, which shows on a terminal the tree of owners, and single
 * blocks with the pointers to and from them.
 */
#ifndef GRAPH_BROWSE_H
#define GRAPH_BROWSE_H

#include "graph/browse/pages.h"

/* Implements the command; returns when the user leaves the browser. */
int verb_browse(struct verb_run *run);

#endif
