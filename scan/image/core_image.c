/* core_image.c - reads mappings, threads and memory from a core file. */
#include "scan/image/core_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/elf_widen.h"
#include "scan/image/registers.h"

/* the description of a thread (struct pthread) begins at a multiple of this */
#define THREAD_ALIGN 16
#define NOTES_MOST (64u << 20) /* most bytes of notes; the registers of 10,000 threads take less */

/* The part of a mapping whose data the core file has. Sorted like the image's mappings. */
struct segment {
    uint64_t start, end; /* addresses; the data ends at `end` */
    uint64_t offset;     /* offset of the data in the core file */
};

/* A mapped file in the note NT_FILE. */
struct mapped_file {
    uint64_t start, end, offset;
    const char *path;
};

struct core_image {
    struct image *image;
    int fd;
    uint64_t size, time_ns;
    uint64_t truncated;
    struct segment *segments;
    size_t count, capacity;
    struct mapped_file *files;
    size_t file_count, file_capacity;
    uint64_t entry;        /* entry address of the program, from the auxiliary vector; 0: unknown */
    const char *program;   /* file to use in place of the program's path; NULL: none */
    const char *open_path; /* path of the file that is open as open_fd */
    int open_fd;
};

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool segment_ends_below(const void *item, const void *key)
{
    return ((const struct segment *)item)->end <= *(const uint64_t *)key;
}

/* Reads memory that the core file leaves out from the file that was mapped there, if the program
 * could not write to the mapping. Returns the number of bytes read. */
static size_t read_file(struct core_image *core, uint64_t address, void *buffer, size_t size)
{
    const struct image_mapping *mapping = image_find(core->image, address);
    ssize_t got;

    if (!mapping || !mapping->path || (mapping->access & IMAGE_WRITE))
        return 0;
    if (core->open_path != mapping->path) {
        if (core->open_fd >= 0)
            close(core->open_fd);
        core->open_fd = foreign_file_open(mapping->path);
        core->open_path = mapping->path;
    }
    if (core->open_fd < 0)
        return 0;
    if (size > mapping->end - address)
        size = mapping->end - address;
    got = pread(core->open_fd, buffer, size, (off_t)(mapping->offset + address - mapping->start));
    return got > 0 ? (size_t)got : 0;
}

/* Returns the segment that contains an address, else the next one above it, or NULL. */
static const struct segment *find_segment(const struct core_image *core, uint64_t address)
{
    size_t at = array_lower_bound(core->segments, core->count, sizeof(*core->segments),
                                  segment_ends_below, &address);

    return at < core->count ? &core->segments[at] : NULL;
}

static size_t read_core(struct image *image, uint64_t address, void *buffer, size_t size)
{
    struct core_image *core = image->source;
    const struct segment *segment = find_segment(core, address);
    ssize_t got;

    if (!segment || segment->start > address) {
        if (segment && size > segment->start - address)
            size = segment->start - address;
        return read_file(core, address, buffer, size);
    }
    if (size > segment->end - address)
        size = segment->end - address;
    got = pread(core->fd, buffer, size, (off_t)(segment->offset + address - segment->start));
    return got > 0 ? (size_t)got : 0;
}

/* Says in untouched[] which of the pages were never written: they are holes in the core file.
 * False: unknown. */
static bool find_holes(struct image *image, uint64_t start, size_t count, bool *untouched)
{
    struct core_image *core = image->source;
    const struct segment *segment = find_segment(core, start);
    uint64_t size = count * IMAGE_PAGE;
    off_t offset, data;

    if (!segment || segment->start > start || segment->end - start < size)
        return false;
    offset = (off_t)(segment->offset + start - segment->start);
    data = lseek(core->fd, offset, SEEK_DATA);
    if (data < 0 && errno != ENXIO) /* ENXIO: there is no data up to the end of the file */
        return false;
    for (size_t i = 0; i < count; i++)
        untouched[i] = data < 0 || data >= offset + (off_t)((i + 1) * IMAGE_PAGE);
    return true;
}

