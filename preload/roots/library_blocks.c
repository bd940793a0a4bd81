/* library_blocks.c - finds the blocks by their allocation stacks, and clears them. */
#include "preload/roots/library_blocks.h"
#include "preload/elf/symbols.h"
#include "preload/interpose/libc_stream.h"
#include "preload/resources/handle_table.h"
#include "preload/contexts/context_tree.h"
#include "preload/contexts/sites.h"
#include "preload/base/sys.h"

#include <link.h>

#define LIBRARIES_MOST 32
#define FUNCTIONS_MOST 256
#define FRAMES_MOST 24 /* of a library, below the program's */

/* What these allocate, themselves or by functions of their library, never holds a pointer of the
 * program. A function that stores what it is given must not be here. */
static const char *const keeps_nothing[] = {
    /* buffers of streams */
    "_IO_file_doallocate",
    "_IO_default_doallocate",
    "_IO_doallocbuf",
    "_IO_wdoallocbuf",
    "_IO_default_pbackfail",
    "_ZNSt13basic_filebufIcSt11char_traitsIcEE27_M_allocate_internal_bufferEv",
    "_ZNSt13basic_filebufIwSt11char_traitsIwEE27_M_allocate_internal_bufferEv",
    /* regular expressions */
    "regcomp",
    "regexec",
    "re_compile_pattern",
    "re_compile_fastmap",
    "re_search",
    "re_search_2",
    "re_match",
    "re_match_2",
    /* locales, translations, character sets */
    "setlocale",
    "newlocale",
    "duplocale",
    "bindtextdomain",
    "bind_textdomain_codeset",
    "textdomain",
    "dcgettext",
    "dcngettext",
    "catopen",
    "iconv_open",
    "iconv",
    "__gconv_open",
    "fwide",
    "fputwc",
    "putwc",
    "fgetwc",
    "getwc",
    "ungetwc",
    "fputws",
    "fgetws",
    "vfwprintf",
    "vswprintf",
    "vfwscanf",
    "btowc",
    "wctob",
    "mbtowc",
    "mbrtowc",
    "mbstowcs",
    "mbsrtowcs",
    "mbsnrtowcs",
    "wctomb",
    "wcrtomb",
    "wcstombs",
    "wcsrtombs",
    "wcsnrtombs",
    /* users, groups, hosts, services */
    "getpwnam",
    "getpwuid",
    "getpwent",
    "getgrnam",
    "getgrgid",
    "getgrent",
    "getspnam",
    "getservbyname",
    "getservbyport",
    "getservent",
    "getprotobyname",
    "getprotobynumber",
    "gethostbyname",
    "gethostbyname2",
    "gethostbyaddr",
    "getaddrinfo",
    "getpwnam_r",
    "getpwuid_r",
    "getgrnam_r",
    "getgrgid_r",
    "gethostbyname_r",
    "gethostbyname2_r",
    "gethostbyaddr_r",
    "__nss_database_get",
    "__nss_lookup_function",
    "__res_ninit",
    /* time zones, the loader's errors, system tables */
    "tzset",
    "mktime",
    "strftime",
    "localtime",
    "dlopen",
    "dlsym",
    "dlclose",
    "dlerror",
    "getmntent",
    "getutent",
    "getusershell",
    "syslog",
    "vsyslog",
    "pthread_getattr_np",
};

/* What a site allocates: the program's blocks, those of a library that may hold the program's
 * pointers, and those that cannot. */
enum kept { KEPT_UNKNOWN, KEPT_BY_PROGRAM, KEPT_SCANNED, KEPT_BY_LIBRARY, KEPT_BY_LOADER };

struct code {
    uintptr_t start, end;
};

struct search {
    const struct roots_input *input;
    struct code library[LIBRARIES_MOST], loader, function[FUNCTIONS_MOST];
    unsigned library_count, function_count;
    uint32_t sites;
    uint8_t *of_site;           /* enum kept */
    uint64_t *of_library, *own; /* a bit for each node: a library's; one that holds nothing */
};

/* ---- The libraries --------------------------------------------------------------------------- */

static bool is_called(const struct elf_image *image, const char *name)
{
    const char *slash = strrchr(image->path, '/');
    return strncmp(slash ? slash + 1 : image->path, name, strlen(name)) == 0;
}

static bool is_loader(const struct elf_image *image)
{
    return is_called(image, "ld-linux") || is_called(image, "ld-2.") || is_called(image, "ld.so.");
}

