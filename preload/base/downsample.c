#include "preload/base/downsample.h"

/* In fixed point: all factors are far below 2^32. */
static uint64_t weight(const struct thin *thin, uint32_t i, uint32_t now)
{
    uint64_t gap = thin->tick[i + 1] - thin->tick[i - 1];
    uint64_t age = now - thin->tick[i], life = now - thin->tick[0];
    return (gap << 24) / age + THIN_EVEN * (gap << 24) / life;
}

static uint32_t least(const struct thin *thin, uint32_t now)
{
    uint32_t found = 1;
    uint64_t smallest = UINT64_MAX;
    for (uint32_t i = 1; i + 1 < thin->count; i++) {
        uint64_t this = weight(thin, i, now);
        if (this < smallest) {
            smallest = this;
            found = i;
        }
    }
    return found;
}

size_t thin_place(struct thin *thin, uint32_t tick)
{
    if (thin->count && tick <= thin_last(thin))
        return SIZE_MAX;
    uint8_t place = thin->count;
    if (thin->count == thin->room) {
        uint32_t gone = least(thin, tick), behind = --thin->count - gone;
        place = thin->place[gone];
        memmove(&thin->place[gone], &thin->place[gone + 1], behind * sizeof thin->place[0]);
        memmove(&thin->tick[gone], &thin->tick[gone + 1], behind * sizeof thin->tick[0]);
    }
    thin->place[thin->count] = place;
    thin->tick[thin->count++] = tick;
    return place;
}
