/* frame_class.c - decides by tables of names whose code a frame is: allocator, runtime, wrapper,
 * user. */
#include "common/names/names.h"

#include <string.h>

/* Size in bytes of the emergency pool for exceptions that libstdc++ allocates at start-up. */
#define LIBSTDCXX_POOL 72704

/* Modules of the runtime: base names up to a '.' or '-' and the version behind it. */
static const char *const runtime_modules[] = {
    "libc",     "ld-linux", "ld-linux-x86-64", "ld-linux-aarch64", "ld",           "libstdc++",
    "libgcc_s", "libc++",   "libc++abi",       "libpthread",       "libdl",        "librt",
    "libm",     "libleak",  "linux-vdso",      "libresolv",        "libnss_files", "libnss_dns",
};

/* Names of allocators in C and Rust, each compared as a whole; operator new is recognized by its
 * prefix. */
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

/* Endings of wrapper names; case, '_' and a trailing number are ignored: xmalloc, sqlite3Malloc64,
 * jv_mem_alloc, PyMem_RawRealloc, OPENSSL_strdup. */
static const char *const wrapper_endings[] = {
    "malloc",  "calloc",   "zalloc",   "realloc",     "reallocarray", "memalloc", "memdup",
    "strdup",  "strndup",  "memalign", "mallocarray", "allocarray",   "wcsdup",   "strdupa",
    "mallocz", "reallocf", "mallocn",  "strsave",     "savestr",      "strcopy",  "copystring",
};

/* What may follow one of wrapper_endings in a wrapper's name: zmalloc_usable, zcalloc_num. */
static const char *const wrapper_suffixes[] = {
    "_usable", "_num",  "_array",    "_bytes", "_clear",
    "_zero",   "_impl", "_internal", "_debug", "_safe",
};

/* Words that no wrapper has in its name: leak_by_malloc, test_strdup. */
static const char *const non_wrapper_words[] = {
    "about", "after", "and",  "bad",  "before", "bench",   "by",    "check",
    "do",    "from",  "leak", "lose", "no",     "over",    "test",  "tests",
    "to",    "twice", "use",  "via",  "with",   "without", "wrong",
};

/* Start-up code that is linked into the program itself. */
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

/* Prefixes of qualified names that belong to language libraries, whatever module has them. */
static const char *const library_scopes[] = {
    "operator new", "std::",       "__gnu_cxx::", "__cxxabiv1::", "__gnu_debug::", "alloc::",
    "core::",       "hashbrown::", "__rustc::",   "std_detect::", "runtime.", /* Go's runtime */
};

/* Prefixes of libc's functions whose blocks libc keeps for the life of the process. */
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

/* Prefixes of functions of Rust's start-up code, which the main that rustc generates calls; Rust
 * keeps their blocks. */
static const char *const rust_keeps[] = {
    "std::rt::init",
    "std::sys::pal::unix::stack_overflow::",
};

bool name_is_in(const char *text, const char *const *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, table[i]) == 0)
            return true;
    return false;
}

static bool has_table_prefix(const char *text, const char *const *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, table[i], strlen(table[i])) == 0)
            return true;
    return false;
}

#define HAS_PREFIX_IN(text, table) has_table_prefix(text, table, sizeof(table) / sizeof(*(table)))

/* Says whether a file name is that of a library: "libc.so.6" and "libc-2.31.so" are libc,
 * "libcurl.so.4" is not. */
static bool is_module_named(const char *base, const char *stem)
{
    size_t length = strlen(stem);
    const char *rest = base + length;

    if (strncmp(base, stem, length) != 0)
        return false;
    return *rest == 0 || *rest == '.' || (rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9');
}

bool classify_is_runtime_module(const char *module)
{
    const char *base = base_name(module);

    if (!base)
        return false;
    for (size_t i = 0; i < sizeof(runtime_modules) / sizeof(*runtime_modules); i++)
        if (is_module_named(base, runtime_modules[i]))
            return true;
    return false;
}

/* The innermost scope of a Rust name: for "<alloc::vec::Vec<T> as
 * core::iter::FromIterator<T>>::from_iter" that is alloc. */
static const char *innermost_scope(const char *function)
{
    const char *scope = demangle_scope(function);

    while (*scope == '<' || *scope == '&')
        scope++;
    return scope;
}

#define NAME_MOST 63 /* most characters of a wrapper's name; longer names are no wrappers */

/* The last component of a name, without arguments and trailing number, in lower case; "" if it
 * is longer than NAME_MOST. */
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

static bool has_ending(const char *name, size_t length, const char *ending)
{
    size_t left = strlen(ending);

    for (; length && left; length--)
        if (name[length - 1] != '_' && name[length - 1] != ending[--left])
            return false;
    return !left;
}

static bool has_non_wrapper_word(char name[NAME_MOST + 1])
{
    char *left;

    for (char *word = strtok_r(name, "_", &left); word; word = strtok_r(NULL, "_", &left))
        if (NAME_IS_IN(word, non_wrapper_words))
            return true;
    return false;
}

static size_t length_without_suffix(const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(wrapper_suffixes) / sizeof(*wrapper_suffixes); i++) {
        size_t suffix = strlen(wrapper_suffixes[i]);

        if (length > suffix && strcmp(name + length - suffix, wrapper_suffixes[i]) == 0)
            return length - suffix;
    }
    return length;
}

