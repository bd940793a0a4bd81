#include "preload/base/strbuf.h"

#include "leak_escape.h"

#include <stdarg.h>

struct strbuf strbuf_on(char *buffer, size_t size)
{
    buffer[0] = '\0';
    return (struct strbuf){.bytes = buffer, .size = size};
}

void strbuf_add_bytes(struct strbuf *text, const char *bytes, size_t length)
{
    size_t room = text->size - 1 - text->length;
    if (length > room) {
        length = room;
        text->cut = true;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void strbuf_add(struct strbuf *text, const char *string)
{
    strbuf_add_bytes(text, string, strlen(string));
}

void strbuf_add_shown(struct strbuf *text, const char *string)
{
    char shown[LEAK_ESCAPE_SIZE];
    for (size_t length; (length = leak_escape(string, shown)); string += length)
        strbuf_add(text, shown);
}

void strbuf_add_all(struct strbuf *text, ...)
{
    va_list parts;
    va_start(parts, text);
    for (const char *part; (part = va_arg(parts, const char *));)
        strbuf_add(text, part);
    va_end(parts);
}

void strbuf_add_number(struct strbuf *text, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = '0' + number % 10;
    while (number /= 10);
    strbuf_add_bytes(text, digits + at, sizeof digits - at);
}

void strbuf_add_hex(struct strbuf *text, uint64_t number)
{
    char digits[16];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[number % 16];
    while (number /= 16);
    strbuf_add(text, "0x");
    strbuf_add_bytes(text, digits + at, sizeof digits - at);
}

void strbuf_add_time(struct strbuf *text, uint64_t ns)
{
    bool seconds = ns % 1000000000 == 0;
    strbuf_add_number(text, seconds ? ns / 1000000000 : ns / 1000000);
    strbuf_add(text, seconds ? "s" : "ms");
}

void strbuf_add_fd_path(struct strbuf *text, int fd)
{
    strbuf_add(text, "/proc/self/fd/");
    strbuf_add_number(text, fd);
}

const char *path_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool starts_with(const char *string, const char *prefix)
{
    return strncmp(string, prefix, strlen(prefix)) == 0;
}

bool equals_word(const char *string, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(string, word, length) == 0;
}

bool parse_bool(const char *string, size_t length, bool *out)
{
    static const char *const words[][2] = {
        {"0", "1"}, {"off", "on"}, {"no", "yes"}, {"false", "true"}};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        for (int truth = 0; truth < 2; truth++)
            if (equals_word(string, length, words[i][truth])) {
                *out = truth;
                return true;
            }
    return false;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

bool parse_number(const char *string, size_t length, uint64_t *out)
{
    unsigned base = 10;
    if (length > 2 && string[0] == '0' && (string[1] == 'x' || string[1] == 'X')) {
        base = 16;
        string += 2;
        length -= 2;
    }
    uint64_t value = 0;
    if (!length)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = digit_value(string[i]);
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}

uint64_t parse_hex(const char **at)
{
    uint64_t value = 0;
    for (; digit_value(**at) < 16; ++*at)
        value = value << 4 | digit_value(**at);
    return value;
}

bool parse_size(const char *string, size_t length, uint64_t *out)
{
    static const char units[] = "kmg";
    const char *unit = length ? strchr(units, string[length - 1] | 0x20) : NULL;
    unsigned shift = unit && *unit ? 10 * (unit - units + 1) : 0;
    if (!parse_number(string, shift ? length - 1 : length, out))
        return false;
    if (shift && *out >> (64 - shift))
        return false;
    *out <<= shift;
    return true;
}

bool parse_time(const char *string, size_t length, uint64_t *out)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};
    size_t digits = 0, unit = 1;
    while (digits < length && string[digits] >= '0' && string[digits] <= '9')
        digits++;
    if (digits < length)
        for (unit = 0; unit < ARRAY_LENGTH(units); unit++)
            if (equals_word(string + digits, length - digits, units[unit].name))
                break;
    return unit < ARRAY_LENGTH(units) && parse_number(string, digits, out) &&
           !__builtin_mul_overflow(*out, units[unit].ns, out);
}

/* Returns the index of the word in words, from 1; 0: the word is not there. */
static size_t find_word(const char *word, size_t length, const char *const *words, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (equals_word(word, length, words[i]))
            return i;
    return 0;
}

bool parse_word_set(const char *list, size_t length, const char *const *words, size_t count,
                    uint32_t *out)
{
    const char *end = list + length;
    for (*out = 0; list < end;) {
        const char *comma = memchr(list, ',', end - list);
        size_t size = (comma ? comma : end) - list, place = find_word(list, size, words, count);
        if (!place && !equals_word(list, size, "none"))
            return false;
        *out |= place ? 1u << place : 0;
        list += size + (comma != NULL);
    }
    return true;
}
