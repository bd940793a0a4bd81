/* downsample.h - which of a fixed number of points in time gives way to a new one.
 *
 * While there are free places they are taken in turn. Then the point goes whose absence shows
 * least: the one with the smallest
 *
 *     (time of the next one - time of the one before) * (1 / age + EVEN / (age of the first one))
 *
 * The first part alone makes the spacing proportional to the age, so that there are as many points
 * in the last minute as in the hour around it; the second spreads others evenly over the whole
 * life. The first point and the last one stay. Pure: knows nothing of what is kept at a place.
 */
#ifndef PRELOAD_BASE_DOWNSAMPLE_H
#define PRELOAD_BASE_DOWNSAMPLE_H

#include "preload/base/base.h"

#define THIN_MOST 256
#define THIN_EVEN 8

struct thin {
    uint32_t room; /* at most THIN_MOST */
    uint32_t count;
    uint8_t place[THIN_MOST]; /* by time */
    uint32_t tick[THIN_MOST]; /* likewise, ascending */
};

/* The place for a point of that time; SIZE_MAX when it is no later than the last one. */
size_t thin_place(struct thin *thin, uint32_t tick);

static inline uint32_t thin_last(const struct thin *thin)
{
    return thin->count ? thin->tick[thin->count - 1] : 0;
}

#endif
