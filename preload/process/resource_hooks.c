#include "preload/process/resource_hooks.h"
#include "preload/process/process.h"

void note_descriptor(const struct frame *caller, int fd, enum leak_sort sort, const char *name)
{
    struct news news = {.sort = sort, .name = name, .id = fd};
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    descriptors_came(guard, caller, &news);
    guard_leave(guard);
}

void note_pair(const struct frame *caller, const int *ends, enum leak_sort sort, const char *name,
               const char *other_name)
{
    struct news one = {.sort = sort, .name = name, .id = ends[0]};
    struct news other = {
        .sort = sort, .flags = LEAK_RESOURCE_SECOND, .name = other_name, .id = ends[1]};
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    descriptors_came(guard, caller, &one);
    descriptors_came(guard, caller, &other);
    guard_leave(guard);
}

void note_copy(const struct frame *caller, int fd, int copy, bool onto)
{
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    descriptors_came_like(guard, caller, fd, copy, onto);
    guard_leave(guard);
}

void note_close(const struct frame *caller, int fd, uint64_t stamp, bool bad)
{
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    if (bad)
        descriptors_bad(guard, caller, fd, stamp);
    else
        descriptors_went(guard, caller, fd, stamp);
    guard_leave(guard);
}

void note_close_range(const struct frame *caller, unsigned first, unsigned last)
{
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    descriptors_range_went(guard, caller, first, last);
    guard_leave(guard);
}

void note_address(const struct frame *caller, int fd, const void *address, size_t length,
                  enum leak_name_form sort)
{
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    descriptors_address(guard, fd, address, length, sort);
    guard_leave(guard);
}

/* ---- Streams -------------------------------------------------------------------------------- */

void note_stream(const struct frame *caller, enum leak_resource_type type, enum leak_sort sort,
                 const void *stream, int fd, const char *name, bool like)
{
    struct leak_resource descriptor;
    struct news news = {
        .type = type, .sort = sort, .name = name, .id = (uintptr_t)stream, .fd = fd};
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    if (like && descriptors_find(fd, &descriptor)) {
        news.name = descriptor.name_length ? descriptor.name : NULL;
        news.length = descriptor.name_length;
        news.name_form = descriptor.name_form;
    }
    struct leak_mark mark = records_mark(guard, caller);
    belongings_came(guard, &news, mark);
    if (records_track(LEAK_RESOURCE_FD) && fd >= 0 &&
        !(like && descriptors_own(guard, fd, news.id)))
        descriptors_came_with(guard, mark, fd, news.id);
    guard_leave(guard);
}

struct note_leaving note_leaving(const struct frame *caller, enum leak_resource_type type,
                                 const void *stream)
{
    struct note_leaving leaving = {.stream.number = 0};
    struct guard *guard = process_enter(caller);
    if (!guard)
        return leaving;
    leaving.stream = belongings_find(type, (uintptr_t)stream);
    if (leaving.stream.number && leaving.stream.fd >= 0 && records_track(LEAK_RESOURCE_FD)) {
        descriptors_check_owner(guard, caller, leaving.stream.fd, &leaving.stream);
        leaving.stamp = descriptors_stamp(leaving.stream.fd);
    }
    guard_leave(guard);
    return leaving;
}

void note_left(const struct frame *caller, const struct note_leaving *leaving)
{
    struct guard *guard = leaving->stream.number ? process_enter(caller) : NULL;
    if (!guard)
        return;
    belongings_went(guard, &leaving->stream);
    if (leaving->stream.fd >= 0 && records_track(LEAK_RESOURCE_FD))
        descriptors_went(guard, caller, leaving->stream.fd, leaving->stamp);
    guard_leave(guard);
}
