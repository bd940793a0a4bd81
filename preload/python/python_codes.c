/* python_codes.c - records the Python functions that occur in call stacks (python.h). */
#include "preload/python/python.h"
#include "preload/python/python_layout.h"
#include "preload/memory/arena.h"
#include "preload/base/lock.h"
#include "preload/base/sys.h"
#include "preload/store/store.h"

/* The largest number of functions that are recorded; further ones have no id. */
#define IDS_MOST (1u << 20)
#define CHUNK (16 * LEAK_PAGE - sizeof(struct leak_chunk))

/* The content of a code object, which is Python's object for a function. */
struct content {
    uint32_t first_line, line_table, file_length, name_length, lines_length;
    char file[LEAK_CODE_FILE], name[LEAK_CODE_NAME], lines[LEAK_CODE_LINES];
};

/* A recorded function. The hash table of recorded functions has open addressing by the hash of
 * their content, and is at most half full. */
struct known_code {
    uint64_t hash;
    struct leak_code *record; /* NULL: the slot is empty */
};

struct python_codes python_codes;
static void (*free_code)(void *code); /* tp_dealloc of Python's type for code objects */
static struct lock lock;              /* guards the variables below */
static struct content *content;       /* scratch: the content that was read last */
static struct known_code *known;
static uint32_t slots, count;
/* The chunk of type CODES to which records are appended. */
static struct {
    char *payload;
    uint64_t used, size;
} chunk;

/* ---- Reading code objects -------------------------------------------------------------------- */

/* Number of bytes that have the head of any object and the content of most strings. */
#define NEAR 160
#define HEAD 40 /* least number of bytes of an object */

/* The first bytes of an object, copied by one system call. They end with the page at the latest:
 * the next one may not exist. */
struct near {
    uint32_t size;
    uint64_t words[NEAR / 8];
};

static bool read_near(uintptr_t object, struct near *near)
{
    uint32_t left = LEAK_PAGE - object % LEAK_PAGE;
    near->size = left >= NEAR ? NEAR : left >= HEAD ? left : HEAD;
    return sys_peek(object, near->words, near->size);
}

