/* cxx_shorten.c - removes from C++ names what the standard library adds (cxx_shorten_name). Each
 * step goes over the whole name and makes it shorter. */
#include "common/base/term_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Prefixes of names of templates, and how many of their arguments always stay; later arguments are
 * removed when they have their default values. */
static const struct {
    const char *name;
    size_t kept;
} templates[] = {
    {"std::vector", 1},
    {"std::deque", 1},
    {"std::list", 1},
    {"std::forward_list", 1},
    {"std::set", 1},
    {"std::multiset", 1},
    {"std::unordered_set", 1},
    {"std::unordered_multiset", 1},
    {"std::map", 2},
    {"std::multimap", 2},
    {"std::unordered_map", 2},
    {"std::unordered_multimap", 2},
    {"std::unique_ptr", 1},
    {"std::basic_", 1},                  /* prefix of std::basic_string, std::basic_ostream ... */
    {"std::_Sp_counted_ptr_inplace", 1}, /* the type of the block that std::make_shared allocates */
};

/* Beginnings of the template arguments that are default values. */
static const char *const defaults[] = {
    "std::allocator<",          "std::less<",           "std::hash<",
    "std::equal_to<",           "std::default_delete<", "std::char_traits<",
    "(__gnu_cxx::_Lock_policy)"};

