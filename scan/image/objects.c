/* objects.c - finds the ELF objects of an image, and classes by their virtual tables. */
#include "scan/image/objects.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/elf_widen.h"
#include "common/names/names.h"

#define HEADERS_MOST 64
#define NOTES_MOST 4096

/* ---- ELF headers ----------------------------------------------------------------------------- */

static void find_build_id(struct object *object, const uint8_t *notes, size_t size)
{
    for (size_t at = 0; size - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr note;
        size_t rest = size - at - sizeof(note), name, content;

        memcpy(&note, notes + at, sizeof(note));
        name = (note.n_namesz + 3ul) & ~3ul;
        content = (note.n_descsz + 3ul) & ~3ul;
        if (name > rest || content > rest - name)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            note.n_descsz <= sizeof(object->build_id) &&
            memcmp(notes + at + sizeof(note), "GNU", 4) == 0) {
            object->build_id_length = note.n_descsz;
            memcpy(object->build_id, notes + at + sizeof(note) + name, note.n_descsz);
        }
        at += sizeof(note) + name + content;
    }
}

static void take_header(struct objects *objects, struct object *object, const Elf64_Phdr *header)
{
    uint8_t notes[NOTES_MOST];
    size_t size = header->p_memsz < sizeof(notes) ? header->p_memsz : sizeof(notes);

    if (header->p_type == PT_NOTE && !object->build_id_length &&
        image_read(objects->image, object->bias + header->p_vaddr, notes, size))
        find_build_id(object, notes, size);
    if (header->p_type == PT_LOAD && (header->p_flags & PF_W) && header->p_memsz < IMAGE_END) {
        object->data_start = object->bias + header->p_vaddr;
        object->data_end = object->data_start + header->p_memsz;
    }
}

static bool is_elf(const unsigned char ident[EI_NIDENT], unsigned char class)
{
    return memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == class;
}

/* Reads the program headers of an ELF object that begins at `start`. Returns their number; 0: no
 * object begins there. */
static size_t read_headers(struct image *image, uint64_t start, Elf64_Phdr headers[HEADERS_MOST])
{
    Elf64_Ehdr header;
    size_t count;

    if (!image_read(image, start, &header, sizeof(header)) || !is_elf(header.e_ident, ELFCLASS64) ||
        header.e_phentsize != sizeof(*headers) || header.e_phoff > IMAGE_PAGE)
        return 0;
    count = header.e_phnum < HEADERS_MOST ? header.e_phnum : HEADERS_MOST;
    return image_read(image, start + header.e_phoff, headers, count * sizeof(*headers)) ? count : 0;
}

static size_t read_headers_32(struct image *image, uint64_t start, Elf64_Phdr headers[HEADERS_MOST])
{
    Elf32_Ehdr header;
    Elf32_Phdr narrow[HEADERS_MOST];
    size_t count;

    if (!image_read(image, start, &header, sizeof(header)) || !is_elf(header.e_ident, ELFCLASS32) ||
        header.e_phentsize != sizeof(*narrow) || header.e_phoff > IMAGE_PAGE)
        return 0;
    count = header.e_phnum < HEADERS_MOST ? header.e_phnum : HEADERS_MOST;
    if (!image_read(image, start + header.e_phoff, narrow, count * sizeof(*narrow)))
        return 0;
    for (size_t i = 0; i < count; i++)
        headers[i] = elf_widen_segment(&narrow[i]);
    return count;
}

/* Reads an ELF object. mapping: the mapping of the file's beginning. False: no ELF object is
 * there. */
static bool read_object(struct objects *objects, struct object *object,
                        const struct image_mapping *mapping)
{
    Elf64_Phdr headers[HEADERS_MOST];
    size_t count = objects->image->word == 4
                       ? read_headers_32(objects->image, mapping->start, headers)
                       : read_headers(objects->image, mapping->start, headers);

    if (!count)
        return false;
    *object = (struct object){.path = mapping->path, .start = mapping->start, .end = mapping->end};
    for (size_t i = count; i-- > 0;)
        if (headers[i].p_type == PT_LOAD)
            object->bias = mapping->start - (headers[i].p_vaddr & -(uint64_t)IMAGE_PAGE);
    for (size_t i = 0; i < count; i++)
        take_header(objects, object, &headers[i]);
    return true;
}

