/* cxx_shorten.c - see cxx_shorten.h. Step by step over the whole name, each step making it shorter.
 */
#include "common/base/cxx_shorten.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Templates and how many of their arguments stay; those behind go, when they are defaults. */
static const struct {
    const char *name;
    size_t kept;
} templates[] = {
    {"std::vector", 1},        {"std::deque", 1},
    {"std::list", 1},          {"std::forward_list", 1},
    {"std::set", 1},           {"std::multiset", 1},
    {"std::unordered_set", 1}, {"std::unordered_multiset", 1},
    {"std::map", 2},           {"std::multimap", 2},
    {"std::unordered_map", 2}, {"std::unordered_multimap", 2},
    {"std::unique_ptr", 1},    {"std::basic_", 1}, /* string, ostream ... */
};

/* What default arguments begin with. */
static const char *const defaults[] = {"std::allocator<",      "std::less<",
                                       "std::hash<",           "std::equal_to<",
                                       "std::default_delete<", "std::char_traits<"};

#define ROWS(table) (sizeof(table) / sizeof(*(table)))

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void cut(char *at, size_t length)
{
    memmove(at, at + length, strlen(at + length) + 1);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* "std::" at the beginning of a qualified name. */
static bool begins_std(const char *name, const char *at)
{
    return starts(at, "std::") && (at == name || (!is_word(at[-1]) && at[-1] != ':'));
}

static void drop_namespaces(char *name)
{
    static const char *const inner[] = {"__cxx11::", "__1::"};

    for (char *at = name; *at; at++) {
        if (starts(at, "[abi:cxx11]"))
            cut(at, strlen("[abi:cxx11]"));
        for (size_t i = 0; begins_std(name, at) && i < ROWS(inner); i++)
            if (starts(at + 5, inner[i]))
                cut(at + 5, strlen(inner[i]));
        if (!*at)
            return;
    }
}

/* Behind one argument: at its ',' or at the '>' of the list; NULL when that is not to be found.
 * What stands in parentheses may hold any comparison. */
static char *argument_end(char *at)
{
    size_t angles = 0, others = 0;

    for (; *at; at++) {
        bool plain = !others;

        if (starts(at, "operator") || (at[0] == '-' && at[1] == '>'))
            return NULL; /* whose brackets these are is not worth the trouble */
        if (plain && !angles && (*at == ',' || *at == '>'))
            return at;
        angles += plain && *at == '<';
        angles -= plain && *at == '>';
        others += *at == '(' || *at == '[' || *at == '{';
        if (*at == ')' || *at == ']' || *at == '}') {
            if (!others)
                return NULL;
            others--;
        }
    }
    return NULL;
}

static bool is_default(const char *argument)
{
    for (size_t i = 0; i < ROWS(defaults); i++)
        if (starts(argument, defaults[i]))
            return true;
    return false;
}

/* first: the first argument. */
static void drop_arguments(char *first, size_t kept)
{
    char *from = NULL, *at = first;

    for (size_t i = 0;; i++) {
        char *end = argument_end(at);

        if (!end)
            return;
        if (i >= kept && !is_default(at))
            return;
        if (*end == '>') {
            at = end;
            break;
        }
        if (i + 1 == kept)
            from = end;
        at = end + 1 + (end[1] == ' ');
    }
    if (from)
        cut(from, (size_t)(at - from));
}

static void drop_defaults(char *name)
{
    for (char *at = name; *at; at++)
        for (size_t i = 0; begins_std(name, at) && i < ROWS(templates); i++) {
            char *end = at + strlen(templates[i].name);

            if (!starts(at, templates[i].name))
                continue;
            if (end[-1] == '_')
                while (is_word(*end))
                    end++;
            if (*end == '<')
                drop_arguments(end + 1, templates[i].kept);
        }
}

/* "std::basic_string<char>" is std::string, and so on. */
static void name_aliases(char *name)
{
    for (char *at = name; *at; at++) {
        char *word = at + strlen("std::"), *end = word + strlen("basic_");

        if (!begins_std(name, at) || !starts(word, "basic_"))
            continue;
        while (is_word(*end))
            end++;
        if (starts(end, "<char>")) {
            cut(end, strlen("<char>"));
            cut(word, strlen("basic_"));
        } else if (starts(end, "<wchar_t>")) {
            cut(end, strlen("<wchar_t>"));
            cut(word, strlen("basic_") - 1);
            *word = 'w';
        }
    }
}

static void join_brackets(char *name)
{
    for (char *at = name; *at; at++)
        while (at[0] == '>' && at[1] == ' ' && at[2] == '>')
            cut(at + 1, 1);
}

size_t shorten_name(char *name)
{
    drop_namespaces(name);
    drop_defaults(name);
    name_aliases(name);
    join_brackets(name);
    return strlen(name);
}