/* ---- Notes of the core file ------------------------------------------------------------------ */

/* Returns the word with this number (from 0) in the bytes, which consist of words of the program's
 * size. */
static uint64_t word_at(const struct core_image *core, const uint8_t *bytes, unsigned number)
{
    return image_word(bytes + number * core->image->word, core->image->word);
}

/* Reads the note NT_FILE, a list of mapped files: the number of files, the unit of offsets,
 * three words for each file, and then the names. */
static void take_files(struct core_image *core, const uint8_t *bytes, size_t size)
{
    const size_t head = 2 * core->image->word, each = 3 * core->image->word;
    uint64_t count = size >= head ? word_at(core, bytes, 0) : 0,
             unit = size >= head ? word_at(core, bytes, 1) : 0;
    const char *name, *end = (const char *)bytes + size;

    if (size < head || count > (size - head) / each)
        return;
    name = (const char *)bytes + head + count * each;
    for (uint64_t i = 0; i < count && name < end; i++) {
        const uint8_t *row = bytes + head + i * each;
        size_t length = strnlen(name, (size_t)(end - name));

        core->files = array_grow(core->files, &core->file_capacity, core->file_count + 1,
                                 sizeof(*core->files));
        core->files[core->file_count++] =
            (struct mapped_file){.start = word_at(core, row, 0),
                                 .end = word_at(core, row, 1),
                                 .offset = word_at(core, row, 2) * unit,
                                 .path = arena_copy(core->image->mem, name, length)};
        name += length + 1;
    }
}

static void take_auxiliary(struct core_image *core, const uint8_t *bytes, size_t size)
{
    const size_t each = 2 * core->image->word;

    for (; size >= each; bytes += each, size -= each) {
        uint64_t type = word_at(core, bytes, 0), value = word_at(core, bytes, 1);

        if (type == AT_ENTRY)
            core->entry = value;
        if (type == AT_EXECFN)
            core->image->main_stack = value;
        if (type == AT_RANDOM && !core->image->main_stack)
            core->image->main_stack = value;
    }
}

/* Sizes of the notes NT_PRSTATUS and NT_PRPSINFO, and offsets of their fields that are read, in
 * bytes. */
struct status_places {
    size_t status_size, thread, registers;
    size_t info_size, process;
};

static const struct status_places *places_of(const struct core_image *core)
{
    static const struct status_places wide = {.status_size = sizeof(struct elf_prstatus),
                                              .thread = offsetof(struct elf_prstatus, pr_pid),
                                              .registers = offsetof(struct elf_prstatus, pr_reg),
                                              .info_size = sizeof(struct elf_prpsinfo),
                                              .process = offsetof(struct elf_prpsinfo, pr_pid)},
                                      i386 = {.status_size = 144,
                                              .thread = 24,
                                              .registers = 72,
                                              .info_size = 124,
                                              .process = 12};

    return core->image->word == 4 ? &i386 : &wide;
}

static void take_thread(struct core_image *core, const uint8_t *bytes, size_t size)
{
    struct image *image = core->image;
    const struct status_places *places = places_of(core);
    pid_t tid;

    if (size < places->status_size)
        return;
    memcpy(&tid, bytes + places->thread, sizeof(tid));
    if (!image->pid)
        image->pid = tid;
    registers_take_general(image, image_add_thread(image, tid), bytes + places->registers,
                           size - places->registers);
}

static void take_note(struct core_image *core, unsigned type, const uint8_t *bytes, size_t size)
{
    struct image *image = core->image;
    struct image_thread *thread =
        image->thread_count ? &image->threads[image->thread_count - 1] : NULL;

    if (type == NT_PRSTATUS)
        take_thread(core, bytes, size);
    else if (type == NT_PRPSINFO && size >= places_of(core)->info_size)
        memcpy(&image->pid, bytes + places_of(core)->process, sizeof(pid_t));
    else if (type == NT_FILE)
        take_files(core, bytes, size);
    else if (type == NT_AUXV)
        take_auxiliary(core, bytes, size);
    else if (type == REGISTERS_VECTORS && thread)
        registers_take_more(image, thread, bytes, size);
    else if (type == registers_tls(image->word) && thread)
        registers_take_tls(image, thread, bytes, size);
}

