/* owners.h - which roots keep most alive, and how that came to be so much.
 *
 * An owner is the roots of one name. What it keeps was counted by one look, and how that grew
 * nobody counted: series are of sites. But a look says which sites an owner's blocks are of. So an
 * owner's growth is that of the sites that are its own, when they are nearly all of what it keeps;
 * where its sites are shared with others, or too small for a series, nothing is told.
 */
#ifndef SYMBOLIZE_HEAP_OWNERS_H
#define SYMBOLIZE_HEAP_OWNERS_H

#include "symbolize/heap/root_paths.h"
#include "common/sites/growth_series.h"

/* Those of a process, by falling bytes, after all its paths were told. */
void owners_fill(struct paths *paths, struct trends *trends, struct process *process);

#endif
