#include "preload/process/resource_hooks.h"
#include "preload/process/process.h"

void resource_hook_opened(const struct frame *caller, int fd, enum leak_sort sort, const char *name)
{
    struct news news = {.sort = sort, .name = name, .id = fd};
    WITH_GUARD_FOR(caller, descriptors_add(guard, caller, &news));
}

void resource_hook_opened_pair(const struct frame *caller, const int *ends, enum leak_sort sort,
                               const char *name, const char *other_name)
{
    struct news one = {.sort = sort, .name = name, .id = ends[0]};
    struct news other = {
        .sort = sort, .flags = LEAK_RESOURCE_SECOND, .name = other_name, .id = ends[1]};
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    descriptors_add(guard, caller, &one);
    descriptors_add(guard, caller, &other);
    guard_leave(guard);
}

void resource_hook_duplicated(const struct frame *caller, int fd, int copy, bool onto)
{
    WITH_GUARD_FOR(caller, descriptors_add_copy(guard, caller, fd, copy, onto));
}

void resource_hook_closed(const struct frame *caller, int fd, uint64_t stamp, bool bad)
{
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    if (bad)
        descriptors_bad_close(guard, caller, fd, stamp);
    else
        descriptors_close(guard, caller, fd, stamp);
    guard_leave(guard);
}

void resource_hook_closed_range(const struct frame *caller, unsigned first, unsigned last)
{
    WITH_GUARD_FOR(caller, descriptors_close_range(guard, caller, first, last));
}

void resource_hook_address(const struct frame *caller, int fd, const void *address, size_t length,
                           enum leak_name_form sort)
{
    WITH_GUARD_FOR(caller, descriptors_set_address(guard, fd, address, length, sort));
}

/* ---- Streams and objects --------------------------------------------------------------------- */

void resource_hook_stream_opened(const struct frame *caller, enum leak_resource_type type,
                                 enum leak_sort sort, const void *stream, int fd, const char *name,
                                 bool like)
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
    struct leak_mark mark = resource_mark_caller(guard, caller);
    handle_table_add(guard, &news, mark);
    if (resource_is_tracked(LEAK_RESOURCE_FD) && fd >= 0 &&
        !(like && descriptors_set_owner(guard, fd, news.id)))
        descriptors_add_owned(guard, mark, fd, news.id);
    guard_leave(guard);
}

void resource_hook_object_created(const struct frame *caller, uint64_t handle, const char *function,
                                  uint64_t bytes)
{
    struct news news = {.type = LEAK_RESOURCE_PAIR,
                        .sort = LEAK_SORT_PAIR,
                        .name = function,
                        .id = handle,
                        .bytes = bytes,
                        .fd = -1};
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    handle_table_add(guard, &news, resource_mark_caller(guard, caller));
    guard_leave(guard);
}

struct resource_hook_closing resource_hook_closing(const struct frame *caller,
                                                   enum leak_resource_type type, const void *stream)
{
    struct resource_hook_closing closing = {.stream.number = 0};
    struct guard *guard = process_enter(caller);
    if (!guard)
        return closing;
    closing.stream = handle_table_find(type, (uintptr_t)stream);
    if (closing.stream.number && closing.stream.fd >= 0 && resource_is_tracked(LEAK_RESOURCE_FD)) {
        descriptors_check_owner(guard, caller, closing.stream.fd, &closing.stream);
        closing.stamp = descriptors_stamp(closing.stream.fd);
    }
    guard_leave(guard);
    return closing;
}

void resource_hook_stream_closed(const struct frame *caller,
                                 const struct resource_hook_closing *closing)
{
    struct guard *guard = closing->stream.number ? process_enter(caller) : NULL;
    if (!guard)
        return;
    struct leak_mark mark = resource_mark_caller(guard, caller);
    handle_table_release(guard, &closing->stream, &mark);
    if (closing->stream.fd >= 0 && resource_is_tracked(LEAK_RESOURCE_FD))
        descriptors_close(guard, caller, closing->stream.fd, closing->stamp);
    guard_leave(guard);
}
