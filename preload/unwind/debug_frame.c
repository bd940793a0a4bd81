/* debug_frame.c - reads the section .debug_frame from files, and sorts its functions by address. */
#include "preload/unwind/debug_frame.h"
#include "preload/memory/arena.h"
#include "preload/base/sys.h"
#include "preload/elf/elf_words.h"

#include <fcntl.h>

#define OBJECTS_MAX 64
#define SECTION_MOST ((size_t)64 << 20)

/* A function: its start as an offset in the object, and the offset of its FDE in the section. */
struct function {
    uint32_t start, fde;
};

/* An object, and the functions that are listed in the .debug_frame of its file. An object without a
 * usable .debug_frame has no functions here. */
struct object {
    uintptr_t start, end;
    uint8_t *section;
    size_t size;
    struct function *functions; /* array sorted by start */
    uint32_t count, room;
};

static struct object objects[OBJECTS_MAX];
static unsigned known;

/* ---- Reading the file ------------------------------------------------------------------------ */

static bool read_exactly(int fd, void *out, size_t size, uint64_t offset)
{
    return sys_read_at(fd, out, size, offset) == (ssize_t)size;
}

/* Says whether the file is the one that was loaded. The object in memory begins with a copy of the
 * file's header, which differs between any two links: it contains the position of the section table
 * and the entry point. */
static bool is_loaded_file(int fd, uintptr_t start, ElfW(Ehdr) * header)
{
    ElfW(Ehdr) loaded;
    return read_exactly(fd, header, sizeof *header, 0) && sys_peek(start, &loaded, sizeof loaded) &&
           memcmp(header, &loaded, sizeof loaded) == 0 &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_shentsize == sizeof(ElfW(Shdr)) && header->e_shstrndx < header->e_shnum;
}

static bool read_section_header(int fd, const ElfW(Ehdr) * header, unsigned number,
                                ElfW(Shdr) * out)
{
    return read_exactly(fd, out, sizeof *out, header->e_shoff + number * sizeof *out);
}

static bool is_named(int fd, const ElfW(Shdr) * names, const ElfW(Shdr) * section,
                     const char *wanted)
{
    char name[sizeof ".go.buildinfo"];
    size_t size = strlen(wanted) + 1;
    return read_exactly(fd, name, size, names->sh_offset + section->sh_name) &&
           memcmp(name, wanted, size) == 0;
}

/* Finds the section .debug_frame in the file. In files with Go code it is ignored: Go's functions
 * switch stacks in ways that their rows do not describe, and all of them have frame pointers. */
static bool find_section(int fd, uintptr_t start, ElfW(Shdr) * out)
{
    ElfW(Ehdr) header;
    ElfW(Shdr) names, section;
    bool found = false;
    if (!is_loaded_file(fd, start, &header) ||
        !read_section_header(fd, &header, header.e_shstrndx, &names))
        return false;
    for (unsigned i = 1; i < header.e_shnum; i++) {
        if (!read_section_header(fd, &header, i, &section) ||
            is_named(fd, &names, &section, ".go.buildinfo"))
            return false;
        if (section.sh_type != SHT_PROGBITS || section.sh_flags & SHF_COMPRESSED ||
            !is_named(fd, &names, &section, ".debug_frame"))
            continue;
        *out = section;
        found = section.sh_size && section.sh_size <= SECTION_MOST;
    }
    return found;
}

static bool read_section(const struct link_map *map, struct object *object)
{
    const char *path = map->l_name[0] ? map->l_name : "/proc/self/exe";
    int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    ElfW(Shdr) section;
    if (fd < 0)
        return false;
    bool good =
        find_section(fd, object->start, &section) && (object->section = arena_map(section.sh_size));
    if (good) {
        object->size = section.sh_size;
        good = read_exactly(fd, object->section, object->size, section.sh_offset);
    }
    sys_close(fd);
    return good;
}

/* ---- Listing the functions ------------------------------------------------------------------- */

/* Lists the function of each FDE, and returns how many there are. functions NULL: only counts
 * them. */
static uint32_t list_functions(const struct object *object, uintptr_t bias,
                               struct function *functions)
{
    uint32_t count = 0;
    for (size_t at = 0; at + 8 + WORD <= object->size;) {
        uint32_t length, cie;
        uintptr_t address;
        memcpy(&length, object->section + at, sizeof length);
        memcpy(&cie, object->section + at + 4, sizeof cie);
        memcpy(&address, object->section + at + 8, sizeof address);
        if (length > object->size - at - 4) /* the end of the section, or 64-bit DWARF */
            break;
        if (cie != UINT32_MAX && address + bias - object->start < object->end - object->start) {
            if (functions)
                functions[count] = (struct function){address + bias - object->start, at};
            count++;
        }
        at += 4 + length;
    }
    return count;
}

/* Sorts functions by address with Shell's sort, which is fast here: linkers write long sorted
 * pieces. */
static void sort_functions(struct function *functions, uint32_t count)
{
    for (uint32_t gap = count / 2; gap; gap /= 2)
        for (uint32_t i = gap; i < count; i++) {
            struct function moved = functions[i];
            uint32_t at = i;
            for (; at >= gap && functions[at - gap].start > moved.start; at -= gap)
                functions[at] = functions[at - gap];
            functions[at] = moved;
        }
}

static void release_object(struct object *object)
{
    if (object->section)
        arena_unmap(object->section, object->size);
    if (object->functions)
        arena_unmap(object->functions, object->room * sizeof *object->functions);
    object->section = NULL;
    object->functions = NULL;
    object->count = object->room = 0;
}

static void read_object(const struct module_view *module, struct object *object)
{
    *object = (struct object){.start = module->start, .end = module->end};
    if (module->end - module->start <= UINT32_MAX && read_section(module->map, object))
        object->room = list_functions(object, module->map->l_addr, NULL);
    if (object->room)
        object->functions = arena_map(object->room * sizeof *object->functions);
    if (!object->functions) {
        release_object(object);
        return;
    }
    object->count = list_functions(object, module->map->l_addr, object->functions);
    sort_functions(object->functions, object->count);
}

static const struct object *find_object(const struct module_view *module)
{
    for (unsigned i = 0; i < known; i++)
        if (objects[i].start == module->start && objects[i].end == module->end)
            return &objects[i];
    if (known == OBJECTS_MAX)
        return NULL;
    read_object(module, &objects[known]);
    return &objects[known++];
}

/* ---- Finding CFI rows ------------------------------------------------------------------------ */

struct cfi_row debug_frame_row_at(const struct module_view *module, uintptr_t pc)
{
    const struct object *object = find_object(module);
    uint32_t low = 0, high = object ? object->count : 0, offset = pc - module->start;
    if (!high || offset < object->functions[0].start)
        return (struct cfi_row){.rule = CFI_NONE};
    /* always true: functions[low].start <= offset < functions[high].start */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (object->functions[middle].start <= offset)
            low = middle;
        else
            high = middle;
    }
    struct cfi_section section = {object->section, object->section + object->size};
    return cfi_row_of_debug_fde(&section, object->functions[low].fde, pc - module->map->l_addr);
}

void debug_frame_forget(uintptr_t start, uintptr_t end)
{
    for (unsigned i = known; i-- > 0;)
        if (objects[i].start < end && start < objects[i].end) {
            release_object(&objects[i]);
            objects[i] = objects[--known];
        }
}