/* Modules of iconv and of the name services: what they allocate below a function of the list is as
 * much libc's as its own. */
static bool is_plugin(const struct elf_image *image)
{
    return strstr(image->path, "/gconv/") || is_called(image, "libnss_") ||
           is_called(image, "libresolv");
}

static bool has_functions(const struct elf_image *image)
{
    return elf_images_is_libc(image) || is_called(image, "libstdc++.so");
}

static const ElfW(Dyn) * dynamic_of(const struct elf_image *image)
{
    const ElfW(Ehdr) *header = (const void *)image->start;
    const ElfW(Phdr) *segment = (const void *)(image->start + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_DYNAMIC)
            return (const void *)(image->bias + segment[i].p_vaddr);
    return NULL;
}

static void add_functions(struct search *search, const struct elf_image *image)
{
    const ElfW(Dyn) *dynamic = dynamic_of(image);
    struct symbols symbols;
    if (!dynamic || !symbols_read_at(image->bias, dynamic, &symbols))
        return;
    for (size_t i = 0; i < ARRAY_LENGTH(keeps_nothing); i++) {
        struct code *code = &search->function[search->function_count];
        if (search->function_count < FUNCTIONS_MOST &&
            symbols_find_function(&symbols, keeps_nothing[i], &code->start, &code->end))
            search->function_count++;
    }
}