void objects_read(struct objects *objects, struct image *image, uint64_t seen_ns)
{
    struct object *last = NULL, found;

    *objects = (struct objects){.image = image, .seen_ns = seen_ns};
    objects->names = name_process_begin(&objects->search);
    name_process_set_reader(&objects->names, image->owner);
    for (size_t i = 0; i < image->mapping_count; i++) {
        const struct image_mapping *mapping = &image->mappings[i];

        if (!mapping->path || mapping->path[0] != '/')
            continue;
        if (last && strcmp(last->path, mapping->path) == 0 && mapping->offset) {
            last->end = mapping->end;
        } else if (!mapping->offset && read_object(objects, &found, mapping)) {
            objects->object =
                array_grow(objects->object, &objects->capacity, objects->count + 1, sizeof(found));
            last = &objects->object[objects->count++];
            *last = found;
        }
    }
    for (size_t i = 0; i < objects->count; i++)
        if (objects->object[i].end < objects->object[i].data_end)
            objects->object[i].end = objects->object[i].data_end;
}

void objects_end(struct objects *objects)
{
    for (size_t i = 0; i < objects->count; i++)
        if (objects->object[i].binary)
            binary_close(objects->object[i].binary);
    name_process_end(&objects->names);
    free(objects->object);
}

/* ---- Searches -------------------------------------------------------------------------------- */

static bool object_starts_at_or_below(const void *item, const void *key)
{
    return ((const struct object *)item)->start <= *(const uint64_t *)key;
}

struct object *objects_find(const struct objects *objects, uint64_t address)
{
    size_t i = array_lower_bound(objects->object, objects->count, sizeof(*objects->object),
                                 object_starts_at_or_below, &address);

    return i && address < objects->object[i - 1].end ? &objects->object[i - 1] : NULL;
}

bool object_is_named(const struct object *object, const char *name)
{
    const char *slash = strrchr(object->path, '/');

    return strncmp(slash ? slash + 1 : object->path, name, strlen(name)) == 0;
}

const struct object *objects_libc(const struct objects *objects)
{
    for (size_t i = 0; i < objects->count; i++)
        if (object_is_named(&objects->object[i], "libc.so.6") ||
            object_is_named(&objects->object[i], "libc-2."))
            return &objects->object[i];
    return NULL;
}

/* ---- Symbols --------------------------------------------------------------------------------- */

/* Returns the symbol of the variable at an address; NULL: unknown. */
static const char *symbol_of(struct objects *objects, uint64_t address)
{
    struct object *object = objects_find(objects, address);
    struct binary_variable found;

    if (!object)
        return NULL;
    if (!object->binary) {
        struct binary_name name = {.path = object->path,
                                   .build_id = object->build_id,
                                   .build_id_length = object->build_id_length,
                                   .seen_ns = objects->seen_ns};

        object->binary = binary_open(objects->image->mem, &objects->names, &name);
    }
    return binary_find_data(object->binary, address - object->bias, &found) && found.symbol
               ? arena_copy(objects->image->mem, found.symbol, strlen(found.symbol))
               : NULL;
}

bool objects_is_vtable(const struct objects *objects, uint64_t word)
{
    const struct image_mapping *mapping, *code;
    uint64_t first;

    if (!word || word % objects->image->word)
        return false;
    mapping = image_find(objects->image, word);
    if (!mapping || !mapping->path || mapping->path[0] != '/' ||
        (mapping->access & (IMAGE_READ | IMAGE_WRITE)) != IMAGE_READ ||
        !image_read_word(objects->image, word, &first))
        return false;
    code = image_find(objects->image, first);
    return code && (code->access & IMAGE_EXECUTE) && code->path && code->path[0] == '/';
}

const char *objects_class(struct objects *objects, uint64_t word)
{
    static const char prefix[] = "vtable for ";
    const char *symbol, *name;

    if (!objects_is_vtable(objects, word))
        return NULL;
    symbol = symbol_of(objects, word);
    if (!symbol || strncmp(symbol, "_ZTV", 4) != 0)
        return NULL;
    name = demangle(objects->image->mem, symbol);
    return strncmp(name, prefix, sizeof(prefix) - 1) == 0 ? name + sizeof(prefix) - 1 : name;
}