#define ROWS(table) (sizeof(table) / sizeof(*(table)))

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void remove_text(char *at, size_t length)
{
    memmove(at, at + length, strlen(at + length) + 1);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Says whether a qualified name begins with "std::" at `at`. */
static bool begins_std(const char *name, const char *at)
{
    return starts_with(at, "std::") && (at == name || (!is_word(at[-1]) && at[-1] != ':'));
}

static void drop_namespaces(char *name)
{
    static const char *const inner[] = {"__cxx11::", "__1::"};

    for (char *at = name; *at; at++) {
        if (starts_with(at, "[abi:cxx11]"))
            remove_text(at, strlen("[abi:cxx11]"));
        for (size_t i = 0; begins_std(name, at) && i < ROWS(inner); i++)
            if (starts_with(at + 5, inner[i]))
                remove_text(at + 5, strlen(inner[i]));
        if (!*at)
            return;
    }
}

/* The end of the template argument at `at`: its ',' or the '>' of the list; NULL when neither is
 * found. Skips parentheses, in which '<' and '>' may be comparisons. */
static char *argument_end(char *at)
{
    size_t angles = 0, others = 0;

    for (; *at; at++) {
        bool plain = !others;

        if (starts_with(at, "operator") || (at[0] == '-' && at[1] == '>'))
            return NULL; /* gives up: in an operator's name '<' and '>' are no brackets */
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
        if (starts_with(argument, defaults[i]))
            return true;
    return false;
}

/* Removes default arguments behind the first `kept` ones; `first` points to the first argument. */
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
        remove_text(from, (size_t)(at - from));
}

static void drop_defaults(char *name)
{
    for (char *at = name; *at; at++)
        for (size_t i = 0; begins_std(name, at) && i < ROWS(templates); i++) {
            char *end = at + strlen(templates[i].name);

            if (!starts_with(at, templates[i].name))
                continue;
            if (end[-1] == '_')
                while (is_word(*end))
                    end++;
            if (*end == '<')
                drop_arguments(end + 1, templates[i].kept);
        }
}

/* Replaces "std::basic_string<char>" by "std::string", "std::basic_string<wchar_t>" by
 * "std::wstring", and every other std::basic_ name in the same way. */
static void name_aliases(char *name)
{
    for (char *at = name; *at; at++) {
        char *word = at + strlen("std::"), *end = word + strlen("basic_");

        if (!begins_std(name, at) || !starts_with(word, "basic_"))
            continue;
        while (is_word(*end))
            end++;
        if (starts_with(end, "<char>")) {
            remove_text(end, strlen("<char>"));
            remove_text(word, strlen("basic_"));
        } else if (starts_with(end, "<wchar_t>")) {
            remove_text(end, strlen("<wchar_t>"));
            remove_text(word, strlen("basic_") - 1);
            *word = 'w';
        }
    }
}

static void join_brackets(char *name)
{
    for (char *at = name; *at; at++)
        while (at[0] == '>' && at[1] == ' ' && at[2] == '>')
            remove_text(at + 1, 1);
}

size_t cxx_shorten_name(char *name)
{
    drop_namespaces(name);
    drop_defaults(name);
    name_aliases(name);
    join_brackets(name);
    return strlen(name);
}

#define ELLIPSIS "\xe2\x80\xa6"

/* Returns the end of the argument list that begins behind a '<', at its '>'; NULL = it has none. */
static char *end_of_arguments(char *at)
{
    size_t angles = 1, parens = 0;

    for (; *at; at++) {
        parens += *at == '(';
        parens -= *at == ')' && parens;
        angles += *at == '<' && !parens;
        if (*at == '>' && !parens && !--angles)
            return at;
    }
    return NULL;
}

/* Goes back from the end of a bracketed part to its start: "(int)". Returns `at` if none ends
 * there. */
static const char *skip_back(const char *start, const char *at, char open, char close)
{
    size_t depth = 0;

    if (at == start || at[-1] != close)
        return at;
    for (const char *back = at; back > start;) {
        back--;
        depth += *back == close;
        if (*back == open && !--depth)
            return back;
    }
    return at;
}

/* Finds the last word of the name that ends at `end`, without parameters and template arguments:
 * "parse" of "app::parse<int>(char) const". Returns its length; 0 = there is none. */
static size_t last_word(const char *start, const char *end, const char **word)
{
    static const char constant[] = " const";
    const char *at = end;

    if ((size_t)(at - start) > strlen(constant) &&
        memcmp(at - strlen(constant), constant, strlen(constant)) == 0)
        at -= strlen(constant);
    at = skip_back(start, at, '(', ')');
    at = skip_back(start, at, '<', '>');
    *word = at;
    while (*word > start && (is_word((*word)[-1]) || (*word)[-1] == '~'))
        --*word;
    return (size_t)(at - *word);
}

/* Finds the first lambda in a list of arguments; NULL = there is none. */
static const char *find_lambda(const char *from, const char *end)
{
    static const char *const marks[] = {"::{lambda", "::<lambda", "::$_"};

    for (const char *at = from; at < end; at++)
        for (size_t i = 0; i < ROWS(marks); i++)
            if (starts_with(at, marks[i]))
                return at;
    return NULL;
}

size_t cxx_name_lambdas(char *name)
{
    static const char lead[] = "lambda in ";

    for (char *at = name, *end; *at; at++) {
        const char *lambda, *word;
        size_t length;

        if (starts_with(at, "operator<")) {
            at += strlen("operator<");
            at -= *at == 0;
            continue;
        }
        end = *at == '<' ? end_of_arguments(at + 1) : NULL;
        if (!end)
            continue;
        lambda = find_lambda(at + 1, end);
        length = lambda ? last_word(at + 1, lambda, &word) : 0;
        if (length && strlen(lead) + length <= (size_t)(end - at - 1)) {
            memmove(at + 1 + strlen(lead), word, length);
            memcpy(at + 1, lead, strlen(lead));
            remove_text(at + 1 + strlen(lead) + length,
                        (size_t)(end - at - 1) - strlen(lead) - length);
            at += strlen(lead) + length;
        } else if (!lambda) {
            at = end;
        }
    }
    return strlen(name);
}

size_t cxx_omit_arguments(char *name)
{
    for (char *at = name, *end; *at; at++) {
        if (starts_with(at, "operator<")) {
            at += strlen("operator");
            at += at[1] == '<';
            continue;
        }
        if (*at != '<')
            continue;
        end = end_of_arguments(at + 1);
        if (!end)
            break;
        if ((size_t)(end - at - 1) >= strlen(ELLIPSIS)) {
            memcpy(at + 1, ELLIPSIS, strlen(ELLIPSIS));
            at += 1 + strlen(ELLIPSIS);
            remove_text(at, (size_t)(end - at));
        } else {
            at = end;
        }
    }
    return strlen(name);
}