static uint32_t add_utf8(char *out, uint32_t at, uint32_t most, uint32_t c)
{
    char bytes[4];
    uint32_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (at + length > most)
        return most + 1;
    for (uint32_t i = length; i-- > 1; c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(length == 1 ? c : (0xf00 >> length & 0xff) | c);
    memcpy(out + at, bytes, length);
    return at + length;
}

/* Converts a string to UTF-8, truncated to at most `most` bytes; returns the number of bytes.
 * width: bytes of each character; 1 means Latin-1. */
static uint32_t convert_string(uintptr_t from, uint64_t characters, uint32_t width, char *out,
                               uint32_t most)
{
    uint32_t length = 0;
    for (uint64_t i = 0; i < characters; i++) {
        uint32_t c = 0;
        if (!sys_peek(from + i * width, &c, width))
            break;
        uint32_t end = add_utf8(out, length, most, c);
        if (end > most)
            break;
        length = end;
    }
    return length;
}

/* Copies `length` bytes at the offset of an object. near: the first bytes of the object, which were
 * copied before. */
static bool copy_content(uintptr_t object, uint32_t offset, const struct near *near, char *out,
                         uint32_t length)
{
    if (offset + length > near->size)
        return sys_peek(object + offset, out, length);
    memcpy(out, (const char *)near->words + offset, length);
    return true;
}

static uint32_t read_string(uintptr_t string, char *out, uint32_t most)
{
    const struct python_layout *layout = python_runtime.layout;
    uint64_t characters;
    struct near near;
    const uint64_t *head = near.words;
    if (!read_near(string, &near) || head[PYTHON_TYPE / 8] != python_runtime.string_type)
        return 0;
    uint32_t state = (uint32_t)head[PYTHON_STRING_STATE / 8], width = state >> 2 & 7;
    bool compact = state & 0x20, ascii = state & 0x40;
    characters = head[PYTHON_LENGTH / 8];
    if (!compact || (width != 1 && width != 2 && width != 4))
        return 0;
    if (!ascii)
        return convert_string(string + layout->string.other, characters, width, out, most);
    uint32_t length = characters < most ? (uint32_t)characters : most;
    return copy_content(string, layout->string.ascii, &near, out, length) ? length : 0;
}

static bool read_lines(uintptr_t bytes)
{
    struct near near;
    content->lines_length = 0;
    content->line_table = LEAK_LINE_TABLE_NONE;
    if (!read_near(bytes, &near) || near.words[PYTHON_TYPE / 8] != python_runtime.bytes_type)
        return false;
    uint64_t length = near.words[PYTHON_LENGTH / 8];
    if (length <= LEAK_CODE_LINES &&
        copy_content(bytes, PYTHON_BYTES_CONTENT, &near, content->lines, (uint32_t)length)) {
        content->lines_length = (uint32_t)length;
        content->line_table = python_runtime.layout->line_table;
    }
    return true;
}

static bool read_content(uintptr_t code)
{
    const struct python_layout *layout = python_runtime.layout;
    uintptr_t file, name, lines;
    char object[PYTHON_CODE_FIELDS];
    if (!sys_peek(code, object, sizeof object))
        return false;
    memcpy(&file, object + layout->code.file, sizeof file);
    memcpy(&name, object + layout->code.name, sizeof name);
    memcpy(&lines, object + layout->code.lines, sizeof lines);
    memcpy(&content->first_line, object + layout->code.first_line, 4);
    content->file_length = read_string(file, content->file, LEAK_CODE_FILE);
    content->name_length = read_string(name, content->name, LEAK_CODE_NAME);
    return content->file_length && content->name_length && read_lines(lines);
}

/* ---- Records of functions -------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const char *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        hash = hash_u64(hash + (unsigned char)bytes[i]);
    return hash_u64(hash + length);
}

static uint64_t hash_content(void)
{
    uint64_t hash = hash_u64(content->first_line + 1);
    hash = hash_bytes(hash, content->file, content->file_length);
    hash = hash_bytes(hash, content->name, content->name_length);
    return hash_bytes(hash, content->lines, content->lines_length);
}

static struct leak_code *record_room(uint32_t length)
{
    if (!chunk.payload || chunk.used + length > chunk.size) {
        chunk.size = length > CHUNK ? length : CHUNK;
        chunk.used = 0;
        chunk.payload = store_new_chunk(LEAK_CHUNK_CODES, chunk.size, 0);
    }
    return chunk.payload ? (void *)(chunk.payload + chunk.used) : NULL;
}

static void record_publish(const struct leak_code *record)
{
    chunk.used += record->length;
    store_publish(chunk.payload, chunk.used);
}

static struct leak_code *make_record(void)
{
    const uint32_t name_at = content->file_length + 1,
                   lines_at = name_at + content->name_length + 1;
    uint32_t length = round_up(sizeof(struct leak_code) + lines_at + content->lines_length, 8);
    struct leak_code *record = record_room(length);
    if (!record)
        return NULL;
    *record = (struct leak_code){.length = length,
                                 .id = ++count,
                                 .first_line = content->first_line,
                                 .line_table = content->line_table,
                                 .file_length = content->file_length,
                                 .name_length = content->name_length,
                                 .lines_length = content->lines_length};
    memcpy(record->text, content->file, content->file_length);
    memcpy(record->text + name_at, content->name, content->name_length);
    memcpy(record->text + lines_at, content->lines, content->lines_length);
    record_publish(record);
    return record;
}

/* Finds the slot with a hash, or the empty slot for it. */
static struct known_code *find_slot(uint64_t hash)
{
    uint32_t at = hash % slots;
    while (known[at].record && known[at].hash != hash)
        at = (at + 1) % slots;
    return &known[at];
}

static bool reserve_slot(void)
{
    if (count < slots / 2)
        return true;
    struct known_code *old = known, *larger;
    uint32_t old_slots = slots, larger_slots = slots ? 2 * slots : LEAK_PAGE / sizeof *known;
    if (!(larger = arena_map(larger_slots * sizeof *known)))
        return false;
    known = larger;
    slots = larger_slots;
    for (uint32_t i = 0; i < old_slots; i++)
        if (old[i].record)
            *find_slot(old[i].hash) = old[i];
    if (old)
        arena_unmap(old, old_slots * sizeof *old);
    return true;
}

static uint32_t find_or_record(uintptr_t code)
{
    if (!content && !(content = arena_map(sizeof *content)))
        return 0;
    if (!reserve_slot() || !read_content(code))
        return 0;
    uint64_t hash = hash_content();
    struct known_code *slot = find_slot(hash);
    if (!slot->record && count < IDS_MOST) {
        slot->hash = hash;
        slot->record = make_record();
    }
    return slot->record ? slot->record->id : 0;
}

uint32_t python_code_learn(uintptr_t code)
{
    struct locked locked = lock_take(&lock);
    uint32_t id = find_or_record(code);
    lock_give(&locked);
    if (id && code < 1ull << PYTHON_CODE_BITS)
        store_relaxed(python_code_place(code), python_code_entry(code) | id);
    return id;
}

/* ---- Code objects that are freed ------------------------------------------------------------- */

static void forget_code(uintptr_t code)
{
    uint64_t *place = python_code_place(code);
    if ((load_relaxed(place) ^ python_code_entry(code)) < PYTHON_CODE_IDS)
        store_relaxed(place, 0);
    add_relaxed(&python_codes.generation, 1);
}

/* Replaces tp_dealloc of code objects. A frame may refer to the object while it is freed, so the
 * object is forgotten afterwards. The caller holds the interpreter's lock until then, so no other
 * object can be created at the address. */
static void free_and_forget(void *code)
{
    free_code(code);
    forget_code((uintptr_t)code);
}

void python_codes_watch(uintptr_t code_type)
{
    void (**slot)(void *) = (void *)(code_type + PYTHON_TYPE_FREE);
    if (load_relaxed(slot) == free_and_forget)
        return;
    free_code = load_relaxed(slot);
    store_release(slot, free_and_forget);
}

void python_codes_forget_all(void)
{
    memset(python_codes.known, 0, sizeof python_codes.known);
    add_relaxed(&python_codes.generation, 1);
}

bool python_codes_check(void)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < slots; i++)
        if (known[i].record) {
            found++;
            if (find_slot(known[i].hash) != &known[i] || known[i].record->id > count)
                return false;
        }
    return found == count;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

LOCK_FOR_FORK(python_codes, &lock)

bool python_codes_fork_child(void)
{
    lock.word = 0;
    chunk.payload = NULL;
    for (uint32_t i = 0; i < slots; i++) {
        const struct leak_code *old = known[i].record;
        if (!old)
            continue;
        struct leak_code *record = record_room(old->length);
        if (!record)
            return false;
        memcpy(record, old, old->length);
        record_publish(record);
        known[i].record = record;
    }
    return true;
}
