/* hook_pair.c - hooks of functions, in any library, that create and destroy a resource. The option
 * pair= names them.
 *
 * A program gets the address of such a function in three ways, and libleak hands out a stub
 * instead:
 *
 *     from its GOT       got_patch.h redirects the calls by name
 *     from dlsym         a hook of dlsym returns a stub
 *     from a lookup      a stub of a function such as cuGetProcAddress, which returns functions by name, returns a stub
 *
 * A stub belongs to one function of one pair. It knows the address of the real function, or it
 * searches the function at each call, because the library may have been unloaded and loaded again.
 * The arguments and the result of the functions must be integers or pointers, and there may be ten
 * arguments at most.
 *
 * A creating function may call other creating functions, as CUDA's runtime calls its driver: only
 * the outermost call of a thread counts.
 */
#include "preload/hooks/hooks.h"
#include "preload/interpose/got_patch.h"
#include "preload/base/log.h"
#include "preload/process/resource_hooks.h"
#include "preload/elf/symbols.h"

#include <dlfcn.h>

/* Largest number of pairs of functions, of the presets and of the user together. */
#define PAIRS_MAX 128
#define STUBS_MAX 256
#define ARGUMENTS 10
/* Value in place of the number of an argument (from 0). Where a handle is expected: the handle is
 * the result of the function. Where a size is expected: no argument has the size. */
#define RESULT ARGUMENTS

/* Type of a real function. It is variadic, because the real function may be variadic. */
typedef uintptr_t any_function(uintptr_t, ...);

enum handle_form {
    HANDLE_VALUE,  /* the handle is the argument or the result itself */
    HANDLE_STORED, /* the argument points to the place where the handle is stored */
};

struct end {
    const char *name;
    uint8_t at; /* number of the argument (from 0) that has the handle, or RESULT */
    uint8_t form;
};

static struct pair {
    struct end create, destroy;
    /* Numbers (from 0) of the two arguments of "create" whose product is the size of the resource;
     * RESULT: there is no such argument. */
    uint8_t bytes, times;
} pairs[PAIRS_MAX];
static unsigned pair_count;

/* Functions that return the address of a function by its name (lookups). */
static const struct lookup {
    /* Name of the lookup, and where it returns the address that it has found. */
    struct end function;
    uint8_t name_at;
} lookups[] = {
    {{"cuGetProcAddress", 1, HANDLE_STORED}, 0},
    {{"cuGetProcAddress_v2", 1, HANDLE_STORED}, 0},
    {{"cudaGetDriverEntryPoint", 1, HANDLE_STORED}, 0},
    {{"cudaGetDriverEntryPointByVersion", 1, HANDLE_STORED}, 0},
    {{"hipGetProcAddress", 1, HANDLE_STORED}, 0},
    {{"clGetExtensionFunctionAddress", RESULT, HANDLE_VALUE}, 0},
    {{"clGetExtensionFunctionAddressForPlatform", RESULT, HANDLE_VALUE}, 1},
};

enum role { ROLE_NONE, ROLE_CREATE, ROLE_DESTROY, ROLE_LOOKUP };

/* The function that a stub replaces. A stub does not change after "ready" is set. */
static struct stub {
    uint8_t role, ready;
    uint8_t number;      /* index of its pair in "pairs", or of its lookup in "lookups" */
    any_function *given; /* the real function; NULL: it is searched at each call */
} stubs[STUBS_MAX];
/* Number of stubs that were requested; those above STUBS_MAX were not handed out. */
static unsigned stub_count;

static uintptr_t stub_for(const char *name, any_function *given, bool loosely);

/* ---- What a stub does when it is called ------------------------------------------------------ */

static const char *real_name(const struct stub *stub)
{
    return stub->role == ROLE_CREATE    ? pairs[stub->number].create.name
           : stub->role == ROLE_DESTROY ? pairs[stub->number].destroy.name
                                        : lookups[stub->number].function.name;
}

static uintptr_t call_real(const struct stub *stub, const uintptr_t *a)
{
    any_function *function = stub->given;
    if (!function)
        function = (any_function *)symbols_find_except(real_name(stub), (uintptr_t)call_real);
    return function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]);
}

/* Frame of the caller of the outermost creating function that this thread runs; sp 0: it runs none.
 * An exception or longjmp may have left that function. */
static __thread struct frame creator __attribute__((tls_model("initial-exec")));

/* Says whether the caller was itself called by a creating function. Then the caller's frame lies
 * below "creator", and the return address of the creating call is still on the stack. */
