/* containers.h - containers that programs hold by a pointer behind a header: the heuristics of a
 * leak check (docs/SNAPSHOTS.md), as far as the memory alone shows them.
 *
 * malloc's chunks do not say how much was requested: of a block of N bytes at least N - 15, of the
 * smallest less. So where a container fills its block, it may end that much earlier.
 */
#ifndef SCAN_CONTAINERS_H
#define SCAN_CONTAINERS_H

#include "scan/image/objects.h"

/* A block, and where a pointer points in it: 0 < offset <= size. */
struct container_place {
    uint64_t address, size, offset;
    unsigned word; /* bytes: 8 or 4 */
    const uint8_t *bytes;
};

/* Whether the pointer holds the block as one to its start does. */
bool container_is_held(const struct objects *objects, const struct container_place *place);

#endif