static size_t align4(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

static void take_notes(struct core_image *core, const Elf64_Phdr *header)
{
    uint64_t size = header->p_filesz < NOTES_MOST ? header->p_filesz : NOTES_MOST;
    uint8_t *bytes;
    ssize_t got;

    if (header->p_offset > core->size)
        return;
    if (size > core->size - header->p_offset)
        size = core->size - header->p_offset;
    bytes = arena_alloc(core->image->mem, size + 1);
    got = pread(core->fd, bytes, size, (off_t)header->p_offset);
    for (size_t at = 0; got > 0 && (size_t)got - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr note;
        size_t rest = (size_t)got - at - sizeof(note), name, content;

        memcpy(&note, bytes + at, sizeof(note));
        name = align4(note.n_namesz);
        content = align4(note.n_descsz);
        if (name > rest || note.n_descsz > rest - name)
            return;
        take_note(core, note.n_type, bytes + at + sizeof(note) + name, note.n_descsz);
        if (content > rest - name)
            return;
        at += sizeof(note) + name + content;
    }
}

/* ---- Segments of the core file --------------------------------------------------------------- */

static bool path_is_shared(const char *path)
{
    static const char *const shared[] = {"/dev/zero", "/memfd:", "/SYSV", "/dev/shm/"};

    for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++)
        if (strncmp(path, shared[i], strlen(shared[i])) == 0)
            return true;
    return false;
}

static bool file_ends_below(const void *item, const void *key)
{
    return ((const struct mapped_file *)item)->end <= *(const uint64_t *)key;
}

static const struct mapped_file *find_file(const struct core_image *core, uint64_t address)
{
    size_t i = array_lower_bound(core->files, core->file_count, sizeof(*core->files),
                                 file_ends_below, &address);

    return i < core->file_count && core->files[i].start <= address ? &core->files[i] : NULL;
}

static void name_mapping(const struct core_image *core, struct image_mapping *mapping)
{
    const struct mapped_file *file = find_file(core, mapping->start);

    if (!file)
        return;
    mapping->path = file->path;
    mapping->offset = file->offset + (mapping->start - file->start);
    mapping->shared = path_is_shared(file->path);
}

static void add_segment(struct core_image *core, const Elf64_Phdr *header, uint64_t *left)
{
    struct image_mapping mapping = {.start = header->p_vaddr,
                                    .end = header->p_vaddr + header->p_memsz,
                                    .access = (header->p_flags & PF_R ? IMAGE_READ : 0) |
                                              (header->p_flags & PF_W ? IMAGE_WRITE : 0) |
                                              (header->p_flags & PF_X ? IMAGE_EXECUTE : 0)};
    uint64_t there = header->p_offset < core->size ? core->size - header->p_offset : 0;
    uint64_t data = header->p_filesz < header->p_memsz ? header->p_filesz : header->p_memsz;

    if (header->p_memsz > IMAGE_END || mapping.start > IMAGE_END)
        return;
    if (there > *left)
        there = *left;
    if (data > there) {
        core->truncated += data - there;
        data = there;
    }
    *left -= data;
    /* Writable memory that the core file leaves out is lost: the mapped file has older contents. */
    if (mapping.access & IMAGE_WRITE) {
        core->image->missing_bytes += header->p_memsz - data;
        mapping.end = mapping.start + data;
    }
    image_add_mapping(core->image, &mapping);
    if (!data)
        return;
    core->segments =
        array_grow(core->segments, &core->capacity, core->count + 1, sizeof(*core->segments));
    core->segments[core->count++] = (struct segment){
        .start = mapping.start, .end = mapping.start + data, .offset = header->p_offset};
}

