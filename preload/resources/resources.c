#include "preload/resources/resources.h"
#include "preload/resources/handle_table.h"
#include "preload/resources/descriptors.h"
#include "preload/elf/module_lookup.h"
#include "preload/base/log.h"
#include "preload/resources/mmap_regions.h"
#include "preload/track/track.h"

void resources_start(struct guard *guard)
{
    const char *list = track_options.track;
    uint32_t types;
    if (!records_read_types(list, strlen(list), &types)) {
        log_bad_value("track", list,
                      "fd, file, dir, mmap, dl, thread, or none; none of them is tracked");
        return;
    }
    if (types >> LEAK_RESOURCE_MMAP & 1 && !regions_start())
        types &= ~(1u << LEAK_RESOURCE_MMAP);
    if (types >> LEAK_RESOURCE_FD & 1)
        descriptors_start(guard);
    records_tracked = types;
}

void resources_settle_libraries(void)
{
    if (records_track(LEAK_RESOURCE_DL))
        belongings_settle(loaded_find);
}

void resources_settle(void)
{
    resources_settle_libraries();
    if (records_track(LEAK_RESOURCE_FD))
        descriptors_settle();
}

/* From the outermost lock inwards. */
void resources_fork_lock(void)
{
    regions_fork_lock();
    belongings_fork_lock();
    descriptors_fork_lock();
    records_fork_lock();
}

void resources_fork_unlock(void)
{
    records_fork_unlock();
    descriptors_fork_unlock();
    belongings_fork_unlock();
    regions_fork_unlock();
}

void resources_fork_child(void)
{
    records_fork_child();
    descriptors_fork_child();
    belongings_fork_child();
    regions_fork_child();
}
