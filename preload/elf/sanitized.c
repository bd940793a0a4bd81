#include "preload/elf/sanitized.h"
#include "preload/elf/symbols.h"

enum sign { BEGINS, SYMBOLIZES, IN_PLACE_OF_LIBC };

static const struct {
    const char *name;
    enum sign sign;
} signs[] = {
#define SIGN(name, sign) {#name, sign},
#include "preload/elf/sanitizers.def"
#undef SIGN
};

static bool exports(const struct symbols *symbols, enum sign sign)
{
    for (size_t i = 0; i < ARRAY_LENGTH(signs); i++)
        if (signs[i].sign == sign && symbols_exported(symbols, signs[i].name))
            return true;
    return false;
}

static bool is_other(const struct symbols *symbols, const ElfW(Rela) * relocation,
                     void *context UNUSED)
{
    const char *name = symbols->names + symbols_of(symbols, relocation)->st_name;
    for (size_t i = 0; i < ARRAY_LENGTH(signs); i++)
        if (signs[i].sign == SYMBOLIZES && symbols_is_same(name, signs[i].name))
            return false;
    return true;
}

static bool has_one_inside(const struct symbols *symbols)
{
    return exports(symbols, IN_PLACE_OF_LIBC) && !symbols_each(symbols, is_other, NULL);
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
            (exports(&symbols, BEGINS) || (map == program && has_one_inside(&symbols))))
            answer = YES;
    return answer == YES;
}
