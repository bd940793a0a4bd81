#include "preload/elf/cxx_match.h"
#include "preload/base/strbuf.h"

/* What is left of the name that is wanted while a symbol is read. */
struct match {
    const char *at, *end;
    bool begun;
    const char *part; /* the last one that was read */
    size_t part_length;
};

static bool take(struct match *match, const char *text, size_t length)
{
    if ((size_t)(match->end - match->at) < length || memcmp(match->at, text, length) != 0)
        return false;
    match->at += length;
    return true;
}

/* One scope, or the name itself. */
static bool take_part(struct match *match, const char *mark, const char *part, size_t length)
{
    if (match->begun && !take(match, "::", 2))
        return false;
    match->begun = true;
    match->part = part;
    match->part_length = length;
    return take(match, mark, strlen(mark)) && take(match, part, length);
}

/* "4Pool"; NULL: it is no such. */
static const char *read_length(const char *at, size_t *length)
{
    for (*length = 0; *at >= '0' && *at <= '9' && *length < 65536; at++)
        *length = *length * 10 + (*at - '0');
    return *length && !memchr(at, '\0', *length) ? at : NULL;
}

static bool is_anonymous(const char *part, size_t length)
{
    return length >= 10 && memcmp(part, "_GLOBAL__N", 10) == 0;
}

/* Rust ends each name by the hash of what it was made from. */
static bool is_hash(const char *part, size_t length)
{
    return length == 17 && part[0] == 'h' && part[length] == 'E';
}

static const char *take_named(struct match *match, const char *at)
{
    static const char anonymous[] = "(anonymous namespace)";
    size_t length;
    const char *part = read_length(at, &length);
    if (!part)
        return NULL;
    bool taken = is_hash(part, length) ||
                 (is_anonymous(part, length) ? take_part(match, "", anonymous, sizeof anonymous - 1)
                                             : take_part(match, "", part, length));
    return taken ? part + length : NULL;
}

/* A part, or a mark of one that has no say in the name; NULL: nothing that is read here, or another
 * name than the one that is wanted. */
static const char *take_next(struct match *match, const char *at)
{
    size_t length;
    switch (*at) {
    case 'L': /* static */
        return at + 1;
    case 'B': /* [abi:cxx11] */
        at = read_length(at + 1, &length);
        return at ? at + length : NULL;
    case 'S':
        return at[1] == 't' && take_part(match, "", "std", 3) ? at + 2 : NULL;
    case 'C':
    case 'D': /* constructors and destructors have the name of their class */
        return match->part && at[1] >= '0' && at[1] <= '5' &&
                       take_part(match, *at == 'D' ? "~" : "", match->part, match->part_length)
                   ? at + 2
                   : NULL;
    default:
        return take_named(match, at);
    }
}

static bool is_cxx(const char *symbol, struct match match)
{
    if (!text_starts(symbol, "_Z"))
        return false;
    const char *at = symbol + 2;
    if (*at == 'N') {
        at += 1 + strspn(at + 1, "rVKRO");
        while (at && *at && *at != 'E')
            at = take_next(&match, at);
    } else {
        bool scope;
        do {
            scope = *at == 'L' || *at == 'S';
            at = take_next(&match, at);
        } while (at && scope);
    }
    return at && match.begun && match.at == match.end;
}

/* A piece of a function, which is not where it begins. */
static bool is_piece(const char *suffix)
{
    return strstr(suffix, ".cold") || strstr(suffix, ".part");
}

/* Behind a name: a version, or how a clone came to be. */
static bool may_follow(const char *suffix)
{
    return !*suffix || *suffix == '@' || text_starts(suffix, ".isra") ||
           text_starts(suffix, ".constprop") || text_starts(suffix, ".lto_priv") ||
           text_starts(suffix, ".llvm.");
}

bool cxxname_is(const char *symbol, const char *wanted)
{
    size_t length = strcspn(wanted, "(");
    if (!length) /* of an anonymous namespace */
        length = strlen(wanted);
    struct match match = {.at = wanted, .end = wanted + length};
    if (!length || is_piece(symbol))
        return false;
    if (strncmp(symbol, wanted, length) == 0 && may_follow(symbol + length))
        return true;
    return is_cxx(symbol, match);
}
