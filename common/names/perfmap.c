/* perfmap.c - names addresses of generated code by a perf map.
 *
 * Each line of the map becomes an entry. One sweep over the entries, sorted by start, keeps a
 * heap of those that cover the current address, the newest on top. It yields spans that do not
 * overlap, so a lookup is one binary search, whatever the file contains. */
#include "common/names/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most bytes of a perf map that are read; of a longer one, its last bytes. */
#define SIZE_MOST (32u << 20)
#define NAME_MOST 1024
/* A perf map may have been changed last so many nanoseconds before the recorded start of the
 * process (file times are as coarse as a clock tick) or after its recorded end (a program may
 * flush its streams after libleak ended). */
#define EARLY_NS 20000000u
#define LATE_NS 5000000000u

struct perfmap_entry {
    uint64_t start, end;
    uint32_t name, length; /* offset and length of the name in map->text */
    uint32_t number;       /* line number in the map; higher is newer */
};

struct perfmap_span {
    uint64_t start, end;
    uint32_t entry;
};

struct perfmap {
    struct perfmap_of of;
    bool read;
    char *own; /* the malloc'd text of the map if it was read from a file, else NULL */
    const char *text;
    struct perfmap_entry *entries;
    size_t count, capacity;
    struct perfmap_span *spans;
    size_t span_count, span_capacity;
};

struct perfmap *perfmap_begin(struct arena *mem, const struct perfmap_of *of)
{
    struct perfmap *map = arena_alloc(mem, sizeof(*map));

    map->of = *of;
    return map;
}

void perfmap_end(struct perfmap *map)
{
    if (!map)
        return;
    free(map->own);
    free(map->entries);
    free(map->spans);
    map->own = NULL;
    map->entries = NULL;
    map->spans = NULL;
    map->span_count = 0;
}

/* ---- Parsing lines --------------------------------------------------------------------------- */

/* Parses hex digits and the space after them. False: the text has another form. */
static bool parse_hex(const char **at, const char *end, uint64_t *value)
{
    const char *from = *at;

    *value = 0;
    if (end - from > 2 && from[0] == '0' && (from[1] == 'x' || from[1] == 'X'))
        from += 2;
    for (*at = from; *at < end; ++*at) {
        char letter = **at;
        int digit = letter >= '0' && letter <= '9'   ? letter - '0'
                    : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                    : letter >= 'A' && letter <= 'F' ? letter - 'A' + 10
                                                     : -1;
        if (digit < 0)
            break;
        *value = *value << 4 | (uint64_t)digit;
    }
    if (*at == from || *at - from > 16 || *at == end || **at != ' ')
        return false;
    ++*at;
    return true;
}

static void parse_line(struct perfmap *map, const char *line, const char *end)
{
    struct perfmap_entry entry = {.number = (uint32_t)map->count};
    uint64_t size;

    while (end > line && (end[-1] == '\r' || end[-1] == ' '))
        end--;
    if (!parse_hex(&line, end, &entry.start) || !parse_hex(&line, end, &size) || line == end ||
        !size || entry.start > UINT64_MAX - size)
        return;
    entry.end = entry.start + size;
    entry.name = (uint32_t)(line - map->text);
    entry.length = (uint32_t)(end - line < NAME_MOST ? end - line : NAME_MOST);
    if (memchr(line, '\0', entry.length))
        return;
    map->entries = array_grow(map->entries, &map->capacity, map->count + 1, sizeof(entry));
    map->entries[map->count++] = entry;
}

/* ---- Spans that do not overlap --------------------------------------------------------------- */