static int compare_segments(const void *one, const void *other)
{
    return COMPARE(((const struct segment *)one)->start, ((const struct segment *)other)->start);
}

static uint64_t header_count(const struct core_image *core, const Elf64_Ehdr *header)
{
    Elf64_Shdr first;
    Elf32_Shdr narrow;

    if (header->e_phnum != PN_XNUM)
        return header->e_phnum;
    if (core->image->word == 4)
        return pread(core->fd, &narrow, sizeof(narrow), (off_t)header->e_shoff) == sizeof(narrow)
                   ? narrow.sh_info
                   : 0;
    if (pread(core->fd, &first, sizeof(first), (off_t)header->e_shoff) != sizeof(first))
        return 0;
    return first.sh_info;
}

/* Reads program headers, at most *count of them; *count: number that was read. */
static const Elf64_Phdr *read_segments(const struct core_image *core, uint64_t offset,
                                       uint64_t *count)
{
    bool narrow = core->image->word == 4;
    const size_t each = narrow ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
    Elf64_Phdr *headers = arena_alloc_array(core->image->mem, *count + 1, sizeof(*headers));
    void *read = narrow ? arena_alloc_array(core->image->mem, *count + 1, each) : headers;
    ssize_t got = pread(core->fd, read, *count * each, (off_t)offset);

    *count = got > 0 ? (size_t)got / each : 0;
    for (uint64_t i = 0; narrow && i < *count; i++)
        headers[i] = elf_widen_segment((const Elf32_Phdr *)read + i);
    return headers;
}

static const char *read_headers(struct core_image *core, const Elf64_Ehdr *header)
{
    uint64_t count = header_count(core, header), left = core->size;
    const size_t each = core->image->word == 4 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
    const Elf64_Phdr *headers;

    if (header->e_phentsize != each || !count || header->e_phoff > core->size)
        return "no program headers: not a core file, or a damaged one";
    if (count > (core->size - header->e_phoff) / each)
        count = (core->size - header->e_phoff) / each;
    headers = read_segments(core, header->e_phoff, &count);
    for (uint64_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_NOTE)
            take_notes(core, &headers[i]);
    for (uint64_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_LOAD)
            add_segment(core, &headers[i], &left);
    if (core->count)
        qsort(core->segments, core->count, sizeof(*core->segments), compare_segments);
    if (!core->image->mapping_count)
        return "it has no memory: not a core file, or a damaged one";
    return image_sort(core->image) ? NULL : "damaged: segments overlap";
}

