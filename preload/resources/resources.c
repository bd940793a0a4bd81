#include "preload/resources/resource_records.h"
#include "preload/resources/handle_table.h"
#include "preload/resources/descriptors.h"
#include "preload/elf/link_map.h"
#include "preload/base/log.h"
#include "preload/base/strbuf.h"
#include "preload/resources/mmap_regions.h"
#include "preload/track/track.h"

/* Set of types that are recorded: bit 1 << enum leak_resource_type. */
static uint32_t types_tracked;

bool resource_is_tracked(enum leak_resource_type type)
{
    return types_tracked >> type & 1;
}

void resource_track(uint32_t types)
{
    types_tracked |= types;
}

bool resource_parse_types(const char *list, size_t length, uint32_t *out)
{
    static const char *const words[] = {NULL,
#define X(name, word, ...) word,
                                        LEAK_RESOURCE_TABLE(X)
#undef X
    };
    return parse_word_set(list, length, words, ARRAY_LENGTH(words), out);
}

void resources_start(struct guard *guard)
{
    const char *list = options_current.track;
    uint32_t types;
    if (!resource_parse_types(list, strlen(list), &types)) {
#define X(name, word, ...) word ", "
        log_bad_value("track", list, LEAK_RESOURCE_TABLE(X) "or none; none of them is tracked");
#undef X
        return;
    }
    if (types >> LEAK_RESOURCE_MMAP & 1 && !mmap_regions_start())
        types &= ~(1u << LEAK_RESOURCE_MMAP);
    if (types >> LEAK_RESOURCE_FD & 1)
        descriptors_start(guard);
    resource_track(types);
}

void resources_resolve_libraries(void)
{
    if (resource_is_tracked(LEAK_RESOURCE_DL))
        handle_table_resolve_libraries(link_map_find_object);
}

void resources_sync(void)
{
    resources_resolve_libraries();
    if (resource_is_tracked(LEAK_RESOURCE_FD))
        descriptors_sync();
}