static bool is_wrapper_name(const char *function)
{
    char name[NAME_MOST + 1];
    size_t length;
    bool ends = false;

    if (strstr(function, " as core::alloc::global::GlobalAlloc>::"))
        return true; /* the name is that of a function of Rust's #[global_allocator] */
    last_part(function, name);
    length = length_without_suffix(name);
    for (size_t i = 0; i < sizeof(wrapper_endings) / sizeof(*wrapper_endings) && !ends; i++)
        ends = has_ending(name, length, wrapper_endings[i]);
    return ends && !has_non_wrapper_word(name);
}

bool classify_is_allocation_name(const char *function)
{
    static const char *const parts[] = {"alloc", "strdup", "strndup", "memdup", "newlen"};
    char name[NAME_MOST + 1];

    last_part(function, name);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (strstr(name, parts[i]) && !strstr(name, "dealloc"))
            return !has_non_wrapper_word(name);
    return false;
}

bool classify_is_release_name(const char *function)
{
    char name[NAME_MOST + 1];

    last_part(function, name);
    return has_ending(name, strlen(name), "free") || has_ending(name, strlen(name), "dealloc") ||
           has_ending(name, strlen(name), "deallocate");
}

/* Says whether a function is a stub that cgo generates, such as _cgo_0123_Cfunc_make or
 * main._Cfunc_CString. Such a stub is no part of the runtime: a stack that ends in one belongs to
 * the program. */
static bool lies_between_go_and_c(const char *function)
{
    const char *last = strrchr(function, '.');
    return strncmp(function, "_cgo_", 5) == 0 || strcmp(function, "runtime.asmcgocall") == 0 ||
           (last && (strncmp(last, "._Cfunc_", 8) == 0 || strncmp(last, "._cgo_", 6) == 0));
}

/* Says whether a source file is a header of libstdc++ or belongs to Rust's libraries, whose
 * paths are those of their build machine, or relative. */
static bool in_library_source(const char *file)
{
    static const char *const rust[] = {"library/core/", "library/alloc/", "library/std/"};

    return strstr(file, "/usr/include/c++/") || HAS_PREFIX_IN(file, rust) ||
           (strncmp(file, "/rustc/", 7) == 0 && strstr(file, "/library/"));
}

enum frame_role classify_frame(const char *module, const char *function, const char *file)
{
    const char *scope;

    if (module && is_module_named(base_name(module), "libleak"))
        return FRAME_ALLOCATOR;
    if (function) {
        scope = innermost_scope(function);
        if (NAME_IS_IN(function, allocators) || strncmp(scope, "operator new", 12) == 0)
            return FRAME_ALLOCATOR;
        if (lies_between_go_and_c(function))
            return FRAME_WRAPPER;
        if (NAME_IS_IN(function, start_up) || HAS_PREFIX_IN(scope, library_scopes))
            return FRAME_RUNTIME;
    }
    if (file && in_library_source(file))
        return FRAME_RUNTIME;
    if (classify_is_runtime_module(module))
        return FRAME_RUNTIME;
    return function && is_wrapper_name(function) ? FRAME_WRAPPER : FRAME_USER;
}

bool classify_is_python_module(const char *module)
{
    static const char *const prefixes[] = {"python3", "libpython3", "_ctypes", "libffi"};
    const char *base = base_name(module);

    return base && HAS_PREFIX_IN(base, prefixes);
}

bool classify_is_python_library(const char *file)
{
    const char *library = strstr(file, "/lib/python3");

    return strncmp(file, "<frozen ", 8) == 0 ||
           (library && !strstr(library, "/site-packages/") && !strstr(library, "/dist-packages/"));
}

bool classify_is_libleak_frame(const struct frame *frame)
{
    return frame->role == FRAME_ALLOCATOR && frame->module &&
           is_module_named(base_name(frame->module), "libleak");
}

static bool in_loader(const struct frame *frame)
{
    const char *base = base_name(frame->module);

    return base && (is_module_named(base, "ld") || strncmp(base, "ld-linux", 8) == 0);
}

/* Says whether a frame is the function that allocates libstdc++'s emergency pool for exceptions in
 * a program with libstdc++ linked statically. */
static bool is_static_pool(const struct frame *frame)
{
    return frame->function && (strstr(frame->function, "__freeres") ||
                               strstr(frame->function, "(anonymous namespace)::pool::pool("));
}

bool classify_is_runtime_block(const struct frame *const *frames, size_t count, size_t user,
                               uint64_t block_size)
{
    size_t first = 0;

    while (first < count && frames[first]->role == FRAME_ALLOCATOR)
        first++;
    if (first == count)
        return false; /* without frames nothing shows that a runtime owns the block */
    if (in_loader(frames[first]))
        return true; /* the loader keeps its link maps, thread vectors and TLS blocks */
    if (user == count) {
        /* A stack without a frame of the user belongs to the start-up or shutdown code of the
         * libraries, unless one of its frames is in no module or is an allocation wrapper. */
        for (size_t i = first; i < count; i++)
            if (frame_is_user_code(frames[i]))
                return false;
        return true;
    }
    for (size_t i = first; i < user; i++)
        if (frames[i]->function && ((classify_is_runtime_module(frames[i]->module) &&
                                     HAS_PREFIX_IN(frames[i]->function, libc_keeps)) ||
                                    HAS_PREFIX_IN(frames[i]->function, rust_keeps)))
            return true;
    return block_size == LIBSTDCXX_POOL && is_static_pool(frames[user]);
}
