/* scope_filter.c - see scope_filter.h. */
#include "common/suppress/scope_filter.h"

#include <string.h>

#include "common/suppress/only_filter.h"

const char *const scope_word[SCOPE_KEYS] = {"modules", "functions", "threads"};

struct scope_item {
    bool out; /* what it names is left out */
    const char *pattern;
};

/* ---- Reading -------------------------------------------------------------------------------- */

static size_t count_items(const char *text)
{
    size_t count = 1;

    for (; *text; text++)
        count += *text == ',';
    return count;
}

bool scope_read(struct mem *mem, const char *text, struct scope_list *list)
{
    bool whole = true;

    *list = (struct scope_list){0};
    if (!*text)
        return true;
    list->items = arena_alloc_array(mem, count_items(text), sizeof(*list->items));
    for (const char *at = text; at;) {
        size_t length = strcspn(at, ","), sign = *at == '+' || *at == '-';

        if (length > sign)
            list->items[list->count++] =
                (struct scope_item){*at == '-', arena_copy(mem, at + sign, length - sign)};
        whole &= length > sign;
        at = at[length] ? at + length + 1 : NULL;
    }
    return whole;
}

/* ---- Asking --------------------------------------------------------------------------------- */

static bool names_frame(const char *pattern, enum scope_key key, const struct frame *frame)
{
    return key == SCOPE_MODULES ? only_names(pattern, frame->module)
                                : only_names_function(pattern, frame->function);
}

/* A stack without the user's code is its first frame's that is no allocator. */
static bool has_frame(const char *pattern, enum scope_key key, bool any_frame,
                      const struct record *record)
{
    size_t i = 0;

    while (i < record->frame_count && !frame_is_user_code(record->frames[i]))
        i++;
    if (i == record->frame_count)
        return i && names_frame(pattern, key,
                                record->frames[frame_first_caller(record->frames, record->frame_count)]);
    if (!any_frame)
        return names_frame(pattern, key, record->frames[i]);
    for (; i < record->frame_count; i++)
        if (frame_is_user_code(record->frames[i]) && names_frame(pattern, key, record->frames[i]))
            return true;
    return false;
}

/* all: each of them, and there are no others. */
static bool has_thread(const char *pattern, bool all, const struct record *record)
{
    size_t named = 0;

    for (size_t i = 0; i < record->thread_count; i++)
        named += only_names_thread(pattern, &record->threads[i]);
    return named && (!all || (named == record->thread_count && !record->more_threads));
}

bool scope_fits(const struct scope_list *list, enum scope_key key, bool any_frame,
                const struct record *record)
{
    bool wanted = false, fits = false;

    for (size_t i = 0; i < list->count; i++) {
        const struct scope_item *item = &list->items[i];
        bool named = key == SCOPE_THREADS ? has_thread(item->pattern, item->out, record)
                                          : has_frame(item->pattern, key,
                                                      any_frame || key == SCOPE_FUNCTIONS, record);

        if (item->out && named)
            return false;
        wanted |= !item->out;
        fits |= named;
    }
    return fits || !wanted;
}

int scope_names(const struct scope_list *list, const char *function)
{
    for (size_t i = list->count; function && i-- > 0;)
        if (only_names_function(list->items[i].pattern, function))
            return list->items[i].out ? -1 : 1;
    return 0;
}
