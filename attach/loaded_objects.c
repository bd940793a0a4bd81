/* loaded_objects.c - reads mappings and exported symbols of a process from its memory. */
#include "attach/loaded_objects.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/proc.h"

/* Most bytes of a symbol table; a larger one is not read: its size is most likely wrong. */
#define TABLE_MOST (64u << 20)
#define DYNAMIC_MOST 512

/* ---- Single objects -------------------------------------------------------------------------- */

static void *read_copy(const struct tracee *tracee, uint64_t address, size_t size)
{
    void *copy = size && size < TABLE_MOST ? malloc(size) : NULL;

    if (copy && tracee_read(tracee, address, copy, size))
        return copy;
    free(copy);
    return NULL;
}

/* Returns the address that a value of the dynamic section stands for: glibc has replaced offsets by
 * addresses, but not in the vDSO. */
static uint64_t dynamic_address(const struct object *object, uint64_t value)
{
    return value < object->start ? value + object->bias : value;
}

/* Copies the dynamic symbols of an object. They end where their names begin, since every linker
 * places the names just behind them. */
static void read_symbols(struct object *object, const struct tracee *tracee,
                         const Elf64_Dyn *dynamic, size_t entries)
{
    uint64_t symbols = 0, names = 0, soname = 0;
    bool named = false;

    for (size_t i = 0; i < entries && dynamic[i].d_tag != DT_NULL; i++) {
        uint64_t value = dynamic[i].d_un.d_val;

        if (dynamic[i].d_tag == DT_SYMTAB)
            symbols = dynamic_address(object, value);
        else if (dynamic[i].d_tag == DT_STRTAB)
            names = dynamic_address(object, value);
        else if (dynamic[i].d_tag == DT_STRSZ)
            object->names_size = value;
        else if (dynamic[i].d_tag == DT_SONAME)
            named = true, soname = value;
    }
    if (!symbols || names <= symbols)
        return;
    object->symbols = read_copy(tracee, symbols, names - symbols);
    object->names = read_copy(tracee, names, object->names_size);
    if (!object->symbols || !object->names)
        return;
    object->names[object->names_size - 1] = '\0';
    object->count = (names - symbols) / sizeof(Elf64_Sym);
    if (named && soname < object->names_size)
        object->soname = object->names + soname;
}

static void read_object(struct object *object, const struct tracee *tracee)
{
    Elf64_Ehdr header;
    Elf64_Phdr *parts = NULL;
    Elf64_Dyn *dynamic = NULL;
    uint64_t at = 0, size = 0;
    bool based = false;

    if (tracee_read(tracee, object->start, &header, sizeof(header)) &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_phentsize == sizeof(*parts))
        parts = read_copy(tracee, object->start + header.e_phoff, header.e_phnum * sizeof(*parts));
    for (size_t i = 0; parts && i < header.e_phnum; i++) {
        if (parts[i].p_type == PT_LOAD && !based) {
            object->bias = object->start - (parts[i].p_vaddr & ~4095ull);
            based = true;
        }
        if (parts[i].p_type == PT_DYNAMIC)
            at = parts[i].p_vaddr, size = parts[i].p_memsz;
    }
    if (size > DYNAMIC_MOST * sizeof(*dynamic))
        size = DYNAMIC_MOST * sizeof(*dynamic);
    dynamic = size ? read_copy(tracee, at + object->bias, size) : NULL;
    if (dynamic)
        read_symbols(object, tracee, dynamic, size / sizeof(*dynamic));
    free(dynamic);
    free(parts);
}

uint64_t object_symbol(const struct object *object, const char *name)
{
    for (size_t i = 0; object && i < object->count; i++) {
        const Elf64_Sym *symbol = &object->symbols[i];

        if (symbol->st_shndx != SHN_UNDEF && symbol->st_name < object->names_size &&
            ELF64_ST_TYPE(symbol->st_info) != STT_TLS &&
            strcmp(object->names + symbol->st_name, name) == 0)
            return symbol->st_value + object->bias;
    }
    return 0;
}

const Elf64_Sym *object_nearest(const struct object *object, uint64_t address)
{
    const Elf64_Sym *nearest = NULL;

    for (size_t i = 0; i < object->count; i++) {
        const Elf64_Sym *symbol = &object->symbols[i];

        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            symbol->st_name < object->names_size && symbol->st_value + object->bias <= address &&
            (!nearest || symbol->st_value > nearest->st_value))
            nearest = symbol;
    }
    return nearest;
}

