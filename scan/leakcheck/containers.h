/* containers.h - recognizes containers to which programs point behind a header: those heuristics of
 * a leak check (docs/SNAPSHOTS.md) that need only the memory.
 *
 * A chunk of malloc does not say how many bytes were requested: for a block of N bytes at least N -
 * 15, for the smallest blocks perhaps less. So a container that fills its block may end up to 15
 * bytes before the block's end. */
#ifndef SCAN_CONTAINERS_H
#define SCAN_CONTAINERS_H

#include "scan/image/objects.h"

/* A block, and the offset in it to which a pointer points: 0 < offset <= size. */
struct container_place {
    uint64_t address, size, offset;
    unsigned word; /* size in bytes of the program's words, 8 or 4 */
    const uint8_t *bytes;
};

/* Says whether a pointer to this place counts as a pointer to the start of the block. */
bool container_is_held(const struct objects *objects, const struct container_place *place);

#endif