static int by_start(const void *left, const void *right)
{
    const struct perfmap_entry *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* A heap of indices of entries, the newest on top. */
struct entry_heap {
    const struct perfmap_entry *entries;
    uint32_t *at;
    size_t count;
};

static bool is_newer(const struct entry_heap *heap, size_t a, size_t b)
{
    return heap->entries[heap->at[a]].number > heap->entries[heap->at[b]].number;
}

static void heap_swap(struct entry_heap *heap, size_t a, size_t b)
{
    uint32_t kept = heap->at[a];

    heap->at[a] = heap->at[b];
    heap->at[b] = kept;
}

static void heap_push(struct entry_heap *heap, uint32_t entry)
{
    size_t at = heap->count++;

    heap->at[at] = entry;
    for (; at && is_newer(heap, at, (at - 1) / 2); at = (at - 1) / 2)
        heap_swap(heap, at, (at - 1) / 2);
}

static void heap_pop(struct entry_heap *heap)
{
    size_t at = 0;

    heap->at[0] = heap->at[--heap->count];
    for (;;) {
        size_t best = at, left = 2 * at + 1;

        for (size_t child = left; child <= left + 1 && child < heap->count; child++)
            if (is_newer(heap, child, best))
                best = child;
        if (best == at)
            return;
        heap_swap(heap, at, best);
        at = best;
    }
}

static void add_span(struct perfmap *map, uint64_t start, uint64_t end, uint32_t entry)
{
    struct perfmap_span *last = map->span_count ? &map->spans[map->span_count - 1] : NULL;

    if (last && last->entry == entry && last->end == start) {
        last->end = end;
        return;
    }
    map->spans =
        array_grow(map->spans, &map->span_capacity, map->span_count + 1, sizeof(*map->spans));
    map->spans[map->span_count++] = (struct perfmap_span){start, end, entry};
}

static void make_spans(struct perfmap *map)
{
    struct entry_heap heap = {.entries = map->entries};
    size_t room = 0, next = 0;
    uint64_t at = 0;

    heap.at = array_grow(NULL, &room, map->count + 1, sizeof(*heap.at));
    while (next < map->count || heap.count) {
        uint64_t until;

        if (!heap.count)
            at = map->entries[next].start;
        while (next < map->count && map->entries[next].start == at)
            heap_push(&heap, (uint32_t)next++);
        while (heap.count && map->entries[heap.at[0]].end <= at)
            heap_pop(&heap);
        if (!heap.count)
            continue;
        until = map->entries[heap.at[0]].end;
        if (next < map->count && map->entries[next].start < until)
            until = map->entries[next].start;
        add_span(map, at, until, heap.at[0]);
        at = until;
    }
    free(heap.at);
}

void perfmap_parse(struct perfmap *map, const char *text, size_t length)
{
    const char *end = text + length;

    map->read = true;
    map->text = text;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        parse_line(map, text, stop ? stop : end);
        text = stop ? stop + 1 : end;
    }
    if (map->count)
        qsort(map->entries, map->count, sizeof(*map->entries), by_start);
    make_spans(map);
}

/* ---- Reading the file ------------------------------------------------------------------------ */

