/* frame_class.c - the tables behind a frame's role; see frame_class.h. */
#include "common/names/frame_class.h"

#include <string.h>

#include "common/names/demangle.h"

#define LIBSTDCXX_POOL 72704 /* emergency memory for exceptions, made at start-up */

/* Base names, up to a '.' or '-' that begins a version. */
static const char *const runtime_modules[] = {
    "libc",     "ld-linux", "ld-linux-x86-64", "ld-linux-aarch64", "ld",           "libstdc++",
    "libgcc_s", "libc++",   "libc++abi",       "libpthread",       "libdl",        "librt",
    "libm",     "libleak",  "linux-vdso",      "libresolv",        "libnss_files", "libnss_dns",
};

/* Exact names; C++ operators are matched by prefix below. */
static const char *const allocators[] = {
    "malloc",        "calloc",         "realloc",
    "reallocarray",  "free",           "posix_memalign",
    "aligned_alloc", "memalign",       "valloc",
    "pvalloc",       "cfree",          "__libc_malloc",
    "__libc_calloc", "__libc_realloc", "__libc_memalign",
    "__rust_alloc",  "__rust_realloc", "__rust_alloc_zeroed",
    "__rdl_alloc",   "__rdl_realloc",  "__rdl_alloc_zeroed",
    "__rg_alloc",    "__rg_realloc",   "__rg_alloc_zeroed",
};

/* How names end of those who only pass a size on, but for case, '_' and a number behind: xmalloc,
 * sqlite3Malloc64, jv_mem_alloc, PyMem_RawRealloc, OPENSSL_strdup. */
static const char *const passing[] = {
    "malloc",  "calloc",   "zalloc",   "realloc",     "reallocarray", "memalloc", "memdup",
    "strdup",  "strndup",  "memalign", "mallocarray", "allocarray",   "wcsdup",   "strdupa",
    "mallocz", "reallocf", "mallocn",  "strsave",     "savestr",      "strcopy",  "copystring",
};

/* Words in names that speak of malloc and do not stand for it: leak_by_malloc, test_strdup. */
static const char *const speaking[] = {
    "about", "after", "and",  "bad",  "before", "bench",   "by",    "check",
    "do",    "from",  "leak", "lose", "no",     "over",    "test",  "tests",
    "to",    "twice", "use",  "via",  "with",   "without", "wrong",
};

/* Start-up code that is linked into the program. */
static const char *const start_up[] = {
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "__libc_csu_init",
    "__do_global_ctors_aux",
    "_init",
    "_dl_relocate_static_pie",
    "__rust_try",
};

/* Qualified names that begin so are libraries of the language, wherever they were compiled. */
static const char *const library_scopes[] = {
    "operator new", "std::",       "__gnu_cxx::", "__cxxabiv1::", "__gnu_debug::", "alloc::",
    "core::",       "hashbrown::", "__rustc::",   "std_detect::", "runtime.", /* Go's */
    "libleak_",     "libleak::", /* the inline calls of libleak.h */
};

/* Inside libc: what these allocate is kept for the life of the process and not the caller's. */
static const char *const libc_keeps[] = {
    "_IO_file_doallocate",
    "_IO_wfile_doallocate",
    "_IO_doallocbuf",
    "_IO_wdoallocbuf",
    "__gconv_",
    "_nl_",
    "__nss_",
    "__resolv_",
    "__res_",
    "__tz",
    "__new_exitfn",
    "_dl_",
    "__libc_setup_tls",
    "__pthread_",
    "pthread_setspecific",
    "___pthread_setspecific",
    "allocate_dtv",
    "setlocale",
    "__libc_alloc_buffer",
    "__add_to_environ",
};

/* Rust's start-up, which a main of its own calls: its frames, and no user's, lie inside main. */
static const char *const rust_keeps[] = {
    "std::rt::init",
    "std::sys::pal::unix::stack_overflow::",
};

static bool same(const char *text, const char *const *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, table[i]) == 0)
            return true;
    return false;
}

static bool begins(const char *text, const char *const *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, table[i], strlen(table[i])) == 0)
            return true;
    return false;
}

#define SAME(text, table) same(text, table, sizeof(table) / sizeof(*(table)))
#define BEGINS(text, table) begins(text, table, sizeof(table) / sizeof(*(table)))

