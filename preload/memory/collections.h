/* collections.h - binary search, a growable array, a set of address ranges, a set of points in
 * time.
 *
 * None of their functions locks. */
#ifndef PRELOAD_MEMORY_COLLECTIONS_H
#define PRELOAD_MEMORY_COLLECTIONS_H

#include "preload/base/sys.h"

/* ---- Binary search -------------------------------------------------------------------------- */

/* Finds the lowest index in [0, count) for which is_below is false; count if there is none.
 * is_below is an expression of the variable `index`, true for a (possibly empty) first part of the
 * array and false for the rest:
 *
 *     size_t first = LOWER_BOUND(count, i, table[i].address < address); */
#define LOWER_BOUND(length, index, is_below)                                                       \
    ({                                                                                             \
        size_t low_ = 0, high_ = (length);                                                         \
        while (low_ < high_) {                                                                     \
            size_t index = low_ + (high_ - low_) / 2;                                              \
            if (is_below)                                                                          \
                low_ = index + 1;                                                                  \
            else                                                                                   \
                high_ = index;                                                                     \
        }                                                                                          \
        low_;                                                                                      \
    })

/* Sorts an array by a numeric member of its elements (Shell sort): for a few thousand elements that
 * are nearly in order. */
#define SORT_BY(list, length, member)                                                              \
    do {                                                                                           \
        for (size_t gap_ = (length) / 2; gap_; gap_ /= 2)                                          \
            for (size_t i_ = gap_, k_; i_ < (length); i_++) {                                      \
                __auto_type item_ = (list)[i_];                                                    \
                for (k_ = i_; k_ >= gap_ && (list)[k_ - gap_].member > item_.member; k_ -= gap_)   \
                    (list)[k_] = (list)[k_ - gap_];                                                \
                (list)[k_] = item_;                                                                \
            }                                                                                      \
    } while (0)

/* ---- Growable array ------------------------------------------------------------------------- */

/* An array of records that never moves: its whole address range is reserved at the start, and the
 * kernel provides memory only as far as the array is used. Meant for the process copy in which a
 * leak check runs. */
struct growable_array {
    char *bytes;
    size_t size; /* bytes of one record */
    uint32_t count, most;
};

static inline bool growable_array_map(struct growable_array *array, size_t record, uint32_t most)
{
    *array = (struct growable_array){.size = record, .most = most};
    return (array->bytes = sys_map_lazily((size_t)most * record)) != NULL;
}

static inline void growable_array_unmap(struct growable_array *array)
{
    sys_unmap(array->bytes, (size_t)array->most * array->size);
    *array = (struct growable_array){0};
}

/* Appends count consecutive records, zeroed. Returns NULL when the address range of the array is
 * full. */
static inline void *growable_array_add_many(struct growable_array *array, uint32_t count)
{
    void *added = array->bytes + array->size * array->count;
    if (array->most - array->count < count)
        return NULL;
    array->count += count;
    return added;
}

static inline void *growable_array_add(struct growable_array *array)
{
    return growable_array_add_many(array, 1);
}

/* ---- Sets of address ranges ------------------------------------------------------------------ */

struct range {
    uintptr_t start, end;
    uint32_t number; /* the caller's id of the range */
};

/* A set of disjoint ranges in the caller's memory, sorted by falling start: the kernel maps
 * downwards, so a new range mostly goes to the end. */
struct range_set {
    struct range *at;
    uint32_t count, room;
};

/* The type of a function that is called for each range that a cut touches, with the parts that
 * remain below and above the cut; both empty: the range disappears. When both parts remain, the
 * function returns a number for the upper part, or 0 to drop that part. */
typedef uint32_t range_set_left(const struct range *was, const struct range *below,
                                const struct range *above, void *context);

/* Removes [start, end) from every range: zero, one or two parts of each remain. */
void range_set_cut(struct range_set *ranges, uintptr_t start, uintptr_t end, range_set_left *left,
                   void *context);
/* Adds a range, which must overlap no other range of the set. Returns false when the set is
 * full. */
bool range_set_insert(struct range_set *ranges, uintptr_t start, uintptr_t end, uint32_t number);
/* Finds the range that contains an address; NULL: there is none. */
const struct range *range_set_find(const struct range_set *ranges, uintptr_t address);

/* Says whether the ranges of the set are sorted, not empty and do not overlap. */
bool range_set_check(const struct range_set *ranges);

/* ---- Points in time, downsampled ------------------------------------------------------------ */

#define DOWNSAMPLE_MOST 256
#define DOWNSAMPLE_EVEN 8

/* A fixed number of points in time, each with a slot: the caller stores the data of a point in an
 * array, at the index that is the point's slot. While slots are free, a new point gets the next
 * one. After that it replaces the point that matters least, which has the smallest
 *
 *     (time of the next point - time of the previous one)
 *         * (1 / its age + DOWNSAMPLE_EVEN / age of the first point)
 *
 * The first summand alone makes the spacing proportional to the age: there are as many points in
 * the last minute as in the hour before it. The second one spreads further points evenly over the
 * whole lifetime. The first point and the last one always stay. */
struct downsample {
    uint32_t room; /* number of slots, at most DOWNSAMPLE_MOST */
    uint32_t count;
    uint8_t place[DOWNSAMPLE_MOST]; /* slots of the points, in order of time */
    uint32_t tick[DOWNSAMPLE_MOST]; /* times of the points, ascending */
};

/* Adds a point at that time and returns its slot; SIZE_MAX: nothing added, because the time is not
 * after that of the last point. */
size_t downsample_place(struct downsample *points, uint32_t tick);

static inline uint32_t downsample_last(const struct downsample *points)
{
    return points->count ? points->tick[points->count - 1] : 0;
}

#endif
