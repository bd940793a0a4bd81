#include "preload/sanitized.h"
#include "preload/symbols.h"

static bool begins_one(const struct symbols *symbols)
{
    static const char *const begins[] = {"__asan_init", "__hwasan_init", "__tsan_init",
                                         "__msan_init"};
    for (size_t i = 0; i < ARRAY_LENGTH(begins); i++)
        if (symbols_exported(symbols, begins[i]))
            return true;
    return false;
}

static bool is_other(const struct symbols *symbols, const ElfW(Rela) * relocation,
                     void *context UNUSED)
{
    const char *name = symbols->names + symbols_of(symbols, relocation)->st_name;
    return !symbols_is_same(name, "__sanitizer_symbolize_code");
}

/* Linked statically, some begin without a name for others: but each asks for a symbolizer, and
 * stands in the place of a function that hardly anybody else defines. */
static bool has_one_inside(const struct symbols *symbols)
{
    return symbols_exported(symbols, "_obstack_newchunk") && !symbols_each(symbols, is_other, NULL);
}

bool sanitized(void)
{
    static enum { UNKNOWN, NO, YES } answer;
    const struct link_map *program = _r_debug.r_map;
    struct symbols symbols;
    if (answer != UNKNOWN)
        return answer == YES;
    answer = NO;
    for (const struct link_map *map = program; map && answer == NO; map = map->l_next)
        if (symbols_read_at(map->l_addr, map->l_ld, &symbols) &&
            (begins_one(&symbols) || (map == program && has_one_inside(&symbols))))
            answer = YES;
    return answer == YES;
}