static const char *check_header(const struct core_image *core, Elf64_Ehdr *header)
{
    unsigned machine = LEAK_CPU_MACHINE;
    Elf32_Ehdr narrow;

    if (pread(core->fd, header, sizeof(*header), 0) != sizeof(*header) ||
        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return "not a core file";
    core->image->word = header->e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
    if (core->image->word == 4) {
        memcpy(&narrow, header, sizeof(narrow));
        *header = elf_widen_header(&narrow);
        machine = LEAK_CPU_MACHINE_32;
    }
    if (header->e_ident[EI_DATA] != ELFDATA2LSB || !machine || header->e_machine != machine)
        return "a core of another kind of machine";
    return header->e_type == ET_CORE ? NULL : "an ELF file, but not a core file";
}

/* ---- Opening a core file --------------------------------------------------------------------- */

static int compare_files(const void *one, const void *other)
{
    return COMPARE(((const struct mapped_file *)one)->start,
                   ((const struct mapped_file *)other)->start);
}

/* Adds mappings of files that the core file leaves out as a whole; their access rights are
 * unknown. */
static void add_files(struct core_image *core)
{
    struct image *image = core->image;
    size_t known = image->mapping_count;

    for (size_t i = 0; i < core->file_count; i++) {
        const struct mapped_file *file = &core->files[i];
        struct image_mapping mapping = {.start = file->start,
                                        .end = file->end,
                                        .offset = file->offset,
                                        .path = file->path,
                                        .access = IMAGE_READ | IMAGE_EXECUTE,
                                        .shared = path_is_shared(file->path)};
        struct image sorted = {.mappings = image->mappings, .mapping_count = known};
        const struct image_mapping *next = image_find_next(&sorted, file->start);

        if (!next || next->start >= file->end)
            image_add_mapping(image, &mapping);
    }
}

/* Finds the thread pointer of a thread of a 32-bit program, which gcore does not write. It
 * points to glibc's description of the thread, in the mapping of its stack, whose first and
 * third word are its own address. */
static void find_thread_variables(struct image *image, struct image_thread *thread)
{
    const struct image_mapping *stack = image_find(image, thread->sp);
    uint64_t at = (thread->sp + THREAD_ALIGN - 1) & -(uint64_t)THREAD_ALIGN;
    uint32_t words[3];

    for (; stack && !thread->tls && at < stack->end; at += THREAD_ALIGN)
        if (image_read(image, at, words, sizeof(words)) && words[0] == at && words[2] == at)
            thread->tls = at;
}

static const char *name_mappings(struct core_image *core)
{
    struct image *image = core->image;
    const struct mapped_file *file;

    if (core->file_count)
        qsort(core->files, core->file_count, sizeof(*core->files), compare_files);
    if ((file = find_file(core, core->entry)))
        image->program = file->path;
    for (size_t i = 0; i < image->mapping_count; i++)
        name_mapping(core, &image->mappings[i]);
    add_files(core);
    if (!image_sort(image))
        return "damaged: its list of files is wrong";
    if (!core->program || !image->program)
        return NULL;
    for (size_t i = 0; i < image->mapping_count; i++)
        if (image->mappings[i].path && strcmp(image->mappings[i].path, image->program) == 0)
            image->mappings[i].path = core->program;
    image->program = core->program;
    return NULL;
}

static const char *open_core(struct core_image *core, const char *path)
{
    struct stat about;
    Elf64_Ehdr header;
    const char *trouble;

    core->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (core->fd < 0 || fstat(core->fd, &about) != 0)
        return strerror(errno);
    if (!S_ISREG(about.st_mode))
        return "not a file";
    core->image->owner = (struct file_owner){about.st_uid, about.st_gid};
    foreign_file_add_reader(core->image->owner);
    core->size = (uint64_t)about.st_size;
    core->time_ns = (uint64_t)about.st_mtim.tv_sec * 1000000000u + (uint64_t)about.st_mtim.tv_nsec;
    trouble = check_header(core, &header);
    return trouble ? trouble : read_headers(core, &header);
}

struct core_image *core_image_open(struct image *image, const char *path, const char *program,
                                   const char **trouble)
{
    struct core_image *core = arena_alloc(image->mem, sizeof(*core));

    *core = (struct core_image){.image = image, .fd = -1, .open_fd = -1, .program = program};
    image->core = true;
    image->read = read_core;
    image->find_untouched = find_holes;
    image->source = core;
    *trouble = open_core(core, path);
    if (!*trouble)
        *trouble = name_mappings(core);
    for (size_t i = 0; !*trouble && image->word == 4 && i < image->thread_count; i++)
        find_thread_variables(image, &image->threads[i]);
    if (*trouble) {
        core_image_close(core);
        return NULL;
    }
    return core;
}

void core_image_close(struct core_image *core)
{
    if (!core)
        return;
    if (core->fd >= 0)
        close(core->fd);
    if (core->open_fd >= 0)
        close(core->open_fd);
    free(core->segments);
    free(core->files);
}

uint64_t core_image_truncated(const struct core_image *core)
{
    return core->truncated;
}

uint64_t core_image_time_ns(const struct core_image *core)
{
    return core->time_ns;
}
