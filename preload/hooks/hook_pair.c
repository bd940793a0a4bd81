/* hook_pair.c - what any library creates and destroys, by the names that the option pair= gives.
 *
 * Calls of a pair's two functions are led to a pair of ours (got_patch.h), which call the real
 * ones. Those are looked for at each call: the library may have come and gone in between. Six
 * integers or pointers are passed on, and one comes back; of anything else nothing is known here.
 */
#include "preload/hooks/hook_pair.h"
#include "preload/interpose/got_patch.h"
#include "preload/base/log.h"
#include "preload/process/resource_hooks.h"
#include "preload/process/process.h"
#include "preload/elf/symbols.h"
#include "preload/track/track.h"

#define PAIRS_MOST 16
#define ARGUMENTS 6
#define RESULT ARGUMENTS

/* Declared as it is, so that a function with a variable number of them may be called. */
typedef uintptr_t any(uintptr_t, ...);

struct end {
    const char *name;
    unsigned at; /* argument that is the handle, or where it is written to; RESULT */
};

static struct pair {
    struct end create, destroy;
} pairs[PAIRS_MOST];
static unsigned count;

/* ---- The calls ------------------------------------------------------------------------------ */

static uintptr_t call(const char *name, const uintptr_t *a)
{
    any *function = (any *)symbols_find_except(name, (uintptr_t)call);
    return function(a[0], a[1], a[2], a[3], a[4], a[5]);
}

static uintptr_t create(const struct pair *pair, const struct frame *caller, const uintptr_t *a)
{
    uintptr_t result = call(pair->create.name, a), handle = result;
    if (pair->create.at != RESULT)
        handle = a[pair->create.at] ? *(const uintptr_t *)a[pair->create.at] : 0;
    if (handle)
        resource_hook_stream_opened(caller, LEAK_RESOURCE_PAIR, LEAK_SORT_PAIR, (const void *)handle, -1,
                    pair->create.name, false);
    return result;
}

static uintptr_t destroy(const struct pair *pair, const struct frame *caller, const uintptr_t *a)
{
    struct resource_hook_closing leaving =
        resource_hook_closing(caller, LEAK_RESOURCE_PAIR, (const void *)a[pair->destroy.at]);
    uintptr_t result = call(pair->destroy.name, a);
    resource_hook_stream_closed(caller, &leaving);
    return result;
}

#define STUB(kind, i)                                                                              \
    static uintptr_t kind##_##i(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,   \
                                uintptr_t f)                                                       \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        return kind(&pairs[i], &caller, (const uintptr_t[]){a, b, c, d, e, f});                    \
    }
#define EACH(X)                                                                                    \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define STUBS(i) STUB(create, i) STUB(destroy, i)
EACH(STUBS)

typedef uintptr_t stub(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
static const struct {
    stub *create, *destroy;
} stubs[PAIRS_MOST] = {
#define X(i) {create_##i, destroy_##i},
    EACH(X)
#undef X
};

/* Ours in the place of a function of that name; 0: nobody asked for it, or there is none. */
static uintptr_t stub_for(const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        bool creates = strcmp(pairs[i].create.name, name) == 0;
        if ((creates || strcmp(pairs[i].destroy.name, name) == 0) &&
            symbols_find_except(name, (uintptr_t)call))
            return (uintptr_t)(creates ? stubs[i].create : stubs[i].destroy);
    }
    return 0;
}

/* ---- The option ----------------------------------------------------------------------------- */

/* "name" or "name:argN", which becomes the name alone. */
static bool read_end(char *text, unsigned otherwise, struct end *end)
{
    char *colon = strchr(text, ':');
    *end = (struct end){.name = text, .at = otherwise};
    if (!colon)
        return *text;
    *colon = '\0';
    if (strncmp(colon + 1, "arg", 3) != 0 || colon[4] < '0' || colon[4] >= '0' + ARGUMENTS ||
        colon[5])
        return false;
    end->at = colon[4] - '0';
    return *text;
}

static bool read_pair(char *text, struct pair *pair)
{
    char *comma = strchr(text, ',');
    if (!comma)
        return false;
    *comma = '\0';
    return read_end(text, RESULT, &pair->create) && read_end(comma + 1, 0, &pair->destroy);
}

void hook_pair_start(void)
{
    static char copy[OPTION_TEXT_MAX];
    if (!*process_state.recording || !*options_current.pair)
        return;
    memcpy(copy, options_current.pair, sizeof copy);
    for (char *text = copy, *next; text; text = next) {
        next = strchr(text, ';');
        if (next)
            *next++ = '\0';
        if (count < PAIRS_MOST && read_pair(text, &pairs[count]))
            count++;
        else
            log_bad_value("pair", options_current.pair, "create,destroy or create:arg1,destroy:arg0");
    }
    if (!count)
        return;
    resource_types_tracked |= 1u << LEAK_RESOURCE_PAIR;
    got_also(stub_for);
}