static void find_libraries(struct search *search)
{
    const struct elf_images *images = search->input->images;
    for (uint32_t i = 0; i < images->count; i++) {
        const struct elf_image *image = &images->image[i];
        const struct code code = {image->start, image->end};
        if (search->library_count < LIBRARIES_MOST &&
            (is_loader(image) || has_functions(image) || is_plugin(image)))
            search->library[search->library_count++] = code;
        if (is_loader(image))
            search->loader = code;
        if (has_functions(image))
            add_functions(search, image);
    }
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

static bool is_in(const struct code *code, unsigned count, uintptr_t pc)
{
    for (unsigned i = 0; i < count; i++)
        if (pc - code[i].start < code[i].end - code[i].start)
            return true;
    return false;
}

static enum kept judge_stack(const struct search *search, uint32_t node)
{
    struct leak_node frame;
    for (unsigned i = 0; i < FRAMES_MOST && context_tree_next(&node, &frame); i++) {
        if (!is_in(search->library, search->library_count, frame.pc - 1))
            return i ? KEPT_SCANNED : KEPT_BY_PROGRAM;
        if (i == 0 && is_in(&search->loader, 1, frame.pc - 1))
            return KEPT_BY_LOADER;
        if (is_in(search->function, search->function_count, frame.pc - 1))
            return KEPT_BY_LIBRARY;
    }
    return node < LEAK_NODE_FIRST ? KEPT_BY_PROGRAM : KEPT_SCANNED;
}

static enum kept judge_site(struct search *search, uint32_t site)
{
    if (site > search->sites)
        return KEPT_BY_PROGRAM;
    if (search->of_site[site] == KEPT_UNKNOWN)
        search->of_site[site] = judge_stack(search, sites_node(site));
    return search->of_site[site];
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static bool is_own(const struct search *search, uint32_t node)
{
    return search->own[node / 64] >> node % 64 & 1;
}

/* The next node at or after this one that is a library's; the number of nodes: none. */
static uint32_t next_of_library(const struct search *search, uint32_t node)
{
    uint32_t count = reach_count(search->input->reach);
    for (; node < count; node = (node | 63) + 1) {
        uint64_t rest = search->of_library[node / 64] >> node % 64;
        if (rest)
            return node + __builtin_ctzll(rest);
    }
    return count;
}

/* A directory is mostly a buffer. It is known by its hook: opendir leaves no frame, because it jumps
 * to a function that has no name. */
static bool is_directory(const struct block *block)
{
    return block->size >= LEAK_PAGE &&
           handle_table_find(LEAK_RESOURCE_DIR, block->address).number != 0;
}

static void find_own(struct search *search)
{
    const struct reach *reach = search->input->reach;
    uint32_t count = reach_count(reach), node;
    for (node = 0; node < count; node++)
        if (judge_site(search, reach_site(reach, node)) != KEPT_BY_PROGRAM)
            search->of_library[node / 64] |= 1ull << node % 64;
    for (node = next_of_library(search, 0); node < count;
         node = next_of_library(search, node + 1)) {
        struct block block = reach_block(reach, node);
        if (judge_site(search, block.site) >= KEPT_BY_LIBRARY || is_directory(&block))
            search->own[node / 64] |= 1ull << node % 64;
    }
}

/* Blocks of thread-local storage are the loader's, and the program's variables are in them. */
static void leave_out_tls(struct search *search, const struct roots *roots)
{
    const struct reach *reach = search->input->reach;
    for (uint32_t i = 0; i < roots->ranges.count; i++) {
        const struct scan_range *range = &roots->ranges.range[i];
        if (range->root_class != LEAK_ROOT_CLASS_TLS)
            continue;
        for (uintptr_t at = range->start; at + sizeof at <= range->end; at += sizeof at) {
            uint32_t node = reach_find_node(reach, arch_address(*(void *const *)at));
            if (node != REACH_NONE && judge_site(search, reach_site(reach, node)) == KEPT_BY_LOADER)
                search->own[node / 64] &= ~(1ull << node % 64);
        }
    }
}

/* Shared memory is the program's, not a copy. */
static bool is_copied(const struct search *search, const struct block *block)
{
    const struct mapping *mapping = procmaps_find(search->input->maps, block->address);
    return mapping && !mapping->shared && block->address + block->size <= mapping->end;
}

/* Says whether a block was there when the other one was allocated. Ticks order blocks of two
 * threads. */
static bool is_older(const struct block *block, const struct block *than)
{
    return block->thread == than->thread ? block->count < than->count : block->tick < than->tick;
}

/* Says whether a block of a library may hold the pointer. Blocks of the library itself are held,
 * those of the program are not. Other blocks come from libraries too (strdup, or a function of libc
 * that is not in the list): libc has set the pointer if they are newer than the holder; the pointer
 * is left over from before if they are older. */
static bool may_hold(struct search *search, const struct block *holder, uintptr_t word)
{
    uint32_t to = reach_find_node(search->input->reach, arch_address((void *)word));
    if (to == REACH_NONE || is_own(search, to))
        return to != REACH_NONE;
    struct block held = reach_block(search->input->reach, to);
    return judge_site(search, held.site) != KEPT_BY_PROGRAM && !is_older(&held, holder);
}

static void clear_words(struct search *search, const struct block *holder, uintptr_t start,
                        uintptr_t end)
{
    uintptr_t *word = (uintptr_t *)(uintptr_t)round_up(start, sizeof *word);
    for (; (uintptr_t)(word + 1) <= end; word++)
        if (*word && !may_hold(search, holder, *word))
            *word = 0;
}

/* A stream holds the buffer and the cookie that the program has given it, and libc keeps other
 * streams in it. Its numbers are narrower than words or never written, and behind a FILE there may
 * be the same for wide characters. */
static void clear_stream(struct search *search, const struct block *block)
{
    const uintptr_t at = block->address;
    const FILE *stream = (const FILE *)at;
    if (!libc_stream_is(stream, block->size))
        return;
    uintptr_t wide = (uintptr_t)stream->_wide_data;
    clear_words(search, block, at + offsetof(FILE, _fileno), at + offsetof(FILE, _lock));
    clear_words(search, block, at + offsetof(FILE, _offset), at + offsetof(FILE, _wide_data));
    clear_words(search, block, at + offsetof(FILE, _freeres_list), at + sizeof *stream);
    if (wide - at < block->size)
        clear_words(search, block, wide, at + block->size);
}

static void clear_blocks(struct search *search)
{
    const struct reach *reach = search->input->reach;
    uint32_t count = reach_count(reach), node;
    for (node = next_of_library(search, 0); node < count;
         node = next_of_library(search, node + 1)) {
        struct block block = reach_block(reach, node);
        if (!is_copied(search, &block))
            continue;
        if (is_own(search, node))
            clear_words(search, &block, block.address, block.address + block.size);
        else
            clear_stream(search, &block);
    }
}

static struct search search;

bool library_blocks_are_of(uint32_t site)
{
    return search.of_site && judge_site(&search, site) >= KEPT_BY_LIBRARY;
}

void library_blocks_clear(const struct roots_input *input, const struct roots *roots)
{
    size_t bits = reach_count(input->reach) / 8 + sizeof(uint64_t);
    search.input = input;
    search.sites = sites_last();
    search.of_site = sys_map_lazily(search.sites + 1ul);
    search.of_library = sys_map_lazily(bits);
    search.own = sys_map_lazily(bits);
    if (!search.of_site || !search.of_library || !search.own)
        return;
    find_libraries(&search);
    find_own(&search);
    leave_out_tls(&search, roots);
    clear_blocks(&search);
}