static bool is_creating(const struct frame *caller)
{
    uintptr_t pc;
    return creator.sp && caller->sp < creator.sp &&
           sys_peek(arch_return_slot(creator.sp, creator.link), &pc, sizeof pc) &&
           arch_strip(pc) == creator.pc;
}

static uint64_t stored_handle(const struct end *end, const uintptr_t *a)
{
    return end->form == HANDLE_STORED && a[end->at] ? *(const uintptr_t *)a[end->at] : 0;
}

/* Returns the handle that a creating function has made; 0: none. A function that stores the handle
 * through an argument returns an error number. If it fails, it may leave the stored value
 * unchanged: "before", which is no new handle. */
static uint64_t created_handle(const struct end *end, const uintptr_t *a, uintptr_t result,
                               uint64_t before)
{
    if (end->at == RESULT)
        return result;
    if (end->form == HANDLE_VALUE)
        return (int)result == 0 ? a[end->at] : 0;
    uint64_t handle = stored_handle(end, a);
    return (int)result == 0 || handle != before ? handle : 0;
}

static uint64_t requested_bytes(const struct pair *pair, const uintptr_t *a)
{
    uint64_t bytes = pair->bytes == RESULT ? 0 : a[pair->bytes];
    return pair->times == RESULT ? bytes : bytes * a[pair->times];
}

static uintptr_t create_resource(const struct stub *stub, const struct frame *caller,
                                 const uintptr_t *a)
{
    const struct pair *pair = &pairs[stub->number];
    if (is_creating(caller))
        return call_real(stub, a);
    uint64_t bytes = requested_bytes(pair, a), before = stored_handle(&pair->create, a);
    creator = *caller;
    uintptr_t result = call_real(stub, a);
    creator.sp = 0;
    uint64_t handle = created_handle(&pair->create, a, result, before);
    if (handle)
        resource_hook_object_created(caller, handle, pair->create.name, bytes);
    return result;
}

static uintptr_t destroy_resource(const struct stub *stub, const struct frame *caller,
                                  const uintptr_t *a)
{
    struct resource_hook_closing leaving = resource_hook_closing(
        caller, LEAK_RESOURCE_PAIR, (const void *)a[pairs[stub->number].destroy.at]);
    uintptr_t result = call_real(stub, a);
    resource_hook_stream_closed(caller, &leaving);
    return result;
}

static uintptr_t look_up(const struct stub *stub, const uintptr_t *a)
{
    const struct lookup *lookup = &lookups[stub->number];
    uintptr_t result = call_real(stub, a);
    uintptr_t *answer =
        lookup->function.at == RESULT ? &result : (uintptr_t *)a[lookup->function.at];
    const char *name = (const char *)a[lookup->name_at];
    uintptr_t ours = name && answer && *answer ? stub_for(name, (any_function *)*answer, true) : 0;
    if (ours)
        *answer = ours;
    return result;
}

static uintptr_t call_stub(unsigned number, const struct frame *caller, const uintptr_t *a)
{
    const struct stub *stub = &stubs[number];
    return stub->role == ROLE_CREATE    ? create_resource(stub, caller, a)
           : stub->role == ROLE_DESTROY ? destroy_resource(stub, caller, a)
                                        : look_up(stub, a);
}

/* ---- The stubs ------------------------------------------------------------------------------- */

#define STUB(high, low)                                                                            \
    static uintptr_t stub_##high##low(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,          \
                                      uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h,          \
                                      uintptr_t i, uintptr_t j)                                    \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        return call_stub(0x##high##low, &caller,                                                   \
                         (const uintptr_t[]){a, b, c, d, e, f, g, h, i, j});                       \
    }
#define EACH_LOW(X, high)                                                                          \
    X(high, 0)                                                                                     \
    X(high, 1)                                                                                     \
    X(high, 2)                                                                                     \
    X(high, 3)                                                                                     \
    X(high, 4)                                                                                     \
    X(high, 5)                                                                                     \
    X(high, 6)                                                                                     \
    X(high, 7)                                                                                     \
    X(high, 8) X(high, 9) X(high, a) X(high, b) X(high, c) X(high, d) X(high, e) X(high, f)
#define EACH(X)                                                                                    \
    EACH_LOW(X, 0)                                                                                 \
    EACH_LOW(X, 1)                                                                                 \
    EACH_LOW(X, 2)                                                                                 \
    EACH_LOW(X, 3)                                                                                 \
    EACH_LOW(X, 4)                                                                                 \
    EACH_LOW(X, 5)                                                                                 \
    EACH_LOW(X, 6)                                                                                 \
    EACH_LOW(X, 7)                                                                                 \
    EACH_LOW(X, 8)                                                                                 \
    EACH_LOW(X, 9)                                                                                 \
    EACH_LOW(X, a) EACH_LOW(X, b) EACH_LOW(X, c) EACH_LOW(X, d) EACH_LOW(X, e) EACH_LOW(X, f)
