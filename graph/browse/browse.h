/* browse.h - leakgraph on a terminal: the tree of owners, and blocks with what points to them and what
 * they point to, with keys. */
#ifndef GRAPH_BROWSE_H
#define GRAPH_BROWSE_H

#include "graph/browse/pages.h"

/* A verb: returns when the user leaves. */
int verb_browse(struct verb_run *run);

#endif
