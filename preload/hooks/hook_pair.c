/* hook_pair.c - functions of any library that create and destroy a resource, named by option pair=.
 *
 * Calls of the two functions of a pair are redirected to two stubs (got_patch.h), which call the
 * real ones. These are searched at each call, for the library may have been unloaded and loaded
 * again. Six integer or pointer arguments are passed on and one is returned; other types are not
 * supported.
 */
#include "preload/hooks/hooks.h"
#include "preload/interpose/got_patch.h"
#include "preload/base/log.h"
#include "preload/process/resource_hooks.h"
#include "preload/elf/symbols.h"

#define MAX_PAIRS 16
#define ARGUMENTS 6
#define RESULT ARGUMENTS

/* Variadic, so that a variadic function may be called as well. */
typedef uintptr_t any_function(uintptr_t, ...);

struct end {
    const char *name;
    unsigned at; /* argument that is the handle, or points to it; or RESULT */
};

static struct pair {
    struct end create, destroy;
} pairs[MAX_PAIRS];
static unsigned count;

/* ---- The calls ------------------------------------------------------------------------------ */

static uintptr_t call_real(const char *name, const uintptr_t *a)
{
    any_function *function = (any_function *)symbols_find_except(name, (uintptr_t)call_real);
    return function(a[0], a[1], a[2], a[3], a[4], a[5]);
}

static uintptr_t create_resource(const struct pair *pair, const struct frame *caller,
                                 const uintptr_t *a)
{
    uintptr_t result = call_real(pair->create.name, a), handle = result;
    if (pair->create.at != RESULT)
        handle = a[pair->create.at] ? *(const uintptr_t *)a[pair->create.at] : 0;
    if (handle)
        resource_hook_stream_opened(caller, LEAK_RESOURCE_PAIR, LEAK_SORT_PAIR,
                                    (const void *)handle, -1, pair->create.name, false);
    return result;
}

static uintptr_t destroy_resource(const struct pair *pair, const struct frame *caller,
                                  const uintptr_t *a)
{
    struct resource_hook_closing leaving =
        resource_hook_closing(caller, LEAK_RESOURCE_PAIR, (const void *)a[pair->destroy.at]);
    uintptr_t result = call_real(pair->destroy.name, a);
    resource_hook_stream_closed(caller, &leaving);
    return result;
}

#define STUB(kind, i)                                                                              \
    static uintptr_t kind##_##i(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,   \
                                uintptr_t f)                                                       \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        return kind##_resource(&pairs[i], &caller, (const uintptr_t[]){a, b, c, d, e, f});         \
    }
#define EACH(X)                                                                                    \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define STUBS(i) STUB(create, i) STUB(destroy, i)
EACH(STUBS)

typedef uintptr_t stub(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
static const struct {
    stub *create, *destroy;
} stubs[MAX_PAIRS] = {
#define X(i) {create_##i, destroy_##i},
    EACH(X)
#undef X
};

/* The stub for a function of that name; 0: it is in no pair, or is not defined anywhere. */
static uintptr_t stub_for(const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        bool creates = strcmp(pairs[i].create.name, name) == 0;
        if ((creates || strcmp(pairs[i].destroy.name, name) == 0) &&
            symbols_find_except(name, (uintptr_t)call_real))
            return (uintptr_t)(creates ? stubs[i].create : stubs[i].destroy);
    }
    return 0;
}

/* ---- The option ----------------------------------------------------------------------------- */

/* "name" or "name:argN", which becomes the name alone. */
static bool parse_end(char *text, unsigned otherwise, struct end *end)
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

static bool parse_pair(char *text, struct pair *pair)
{
    char *comma = strchr(text, ',');
    if (!comma)
        return false;
    *comma = '\0';
    return parse_end(text, RESULT, &pair->create) && parse_end(comma + 1, 0, &pair->destroy);
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
        if (count < MAX_PAIRS && parse_pair(text, &pairs[count]))
            count++;
        else
            log_bad_value("pair", options_current.pair,
                          "create,destroy or create:arg1,destroy:arg0");
    }
    if (!count)
        return;
    resource_track(1u << LEAK_RESOURCE_PAIR);
    got_patch_redirect(stub_for);
}