EACH(STUB)

typedef uintptr_t stub_function(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                                uintptr_t, uintptr_t, uintptr_t, uintptr_t);
static stub_function *const stub_functions[STUBS_MAX] = {
#define STUB_ADDRESS(high, low) stub_##high##low,
    EACH(STUB_ADDRESS)};

static bool is_stub_for(const struct stub *stub, const struct stub *wanted)
{
    return load_acquire(&stub->ready) && stub->role == wanted->role &&
           stub->number == wanted->number && stub->given == wanted->given;
}

/* Returns a stub, which records calls of a function and makes them; 0: all stubs are in use. Two
 * threads may get two stubs for one function; both stubs work. */
static uintptr_t hand_out_stub(struct stub wanted)
{
    for (unsigned i = 0; i < STUBS_MAX && i < load_acquire(&stub_count); i++)
        if (is_stub_for(&stubs[i], &wanted))
            return (uintptr_t)stub_functions[i];
    if (load_relaxed(&stub_count) >= STUBS_MAX)
        return 0;
    unsigned number = add_relaxed(&stub_count, 1);
    if (number >= STUBS_MAX)
        return 0;
    stubs[number] = wanted;
    store_release(&stubs[number].ready, 1);
    return (uintptr_t)stub_functions[number];
}

/* ---- Finding functions by their names -------------------------------------------------------- */

/* Returns the length of a name without "_ptsz", "_ptds" and "_v2", which distinguish versions of
 * one function. */
static size_t base_length(const char *name)
{
    size_t length = strlen(name);
    if (length > 5 &&
        (memcmp(name + length - 5, "_ptsz", 5) == 0 || memcmp(name + length - 5, "_ptds", 5) == 0))
        length -= 5;
    bool has_version = length > 3 && memcmp(name + length - 3, "_v", 2) == 0 &&
                       name[length - 1] >= '0' && name[length - 1] <= '9';
    return has_version ? length - 3 : length;
}

static bool is_named(const char *one, const char *other, bool loosely)
{
    size_t length = base_length(one);
    return strcmp(one, other) == 0 ||
           (loosely && length == base_length(other) && memcmp(one, other, length) == 0);
}

/* Finds out whether a function is a creating function, a destroying function or a lookup. loosely:
 * accepts any version of its name (base_length). */
static struct stub find_role(const char *name, bool loosely)
{
    for (unsigned i = 0; i < pair_count; i++) {
        if (is_named(pairs[i].create.name, name, loosely))
            return (struct stub){.role = ROLE_CREATE, .number = i};
        if (is_named(pairs[i].destroy.name, name, loosely))
            return (struct stub){.role = ROLE_DESTROY, .number = i};
    }
    for (unsigned i = 0; i < ARRAY_LENGTH(lookups); i++)
        if (is_named(lookups[i].function.name, name, false))
            return (struct stub){.role = ROLE_LOOKUP, .number = i};
    return (struct stub){.role = ROLE_NONE};
}

/* Returns a stub for a function of that name; 0: it is in no pair and no lookup, or all stubs are
 * in use. */
static uintptr_t stub_for(const char *name, any_function *given, bool loosely)
{
    struct stub stub = find_role(name, loosely);
    stub.given = given;
    return stub.role == ROLE_NONE ? 0 : hand_out_stub(stub);
}

/* ---- dlsym ----------------------------------------------------------------------------------- */

/* Decides whether a call of dlsym by the program returns a stub. With the handles RTLD_NEXT and
 * RTLD_DEFAULT the result of dlsym depends on its caller. So hook_pair_dlsym (tail.S) jumps to
 * dlsym itself, unless the name is in the table of pairs. */
__attribute__((used)) void *hook_pair_dlsym_notice(void *handle, const char *name);
void *hook_pair_dlsym(void *handle, const char *name) HIDDEN;

static void *answer_dlsym(void *handle, const char *name)
{
    void *function = dlsym(handle, name);
    uintptr_t ours = function ? stub_for(name, (any_function *)function, false) : 0;
    return ours ? (void *)ours : function;
}

void *hook_pair_dlsym_notice(void *handle, const char *name)
{
    bool answers = handle != RTLD_NEXT && find_role(name, false).role != ROLE_NONE &&
                   (handle != RTLD_DEFAULT || dlsym(handle, name));
    return answers ? (void *)answer_dlsym : (void *)dlsym;
}

