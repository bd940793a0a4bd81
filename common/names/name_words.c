/* name_words.c - what the words in the name of a function say that it does. */
#include "common/names/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WORDS 16
#define NAME_MOST 127 /* most characters of a name that is split; longer names have no words */

/* The words of the last component of a function's name, in lower case: "free" and "node" of
 * tree::freeNode(int) and of free_node. A destructor has the word "~". */
struct words {
    char text[2 * NAME_MOST + 2];
    const char *word[WORDS];
    size_t count;
};

static bool begins_word(const char *name, size_t at)
{
    unsigned char before = (unsigned char)name[at - 1], here = (unsigned char)name[at];

    return !isalnum(before) || (isupper(here) && !isupper(before)) ||
           (isupper(here) && islower((unsigned char)name[at + 1]));
}

/* Returns the length of a qualified name without the template arguments at its end. */
static size_t length_without_arguments(const char *name, size_t length)
{
    size_t depth = 0, at = length;

    while (at && name[length - 1] == '>') {
        at--;
        depth += name[at] == '>';
        depth -= name[at] == '<';
        if (!depth)
            return at;
    }
    return length;
}

static void split_words(const char *function, struct words *words)
{
    const char *scope = demangle_scope(function);
    size_t end = length_without_arguments(scope, demangle_bare_length(scope)), start = end;
    char name[NAME_MOST + 1], *to = words->text;

    words->count = 0;
    while (start && !strchr(":>", scope[start - 1]))
        start--;
    if (end - start > NAME_MOST)
        return;
    memcpy(name, scope + start, end - start);
    name[end - start] = 0;
    for (size_t i = 0; name[i]; i++) {
        if (name[i] != '~' && !isalnum((unsigned char)name[i]))
            continue;
        if (!i || to == words->text || begins_word(name, i)) {
            if (words->count == WORDS)
                return;
            if (to != words->text)
                *to++ = 0;
            words->word[words->count++] = to;
        }
        *to++ = (char)tolower((unsigned char)name[i]);
        *to = 0;
    }
}

static bool ends_in(const char *word, const char *const *endings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(word), ending = strlen(endings[i]);

        if (length >= ending && strcmp(word + length - ending, endings[i]) == 0)
            return true;
    }
    return false;
}

#define ENDS_IN(word, table) ends_in(word, table, sizeof(table) / sizeof(*(table)))

bool name_says_release(const char *function)
{
    static const char *const release[] = {"~",      "clean",  "cleanup", "clear",   "close", "del",
                                          "deinit", "decref", "discard", "dispose", "done",  "drop",
                                          "fini",   "purge",  "term",    "uninit"};
    static const char *const endings[] = {"free",    "dealloc", "deallocate", "delete",
                                          "destroy", "release", "unref"};
    struct words words;

    split_words(function, &words);
    for (size_t i = 0; i < words.count; i++)
        if (words.word[i][0] == '~' || NAME_IS_IN(words.word[i], release) ||
            ENDS_IN(words.word[i], endings))
            return true;
    return false;
}

bool name_says_growth(const char *function)
{
    static const char *const growth[] = {"enlarge", "ensure", "expand",  "extend", "grow",
                                         "growth",  "rehash", "reserve", "resize"};
    static const char *const endings[] = {"realloc", "grow", "resize"};
    struct words words;

    split_words(function, &words);
    for (size_t i = 0; i < words.count; i++)
        if (NAME_IS_IN(words.word[i], growth) || ENDS_IN(words.word[i], endings))
            return true;
    return false;
}

size_t name_first_words(const char *function, char first[2][NAME_WORD_SIZE])
{
    struct words words;
    size_t count;

    split_words(function, &words);
    count = words.count < 2 ? words.count : 2;
    for (size_t i = 0; i < count; i++)
        snprintf(first[i], NAME_WORD_SIZE, "%s", words.word[i]);
    return count;
}

/* Words for making something, and the usual words for undoing that. */
static const struct {
    const char *make, *undo;
} opposites[] = {
    {"acquire", "release"},
    {"add", "remove"},
    {"alloc", "free dealloc"},
    {"allocate", "free deallocate release"},
    {"begin", "end finish"},
    {"build", ""},
    {"clone", ""},
    {"construct", "destruct destroy"},
    {"copy", ""},
    {"create", "destroy delete"},
    {"dup", ""},
    {"get", "put release"},
    {"init", "clear fini deinit uninit cleanup done exit term"},
    {"initialize", "clear finalize uninitialize deinitialize cleanup terminate"},
    {"load", "unload"},
    {"make", ""},
    {"new", "free delete del"},
    {"open", "close"},
    {"parse", ""},
    {"read", ""},
    {"ref", "unref"},
    {"register", "unregister deregister"},
    {"setup", "cleanup teardown"},
    {"start", "stop end finish"},
};

static bool is_word_of(const char *word, const char *list)
{
    size_t length = strlen(word);

    for (const char *at = list; *at;) {
        size_t next = strcspn(at, " ");

        if (next == length && strncmp(at, word, length) == 0)
            return true;
        at += next + (at[next] == ' ');
    }
    return false;
}

static unsigned word_undoes(const char *word, const char *make)
{
    for (size_t i = 0; i < sizeof(opposites) / sizeof(*opposites); i++) {
        if (strcmp(opposites[i].make, make) != 0)
            continue;
        if (is_word_of(word, opposites[i].undo))
            return 2;
        return is_word_of(word, "close del delete destroy discard dispose free release unref");
    }
    return 0;
}

/* Says whether two functions are of one class or namespace, or both of none. */
static bool is_same_scope(const char *a, const char *b)
{
    size_t length[2];
    const char *name[2] = {demangle_scope(a), demangle_scope(b)};

    for (int i = 0; i < 2; i++) {
        length[i] = length_without_arguments(name[i], demangle_bare_length(name[i]));
        while (length[i] && name[i][length[i] - 1] != ':')
            length[i]--;
    }
    return length[0] == length[1] && memcmp(name[0], name[1], length[0]) == 0;
}

unsigned name_undoes(const char *function, const char *maker)
{
    struct words words, made;
    size_t differing = 0, at = 0, tilde;

    split_words(function, &words);
    split_words(maker, &made);
    tilde = words.count && strcmp(words.word[0], "~") == 0;
    if (!made.count || words.count != made.count + tilde)
        return 0;
    for (size_t i = 0; i < made.count; i++)
        if (strcmp(words.word[i + tilde], made.word[i]) != 0) {
            differing++;
            at = i;
        }
    if (differing != !tilde || strcmp(made.word[0], "operator") == 0 ||
        !is_same_scope(function, maker))
        return 0;
    return tilde ? 2 : word_undoes(words.word[at], made.word[at]);
}