/* "libc.so.6" and "libc-2.31.so" are libc, "libcurl.so.4" is not. */
static bool named(const char *base, const char *stem)
{
    size_t length = strlen(stem);
    const char *rest = base + length;

    if (strncmp(base, stem, length) != 0)
        return false;
    return *rest == 0 || *rest == '.' || (rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9');
}

bool classify_runtime_module(const char *module)
{
    const char *base = base_name(module);

    if (!base)
        return false;
    for (size_t i = 0; i < sizeof(runtime_modules) / sizeof(*runtime_modules); i++)
        if (named(base, runtime_modules[i]))
            return true;
    return false;
}

/* "<alloc::vec::Vec<T> as core::iter::FromIterator<T>>::from_iter" belongs to alloc. */
static const char *innermost_scope(const char *function)
{
    const char *scope = demangle_scope(function);

    while (*scope == '<' || *scope == '&')
        scope++;
    return scope;
}

#define NAME_MOST 63 /* characters: nobody writes a longer one for what is called everywhere */

/* The last part of a name, without arguments, in small letters and without a number at its end; ""
 * if it is too long. */
static void last_part(const char *function, char name[NAME_MOST + 1])
{
    const char *scope = demangle_scope(function);
    size_t end = demangle_bare_length(scope), start;

    while (end && ((scope[end - 1] >= '0' && scope[end - 1] <= '9') || scope[end - 1] == '_'))
        end--;
    for (start = end; start && !strchr(": >", scope[start - 1]);)
        start--;
    end = end - start > NAME_MOST ? start : end;
    for (size_t i = start; i < end; i++)
        *name++ = (char)(scope[i] >= 'A' && scope[i] <= 'Z' ? scope[i] + 'a' - 'A' : scope[i]);
    *name = 0;
}

static bool ends_so(const char *name, size_t length, const char *ending)
{
    size_t left = strlen(ending);

    for (; length && left; length--)
        if (name[length - 1] != '_' && name[length - 1] != ending[--left])
            return false;
    return !left;
}

static bool passes_on(const char *function)
{
    char name[NAME_MOST + 1], *left;
    size_t length;
    bool ends = false;

    if (strstr(function, " as core::alloc::global::GlobalAlloc>::"))
        return true; /* Rust's #[global_allocator] */
    last_part(function, name);
    length = strlen(name);
    for (size_t i = 0; i < sizeof(passing) / sizeof(*passing) && !ends; i++)
        ends = ends_so(name, length, passing[i]);
    for (char *word = strtok_r(name, "_", &left); word && ends; word = strtok_r(NULL, "_", &left))
        ends = !SAME(word, speaking);
    return ends;
}

bool classify_gives_back(const char *function)
{
    char name[NAME_MOST + 1];

    last_part(function, name);
    return ends_so(name, strlen(name), "free") || ends_so(name, strlen(name), "dealloc") ||
           ends_so(name, strlen(name), "deallocate");
}

/* What Go's tools write between Go and C: _cgo_0123_Cfunc_make, main._Cfunc_CString. No runtime: a
 * stack that ends there is the program's. */
static bool lies_between_go_and_c(const char *function)
{
    const char *last = strrchr(function, '.');
    return strncmp(function, "_cgo_", 5) == 0 || strcmp(function, "runtime.asmcgocall") == 0 ||
           (last && (strncmp(last, "._Cfunc_", 8) == 0 || strncmp(last, "._cgo_", 6) == 0));
}

/* Headers of libstdc++, and Rust's own libraries, which keep the path of the machine they were
 * built on, or none at all. */
static bool in_library_source(const char *file)
{
    static const char *const rust[] = {"library/core/", "library/alloc/", "library/std/"};

    return strstr(file, "/usr/include/c++/") || BEGINS(file, rust) ||
           (strncmp(file, "/rustc/", 7) == 0 && strstr(file, "/library/"));
}

enum frame_role classify_frame(const char *module, const char *function, const char *file)
{
    const char *scope;

    if (module && named(base_name(module), "libleak"))
        return FRAME_ALLOCATOR;
    if (function) {
        scope = innermost_scope(function);
        if (SAME(function, allocators) || strncmp(scope, "operator new", 12) == 0)
            return FRAME_ALLOCATOR;
        if (lies_between_go_and_c(function))
            return FRAME_WRAPPER;
        if (SAME(function, start_up) || BEGINS(scope, library_scopes))
            return FRAME_RUNTIME;
    }
    if (file && in_library_source(file))
        return FRAME_RUNTIME;
    if (classify_runtime_module(module))
        return FRAME_RUNTIME;
    return function && passes_on(function) ? FRAME_WRAPPER : FRAME_USER;
}

bool classify_own_frame(const struct frame *frame)
{
    return frame->role == FRAME_ALLOCATOR && frame->module &&
           named(base_name(frame->module), "libleak");
}

static bool in_loader(const struct frame *frame)
{
    const char *base = base_name(frame->module);

    return base && (named(base, "ld") || strncmp(base, "ld-linux", 8) == 0);
}

/* The same pool, when libstdc++ was linked into the program. */
static bool is_static_pool(const struct frame *frame)
{
    return frame->function && (strstr(frame->function, "__freeres") ||
                               strstr(frame->function, "(anonymous namespace)::pool::pool("));
}

bool classify_runtime_block(const struct frame *const *frames, size_t count, size_t user,
                            uint64_t block_size)
{
    size_t first = 0;

    while (first < count && frames[first]->role == FRAME_ALLOCATOR)
        first++;
    if (first == count)
        return false; /* no stack at all says nothing */
    if (in_loader(frames[first]))
        return true; /* link maps, thread vectors, TLS blocks */
    if (user == count) {
        /* Start-up and exit code of the libraries. A frame in no module could be anybody's, and who
         * only passes a size on is no runtime. */
        for (size_t i = first; i < count; i++)
            if (frame_is_user_code(frames[i]))
                return false;
        return true;
    }
    for (size_t i = first; i < user; i++)
        if (frames[i]->function && ((classify_runtime_module(frames[i]->module) &&
                                     BEGINS(frames[i]->function, libc_keeps)) ||
                                    BEGINS(frames[i]->function, rust_keeps)))
            return true;
    return block_size == LIBSTDCXX_POOL && is_static_pool(frames[user]);
}
