/* demangle.c - demangles names with libiberty, which may take very long, or very much memory, for a
 * hostile name. libiberty prints through a callback, from which longjmp aborts a name that expands
 * beyond LONGEST characters.
 *
 * libiberty needs stack in proportion to the name and refuses names above 1024 characters by
 * default: for longer names the limit is off, and libiberty runs in a thread with a large stack.
 */
#include "common/names/names.h"

#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Most characters of a demangled name; if it is longer, the mangled name is kept. */
#define LONGEST ((size_t)128 << 10)
#define LONGEST_INPUT ((size_t)64 << 10)
/* Most characters of a name that is demangled on the thread's own stack, with libiberty's limits; a
 * longer one gets a thread with a large stack. */
#define PLAIN_INPUT 1000
#define BIG_STACK ((size_t)256 << 20)

struct demangle_job {
    const char *name;
    int options;
    char *text; /* malloc'd */
    size_t length, capacity;
    bool done;
    jmp_buf too_long;
};

static void append_text(const char *text, size_t length, void *opaque)
{
    struct demangle_job *job = opaque;

    if (length > LONGEST - job->length)
        longjmp(job->too_long, 1);
    job->text = array_grow(job->text, &job->capacity, job->length + length + 1, 1);
    memcpy(job->text + job->length, text, length);
    job->length += length;
}

static void *run_demangler(void *opaque)
{
    struct demangle_job *job = opaque;

    if (setjmp(job->too_long)) {
        job->done = false;
        return NULL;
    }
    /* Try Rust first: its older names also look like C++. */
    job->done = rust_demangle_callback(job->name, job->options, append_text, job);
    if (!job->done) {
        job->length = 0;
        job->done = cplus_demangle_v3_callback(job->name, job->options, append_text, job);
    }
    return NULL;
}

static void run_on_big_stack(struct demangle_job *job)
{
    pthread_attr_t attributes;
    pthread_t thread;

    job->options |= DMGL_NO_RECURSE_LIMIT;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, BIG_STACK) == 0 &&
        pthread_create(&thread, &attributes, run_demangler, job) == 0)
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The length of a name without what GCC and clang append to a clone, and the linker to a
 * versioned symbol. */
static size_t plain_length(const char *name)
{
    static const char *const marks[] = {".constprop.", ".isra.", ".part.", ".cold",
                                        ".lto_priv.",  ".llvm.", "@"};
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
        const char *mark = strstr(name + (*name != 0), marks[i]);

        if (mark && (size_t)(mark - name) < length)
            length = (size_t)(mark - name);
    }
    return length;
}

const char *demangle(struct arena *mem, const char *name)
{
    struct demangle_job job = {.options = DMGL_PARAMS | DMGL_ANSI};
    size_t length;
    char *plain;

    if (has_prefix(name, "__GI_")) /* prefix of glibc's names for calls inside itself */
        name += strlen("__GI_");
    length = plain_length(name);
    plain = arena_copy(mem, name, length);

    if (strncmp(plain, "_Z", 2) != 0 && strncmp(plain, "_R", 2) != 0)
        return plain;
    job.name = plain;
    if (length <= PLAIN_INPUT)
        run_demangler(&job);
    else if (length <= LONGEST_INPUT)
        run_on_big_stack(&job);
    if (job.done && job.length)
        plain = arena_copy(mem, job.text, job.length);
    free(job.text);
    return plain;
}

/* Goes one step through a C++ name: skips a bracketed part or one character. */
static const char *skip_part(const char *at)
{
    static const char open[] = "<([{", close[] = ">)]}";
    char stack[256];
    size_t depth = 0;

    do {
        const char *bracket = *at ? strchr(open, *at) : NULL;

        if (at[0] == '-' && at[1] == '>')
            at++; /* the '>' of "->" is no bracket */
        else if (bracket && depth < sizeof(stack))
            stack[depth++] = close[bracket - open];
        else if (depth && *at == stack[depth - 1])
            depth--;
        at++;
    } while (depth && *at);
    return at;
}

/* Skips the name of an operator, as "operator<" looks like a bracket and "operator new" like a
 * return type. */
static const char *skip_operator(const char *at)
{
    at += strlen("operator");
    if (has_prefix(at, "()"))
        return at + 2;
    while (*at && *at != '(')
        at++;
    return at;
}

static bool operator_at(const char *name, const char *at)
{
    return has_prefix(at, "operator") && (at == name || at[-1] == ':' || at[-1] == ' ') &&
           !(at[8] >= 'a' && at[8] <= 'z') && at[8] != '_';
}

const char *demangle_scope(const char *name)
{
    const char *scope = name;

    for (const char *at = name; *at;) {
        if (operator_at(name, at))
            return scope;
        if (*at == '(' && !has_prefix(at, "(anonymous namespace)") && !has_prefix(at, "(.")) {
            return scope; /* the '(' begins the parameters, behind which the name has only "const"
                           * and the like */
        }
        if (*at == ' ') {
            scope = ++at;
            continue;
        }
        at = skip_part(at);
    }
    return *scope ? scope : name;
}

size_t demangle_bare_length(const char *scope)
{
    const char *at = scope;

    while (*at) {
        if (operator_at(scope, at)) {
            at = skip_operator(at);
            continue;
        }
        if (*at == '(' && at != scope && !has_prefix(at, "(anonymous namespace)"))
            break;
        at = skip_part(at);
    }
    return (size_t)(at - scope);
}

size_t demangle_copy_name(const char *scope, char *to, size_t size)
{
    static const char constant[] = " const";
    size_t used = 0, length;

    do {
        length = demangle_bare_length(scope);
        if (length >= size - used)
            return 0;
        memcpy(to + used, scope, length);
        used += length;
        scope += length;
        if (*scope == '(')
            scope = skip_part(scope);
        if (has_prefix(scope, constant))
            scope += strlen(constant);
    } while (has_prefix(scope, "::") && length);
    to[used] = 0;
    return used;
}

/* Says whether the class of a lambda begins at `at`. GCC and clang name it in several ways; clang's
 * "$_0" may also be a local class without a name, which rarely has a call operator. */
static bool lambda_at(const char *at)
{
    return has_prefix(at, "::{lambda") || has_prefix(at, "::<lambda") ||
           (has_prefix(at, "::$_") && strstr(at, "::operator()"));
}

const char *demangle_lambda_owner(const char *name, size_t *length)
{
    const char *scope = demangle_scope(name), *at = scope;

    *length = 0;
    while (*at && !lambda_at(at)) {
        if (operator_at(scope, at)) {
            at = skip_operator(at);
            continue;
        }
        if (*at == '(' && !*length && at != scope && !has_prefix(at, "(anonymous namespace)"))
            *length = (size_t)(at - scope); /* what follows is parameters, or a local class */
        at = skip_part(at);
    }
    if (!*at || at == scope)
        return NULL;
    if (!*length)
        *length = (size_t)(at - scope);
    return scope;
}

bool demangle_is_template_member(const char *name)
{
    const char *scope = demangle_scope(name);

    for (const char *at = scope; *at && *at != '(' && !operator_at(scope, at);) {
        const char *next = skip_part(at);

        if (*at == '<' && at != scope && has_prefix(next, "::"))
            return true;
        at = next;
    }
    return false;
}