/* Returns the replacement of an imported function, for got_patch.h. 0: the function is in no pair,
 * or is not defined anywhere. */
static uintptr_t replace_import(const char *name)
{
    if (strcmp(name, "dlsym") == 0)
        return (uintptr_t)hook_pair_dlsym;
    bool defined =
        find_role(name, false).role != ROLE_NONE && symbols_find_except(name, (uintptr_t)call_real);
    return defined ? stub_for(name, NULL, false) : 0;
}

/* ---- Parsing the option pair= ---------------------------------------------------------------- */

static bool parse_argument(const char *text, uint8_t *at)
{
    if (*text < '0' || *text >= '0' + ARGUMENTS || text[1])
        return false;
    *at = *text - '0';
    return true;
}

/* Parses "N" or "N*M": the numbers of the arguments whose product is the size of the resource.
 * False: the text has another form. */
static bool parse_bytes(char *text, struct pair *pair)
{
    char *star = strchr(text, '*');
    if (star)
        *star = '\0';
    return parse_argument(text, &pair->bytes) && (!star || parse_argument(star + 1, &pair->times));
}

/* Parses one word behind a colon in the option pair=: "argN" and "isN" say where the handle is,
 * "bytesN" says how large the resource is. sized: the pair, if the word belongs to its creating
 * function; else NULL. False: the word is none of these. */
static bool parse_word(char *word, struct end *end, enum handle_form arg, struct pair *sized)
{
    if (strncmp(word, "arg", 3) == 0) {
        end->form = arg;
        return parse_argument(word + 3, &end->at);
    }
    if (!sized)
        return false;
    if (strncmp(word, "is", 2) == 0) {
        end->form = HANDLE_VALUE;
        return parse_argument(word + 2, &end->at);
    }
    return strncmp(word, "bytes", 5) == 0 && parse_bytes(word + 5, sized);
}

/* Parses one function of the option pair=: "name", which may be followed by ":word" several times.
 * Ends the text after the name. sized: the pair, if this is its creating function; else NULL.
 * False: a word is wrong. */
static bool parse_end(char *text, struct end *end, enum handle_form arg, struct pair *sized)
{
    *end = (struct end){.name = text, .at = sized ? RESULT : 0};
    for (char *colon = strchr(text, ':'), *next; colon; colon = next) {
        *colon = '\0';
        next = strchr(colon + 1, ':');
        if (next)
            *next = '\0';
        if (!parse_word(colon + 1, end, arg, sized))
            return false;
    }
    return *text;
}

static bool parse_pair(char *create, char *destroy, struct pair *pair)
{
    pair->bytes = pair->times = RESULT;
    return parse_end(create, &pair->create, HANDLE_STORED, pair) &&
           parse_end(destroy, &pair->destroy, HANDLE_VALUE, NULL);
}

/* The table of presets. It is writable, because parsing cuts the texts. */
static struct preset_row {
    char *preset, *create, *bytes, *destroy;
} preset_rows[] = {
#define PAIR(preset, create, bytes, destroy)                                                       \
    {(char[]){#preset}, (char[]){create}, (char[]){bytes}, (char[]){destroy}},
#include "preload/hooks/pair_presets.def"
#undef PAIR
};

/* Adds those pairs of a preset to "pairs" that are not there yet. False: there is no such preset,
 * or no room. */
static bool take_preset(const char *name)
{
    bool found = false;
    for (size_t i = 0; i < ARRAY_LENGTH(preset_rows); i++) {
        struct preset_row *row = &preset_rows[i];
        if (strcmp(row->preset, name) != 0)
            continue;
        struct pair *pair = &pairs[pair_count];
        if (pair_count == PAIRS_MAX || !parse_pair(row->create, row->destroy, pair) ||
            (*row->bytes && !parse_bytes(row->bytes, pair)))
            return false;
        pair_count++;
        row->preset[0] = '\0';
        found = true;
    }
    return found;
}

static bool take_pair(char *text)
{
    char *comma = strchr(text, ',');
    if (*text == '@')
        return take_preset(text + 1);
    if (!comma || pair_count == PAIRS_MAX)
        return false;
    *comma = '\0';
    if (!parse_pair(text, comma + 1, &pairs[pair_count]))
        return false;
    pair_count++;
    return true;
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
        if (!take_pair(text))
            log_bad_value("pair", options_current.pair,
                          "@cuda or another preset, create,destroy or create:arg1,destroy:arg0");
    }
    if (!pair_count)
        return;
    resource_track(1u << LEAK_RESOURCE_PAIR);
    got_patch_redirect(replace_import);
}