static uint64_t mtime_ns(const struct stat *st)
{
    return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

static bool is_trusted_owner(const struct perfmap_of *of, uid_t owner)
{
    struct stat st;

    return owner == 0 || owner == geteuid() || (stat(of->store, &st) == 0 && owner == st.st_uid);
}

/* Says whether the process may have written the map: the file was changed during the life of the
 * process, by a trusted user. Another process with the same pid lived earlier or later. */
static bool was_written_by_process(const struct perfmap_of *of, const struct stat *st)
{
    uint64_t written = mtime_ns(st);

    return is_trusted_owner(of, st->st_uid) && written + EARLY_NS >= of->started_ns &&
           (!of->ended_ns || written <= of->ended_ns + LATE_NS);
}

static int open_map(const struct perfmap_of *of)
{
    char name[64];

    if (of->file)
        return open(of->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    snprintf(name, sizeof(name), "/tmp/perf-%d.map", of->pid);
    return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
}

static size_t read_file_tail(int fd, off_t size, char *text)
{
    off_t from = size > (off_t)SIZE_MOST ? size - (off_t)SIZE_MOST : 0;
    size_t length = 0;
    ssize_t got;

    while (length < SIZE_MOST &&
           (got = pread(fd, text + length, SIZE_MOST - length, from + (off_t)length)) > 0)
        length += (size_t)got;
    if (from && length) { /* drop the incomplete first line */
        char *line = memchr(text, '\n', length);

        length = line ? length - (size_t)(line + 1 - text) : 0;
        if (line)
            memmove(text, line + 1, length);
    }
    return length;
}

static void read_map_file(struct perfmap *map)
{
    struct stat st;
    int fd = open_map(&map->of);

    map->read = true;
    if (fd < 0) {
        if (map->of.file)
            fprintf(stderr, "leakreport: --perf-map: %s cannot be opened: %s\n", map->of.file,
                    strerror(errno));
        return;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        (map->of.file || was_written_by_process(&map->of, &st)) && (map->own = malloc(SIZE_MOST)))
        perfmap_parse(map, map->own, read_file_tail(fd, st.st_size, map->own));
    else if (map->of.file)
        fprintf(stderr, "leakreport: --perf-map: %s is no regular file\n", map->of.file);
    close(fd);
}

struct perfmap_name perfmap_find(struct perfmap *map, uint64_t address)
{
    size_t low = 0, high;
    const struct perfmap_entry *entry;

    if (!map->read)
        read_map_file(map);
    for (high = map->span_count; low < high;) { /* finds the first span that ends after the
                                                 * address */
        size_t middle = low + (high - low) / 2;

        if (map->spans[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == map->span_count || map->spans[low].start > address)
        return (struct perfmap_name){0};
    entry = &map->entries[map->spans[low].entry];
    return (struct perfmap_name){map->text + entry->name, entry->length};
}

static const char *const v8_code[] = {"JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};
/* Prefixes of names that virtual machines give to their own code. */
static const char *const vm_code[] = {
    "Builtin:",
    "BytecodeHandler:",
    "Stub:",
    "RegExp:",
    "Interpreter",
    "StubRoutines",
    "I2C/C2I adapters",
    "native signature handlers",
};

#define ROWS(table) (sizeof(table) / sizeof(*(table)))

/* Returns the length of the word, among those of the NULL-terminated table, with which the text
 * begins; 0 = it begins with none. */
static size_t prefix_length(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return strlen(words[i]);
    return 0;
}

/* Cuts a number ":123" off the end of a text. False: there is none. */
static bool split_number(char *text, uint32_t *number)
{
    char *colon = strrchr(text, ':');

    if (!colon || colon == text || !colon[1] || strlen(colon) > 10 ||
        colon[1 + strspn(colon + 1, "0123456789")])
        return false;
    *number = (uint32_t)strtoul(colon + 1, NULL, 10);
    *colon = '\0';
    return true;
}

/* Parses V8's form "*name file:line:column". Name and file may contain spaces, but a file has
 * one of three prefixes. */
static void parse_v8_name(char *text, struct perfmap_function *name)
{
    static const char *const starts[] = {" /", " file://", " node:"};
    char *file = NULL;

    text += strspn(text, "*^~+") != 0;
    for (size_t i = 0; i < ROWS(starts) && !file; i++)
        file = *text == starts[i][1] && strncmp(text, starts[i] + 1, strlen(starts[i]) - 1) == 0
                   ? text /* the text is a file without a name in front */
                   : strstr(text, starts[i]);
    if (file == text) {
        name->function = "(anonymous)";
        file += *file == ' ';
    } else {
        name->function = *text ? text : "(anonymous)";
        if (!file)
            return;
        *file++ = '\0';
    }
    if (split_number(file, &name->column) && !split_number(file, &name->line)) {
        name->line = name->column;
        name->column = 0;
    }
    name->file = strncmp(file, "file://", 7) == 0 ? file + 7 : file;
}

static void parse_python_name(char *text, struct perfmap_function *name)
{
    char *file = strstr(text, ":/");

    name->function = text;
    if (!file || file == text)
        return;
    *file = '\0';
    name->file = file + 1;
}

struct perfmap_function perfmap_parse_name(struct arena *mem, const char *text, size_t length)
{
    char *copy = arena_copy(mem, text, length);
    size_t v8 = prefix_length(copy, v8_code, ROWS(v8_code));
    struct perfmap_function name = {.function = copy};

    if (v8)
        parse_v8_name(copy + v8, &name);
    else if (strncmp(copy, "py::", 4) == 0 && copy[4])
        parse_python_name(copy + 4, &name);
    else
        name.runtime = prefix_length(copy, vm_code, ROWS(vm_code)) > 0;
    return name;
}
