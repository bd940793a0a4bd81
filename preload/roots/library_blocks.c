/* library_blocks.c - finds by their allocation stacks the blocks that libraries use for themselves,
 * and clears them. */
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
/* The number of innermost frames of a stack among which a function of keeps_nothing is looked
 * for. */
#define FRAMES_MOST 24

/* Functions that allocate, themselves or through functions of their library, blocks in which no
 * pointer of the program is ever stored. A function that stores a pointer that it was given must
 * not be in this list. */
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

/* Who owns the blocks of a site. KEPT_UNKNOWN: not found out yet. KEPT_BY_PROGRAM: the program.
 * KEPT_SCANNED: a library, but the blocks may hold pointers of the program, so they are scanned.
 * KEPT_BY_LIBRARY: a library, and the blocks hold no such pointer. KEPT_BY_LOADER: the dynamic
 * loader, and the blocks hold no such pointer. */
enum kept { KEPT_UNKNOWN, KEPT_BY_PROGRAM, KEPT_SCANNED, KEPT_BY_LIBRARY, KEPT_BY_LOADER };

struct code {
    uintptr_t start, end;
};

struct search {
    const struct roots_input *input;
    struct code library[LIBRARIES_MOST], loader, function[FUNCTIONS_MOST];
    unsigned library_count, function_count;
    uint32_t sites;
    uint8_t *of_site; /* for each site an enum kept: who owns its blocks */
    /* Bit sets of nodes. of_library: blocks that a library allocated; own: those of them that hold
     * no pointer of the program. */
    uint64_t *of_library, *own;
};

/* ---- The libraries and their functions ------------------------------------------------------- */

static bool is_called(const struct elf_image *image, const char *name)
{
    const char *slash = strrchr(image->path, '/');
    return strncmp(slash ? slash + 1 : image->path, name, strlen(name)) == 0;
}

static bool is_loader(const struct elf_image *image)
{
    return is_called(image, "ld-linux") || is_called(image, "ld-2.") || is_called(image, "ld.so.");
}

/* Says whether an object is a module of iconv or of the name services: what they allocate when a
 * function in keeps_nothing calls them holds no pointer of the program either. */
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

/* ---- Judging allocation stacks --------------------------------------------------------------- */

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

/* ---- Finding and clearing blocks ------------------------------------------------------------- */

static bool is_own(const struct search *search, uint32_t node)
{
    return search->own[node / 64] >> node % 64 & 1;
}

/* Returns the first node, from this one on, whose block a library allocated; the number of all
 * nodes if there is none. */
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

/* Says whether a block is a DIR, which is mostly a buffer. It is recognised by the record that the
 * hook of opendir made: the allocation stack does not show opendir, which jumps to a function
 * without a name. */
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

/* Removes blocks of thread-local storage from the set of blocks to clear: the loader allocates
 * them, but the program's variables are in them. The dynamic thread vectors (DTV) point to them. */
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

/* Says whether the block is in memory that this process has a copy of; shared memory must not be
 * changed. */
static bool is_copied(const struct search *search, const struct block *block)
{
    const struct mapping *mapping = procmaps_find(search->input->maps, block->address);
    return mapping && !mapping->shared && block->address + block->size <= mapping->end;
}

/* Says whether a block was there before the other one was allocated. Within a thread the numbers of
 * allocations tell, between threads the ticks. */
static bool is_older(const struct block *block, const struct block *than)
{
    return block->thread == than->thread ? block->count < than->count : block->tick < than->tick;
}

/* Says whether a word in a block of a library, the holder, can be a pointer that the library has
 * stored. It can, if it points to a block that holds no pointer of the program (is_own); it cannot,
 * if it points to a block of the program. Blocks of all other sites come from a library, too
 * (strdup, or a function of libc that is not in keeps_nothing): if such a block is newer than the
 * holder, libc has stored the pointer; if it is older, the pointer is a leftover in recycled
 * memory. */
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

/* Clears the words of a FILE that cannot hold pointers. A stream holds the buffer and the cookie
 * that the program has given it, and libc stores pointers to other streams in it. Its numbers are
 * narrower than words or never written. A second part for wide characters may follow the FILE in
 * the block. */
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