uint64_t object_find_code(const struct object *object, const struct tracee *tracee,
                          const void *bytes, size_t size)
{
    char *code = read_copy(tracee, object->code, object->code_end - object->code);
    char *found = code ? memmem(code, object->code_end - object->code, bytes, size) : NULL;
    uint64_t address = found ? object->code + (uint64_t)(found - code) : 0;

    free(code);
    return address;
}

/* ---- All objects ----------------------------------------------------------------------------- */

static void add_mapping(struct objects *objects, const struct proc_mapping *found)
{
    objects->mappings =
        reallocarray(objects->mappings, objects->mapping_count + 1, sizeof(*objects->mappings));
    objects->mappings[objects->mapping_count++] =
        (struct mapping){found->start, found->end, found->access[0] == 'r', found->access[2] == 'x',
                         strcmp(found->path, "[stack]") == 0};
}

/* Adds a mapping to its object. A file that is mapped from its beginning starts a new object,
 * and so does the vDSO. */
static void add_to_object(struct objects *objects, const struct proc_mapping *found)
{
    struct object *last = objects->count ? &objects->at[objects->count - 1] : NULL;

    if (!*found->path || (*found->path == '[' && strcmp(found->path, "[vdso]") != 0))
        return;
    if (!last || strcmp(last->path, found->path) != 0 || found->offset == 0) {
        if (found->offset != 0)
            return;
        objects->at = reallocarray(objects->at, objects->count + 1, sizeof(*objects->at));
        last = &objects->at[objects->count++];
        *last = (struct object){.start = found->start, .path = strdup(found->path)};
    }
    last->end = found->end;
    if (found->access[2] == 'x' && !last->code) {
        last->code = found->start;
        last->code_end = found->end;
    }
}

static bool read_maps(struct objects *objects, const struct tracee *tracee)
{
    char path[64], *line = NULL;
    size_t room = 0;
    FILE *stream;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)tracee->pid);
    stream = fopen(path, "re");
    if (!stream)
        return false;
    while (getline(&line, &room, stream) > 0) {
        struct proc_mapping found;

        if (!proc_parse_mapping(line, &found))
            continue;
        add_mapping(objects, &found);
        add_to_object(objects, &found);
    }
    free(line);
    fclose(stream);
    return true;
}

static uint64_t read_auxv(const struct tracee *tracee, uint64_t type)
{
    char path[64];
    Elf64_auxv_t entry;
    uint64_t value = 0;
    FILE *stream;

    snprintf(path, sizeof(path), "/proc/%d/auxv", (int)tracee->pid);
    stream = fopen(path, "re");
    while (stream && fread(&entry, sizeof(entry), 1, stream) == 1 && entry.a_type != AT_NULL)
        if (entry.a_type == type)
            value = entry.a_un.a_val;
    if (stream)
        fclose(stream);
    return value;
}

bool loaded_objects_read(struct objects *objects, const struct tracee *tracee)
{
    *objects = (struct objects){0};
    if (!read_maps(objects, tracee))
        return false;
    for (size_t i = 0; i < objects->count; i++) {
        struct object *object = &objects->at[i];

        if (object->code)
            read_object(object, tracee);
        if (object->soname && strcmp(object->soname, "libc.so.6") == 0)
            objects->libc = object;
        if (object->soname && strcmp(object->soname, "libleak.so") == 0)
            objects->library = object;
    }
    objects->program = loaded_objects_find(objects, read_auxv(tracee, AT_PHDR));
    objects->loader = loaded_objects_find(objects, read_auxv(tracee, AT_BASE));
    return true;
}

void loaded_objects_end(struct objects *objects)
{
    for (size_t i = 0; i < objects->count; i++) {
        free(objects->at[i].path);
        free(objects->at[i].symbols);
        free(objects->at[i].names);
    }
    free(objects->at);
    free(objects->mappings);
    *objects = (struct objects){0};
}

const struct object *loaded_objects_find(const struct objects *objects, uint64_t address)
{
    for (size_t i = 0; i < objects->count; i++)
        if (objects->at[i].code &&
            address - objects->at[i].start < objects->at[i].end - objects->at[i].start)
            return &objects->at[i];
    return NULL;
}

const struct mapping *loaded_objects_find_mapping(const struct objects *objects, uint64_t address)
{
    for (size_t i = 0; i < objects->mapping_count; i++)
        if (address - objects->mappings[i].start <
            objects->mappings[i].end - objects->mappings[i].start)
            return &objects->mappings[i];
    return NULL;
}

uint64_t loaded_objects_symbol(const struct objects *objects, const char *name)
{
    uint64_t address = 0;

    for (size_t i = 0; !address && i < objects->count; i++)
        address = object_symbol(&objects->at[i], name);
    return address;
}
