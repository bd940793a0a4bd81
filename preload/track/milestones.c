#include "preload/track/milestones.h"
#include "preload/base/base.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/track/track.h"

#include <time.h>

/* Index of the last of the LEAK_MILESTONES records, which only milestones_add_known uses. */
#define KNOWN_PLACE (LEAK_MILESTONES - 1)

/* LEAK_MILESTONES records in the recording file; NULL: none was made so far. */
static struct leak_milestone *places;
static uint32_t last_number;
static uint32_t placed_count; /* number of milestones ever written to records before KNOWN_PLACE */

/* Returns the array of records, whose chunk the first call makes; NULL: the file has no room. If
 * two threads make the chunk at the same time, one of the two chunks stays empty. */
static struct leak_milestone *ensure_places(void)
{
    struct leak_milestone *there = load_acquire(&places), *expected = NULL;
    if (there)
        return there;
    there = store_new_chunk_in_file(LEAK_CHUNK_MILESTONES, LEAK_MILESTONES * sizeof *there, 0);
    if (there && !cas_acquire(&places, &expected, there))
        there = expected;
    return there;
}

uint32_t milestones_begin_tick(void)
{
    track_tick();
    return __atomic_add_fetch(&store_header->epoch, 1, __ATOMIC_RELAXED);
}

static uint32_t add_milestone(const char *name, bool known)
{
    struct leak_milestone *there = ensure_places();
    if (!there)
        return 0;
    uint32_t number = __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED);
    /* other milestones use the records before KNOWN_PLACE in turn, so that the oldest is
     * replaced */
    there += known ? KNOWN_PLACE
                   : (__atomic_add_fetch(&placed_count, 1, __ATOMIC_RELAXED) - 1) % KNOWN_PLACE;
    store_relaxed(&there->number, 0);
    struct strbuf text = STRBUF_ON(there->name);
    strbuf_add(&text, name ? name : "");
    there->is_look = !name;
    there->is_known = known;
    there->when_ns = sys_clock_ns(CLOCK_REALTIME);
    there->tick = milestones_begin_tick();
    store_release(&there->number, number);
    return number;
}

uint32_t milestones_add(const char *name)
{
    return add_milestone(name, false);
}

uint32_t milestones_add_known(void)
{
    return add_milestone(LEAK_MILESTONE_KNOWN, true);
}

uint32_t milestones_sorted(struct leak_milestone *out)
{
    const struct leak_milestone *there = load_acquire(&places);
    uint32_t count = 0;
    for (uint32_t i = 0; there && i < LEAK_MILESTONES; i++) {
        uint32_t at = count;
        if (!load_acquire(&there[i].number))
            continue;
        for (; at && out[at - 1].tick > there[i].tick; at--)
            out[at] = out[at - 1];
        out[at] = there[i];
        count++;
    }
    return count;
}

void milestones_fork_child(void)
{
    places = NULL;
    last_number = placed_count = 0;
}
