#include "preload/elf/exec_target.h"
#include "preload/elf/symbols.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "leak_cpu.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#define HEAD 1024

/* A FIFO must not block the open, nor a terminal become the controlling one. */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* ---- Signs of a sanitizer's runtime --------------------------------------------------------- */

/* The runtimes of -fsanitize=address, hwaddress, thread and memory export an initialiser. Linked
 * statically, some do so under no name that others can see. But every one of them imports a
 * symbolizer, and defines a function of libc that programs hardly ever define. */
enum sign {
    SIGN_SYMBOLIZES = 1,
    SIGN_REPLACES_LIBC = 2,
    SIGN_INITIALISES = SIGN_SYMBOLIZES | SIGN_REPLACES_LIBC, /* sufficient alone */
};

static const struct {
    const char *name;
    enum sign sign;
} signs[] = {
    {"__asan_init", SIGN_INITIALISES},
    {"__hwasan_init", SIGN_INITIALISES},
    {"__tsan_init", SIGN_INITIALISES},
    {"__msan_init", SIGN_INITIALISES},
    {"__sanitizer_symbolize_code", SIGN_SYMBOLIZES},
    {"_obstack_newchunk", SIGN_REPLACES_LIBC},
};

#define SIGN_NAME_MOST 32 /* longer than any name above with a NUL on both sides */

static unsigned sign_of_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(signs); i++)
        if (symbols_is_same(name, signs[i].name))
            return signs[i].sign;
    return 0;
}

/* ---- In this process ------------------------------------------------------------------------ */

static bool exports_sign(const struct symbols *symbols, enum sign sign)
{
    for (size_t i = 0; i < ARRAY_LENGTH(signs); i++)
        if (signs[i].sign == sign && symbols_find_export(symbols, signs[i].name))
            return true;
    return false;
}

static bool is_no_symbolizer(const struct symbols *symbols, const ElfW(Rela) * relocation,
                             void *context UNUSED)
{
    const char *name = symbols->names + symbols_of_relocation(symbols, relocation)->st_name;
    return sign_of_name(name) != SIGN_SYMBOLIZES;
}

static bool has_static_runtime(const struct symbols *symbols)
{
    return exports_sign(symbols, SIGN_REPLACES_LIBC) &&
           !symbols_each_relocation(symbols, is_no_symbolizer, NULL);
}

bool process_is_sanitized(void)
{
    static enum { UNKNOWN, NO, YES } answer;
    const struct link_map *program = _r_debug.r_map;
    struct symbols symbols;
    if (answer != UNKNOWN)
        return answer == YES;
    answer = NO;
    for (const struct link_map *map = program; map && answer == NO; map = map->l_next)
        if (symbols_read_at(map->l_addr, map->l_ld, &symbols) &&
            (exports_sign(&symbols, SIGN_INITIALISES) ||
             (map == program && has_static_runtime(&symbols))))
            answer = YES;
    return answer == YES;
}

/* Its core exports this to every program that runs in it, whatever the tool. */
bool process_is_under_valgrind(void)
{
    struct symbols symbols;
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (symbols_read_at(map->l_addr, map->l_ld, &symbols) &&
            symbols_find_export(&symbols, "_vgnU_freeres"))
            return true;
    return false;
}

/* ---- In a file ------------------------------------------------------------------------------ */

#define TAGS_MOST 128
#define PIECE 4096

struct file {
    int fd;
    const Elf64_Phdr *segment;
    unsigned segments;
};

/* The file offset of what will be mapped at an address; 0: none. */
static uint64_t offset_of_address(const struct file *file, uint64_t address)
{
    for (unsigned i = 0; i < file->segments; i++) {
        const Elf64_Phdr *segment = &file->segment[i];
        if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
            return segment->p_offset + (address - segment->p_vaddr);
    }
    return 0;
}

/* The string table with the names of all imports and exports. */
static bool find_string_table(const struct file *file, uint64_t *offset, uint64_t *size)
{
    Elf64_Dyn tag[TAGS_MOST];
    ssize_t length = 0;
    *offset = *size = 0;
    for (unsigned i = 0; i < file->segments; i++)
        if (file->segment[i].p_type == PT_DYNAMIC)
            length = sys_read_at(file->fd, tag, sizeof tag, file->segment[i].p_offset);
    for (ssize_t i = 0; i < length / (ssize_t)sizeof *tag && tag[i].d_tag != DT_NULL; i++) {
        if (tag[i].d_tag == DT_STRTAB)
            *offset = offset_of_address(file, tag[i].d_un.d_ptr);
        if (tag[i].d_tag == DT_STRSZ)
            *size = tag[i].d_un.d_val;
    }
    return *offset && *size;
}

/* Pieces overlap, because a name may cross the end of a piece. */
static bool has_signs(int fd, uint64_t offset, uint64_t size)
{
    char piece[PIECE + 1];
    unsigned found = 0;
    for (uint64_t at = 0; at < size && found != SIGN_INITIALISES; at += PIECE - SIGN_NAME_MOST) {
        uint64_t left = size - at;
        ssize_t length = sys_read_at(fd, piece, left < PIECE ? left : PIECE, offset + at);
        if (length <= 0)
            return false;
        piece[length] = '\0';
        const char *last = piece + length;
        for (const char *end = piece; (end = memchr(end, '\0', last - end)); end++)
            found |= sign_of_name(end + 1 < last ? end + 1 : last);
    }
    return found == SIGN_INITIALISES;
}

/* head: the file's first HEAD bytes, with its program headers; in doubt it is not. */
static bool is_sanitized_file(int fd, const void *head)
{
    const Elf64_Ehdr *header = head;
    struct file file = {fd, (const void *)((const char *)head + header->e_phoff), header->e_phnum};
    uint64_t offset, length;
    if (header->e_phoff > HEAD || header->e_phoff % 8 ||
        header->e_phnum > (HEAD - header->e_phoff) / sizeof(Elf64_Phdr))
        return false;
    return find_string_table(&file, &offset, &length) && has_signs(fd, offset, length);
}

/* ---- Programs about to start ---------------------------------------------------------------- */

static bool read_head(int fd, char *head)
{
    memset(head, 0, HEAD);
    return sys_read_at(fd, head, HEAD - 1, 0) >= (ssize_t)sizeof(Elf64_Ehdr);
}

/* The interpreter's path, which linkers put into the piece of the file that was read. NULL: the
 * program is static; "": the path is not in this piece. */
static const char *interpreter_of(const char *head)
{
    const Elf64_Ehdr *header = (const void *)head;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        uint64_t at = header->e_phoff + (uint64_t)i * sizeof(Elf64_Phdr);
        if (at > HEAD - sizeof(Elf64_Phdr))
            return "";
        const Elf64_Phdr *segment = (const void *)(head + at);
        if (segment->p_type == PT_INTERP)
            return segment->p_offset < HEAD ? head + segment->p_offset : "";
    }
    return NULL;
}

static enum exec_target target_of_elf(int fd, const char *head)
{
    const Elf64_Ehdr *header = (const void *)head;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != LEAK_CPU_MACHINE)
        return EXEC_TARGET_REFUSES;
    const char *interpreter = interpreter_of(head);
    if (!interpreter)
        return EXEC_TARGET_IGNORES;
    bool refuses = strstr(interpreter, "/ld-musl-") || is_sanitized_file(fd, head);
    return refuses ? EXEC_TARGET_REFUSES : EXEC_TARGET_LOADS;
}

static bool is_elf(const char *head)
{
    return memcmp(head, ELFMAG, SELFMAG) == 0;
}

static enum exec_target target_of_script(char *head)
{
    char *name = head + 2 + strspn(head + 2, " \t");
    name[strcspn(name, " \t\n")] = '\0';
    int fd = sys_open(name, OPEN_FLAGS, 0);
    if (fd < 0)
        return EXEC_TARGET_LOADS;
    _Alignas(8) char interpreter[HEAD];
    bool known = read_head(fd, interpreter) && is_elf(interpreter);
    enum exec_target target = known ? target_of_elf(fd, interpreter) : EXEC_TARGET_LOADS;
    sys_close(fd);
    return target;
}

enum exec_target exec_target_of_fd(int fd)
{
    _Alignas(8) char head[HEAD];
    struct stat info;
    if (!read_head(fd, head))
        return EXEC_TARGET_LOADS;
    if (head[0] == '#' && head[1] == '!')
        return target_of_script(head);
    if (!is_elf(head))
        return EXEC_TARGET_LOADS;
    enum exec_target target = target_of_elf(fd, head);
    bool other_user =
        sys_fstat(fd, &info) == 0 && (info.st_mode & S_ISUID) && info.st_uid != sys_geteuid();
    return target == EXEC_TARGET_LOADS && other_user ? EXEC_TARGET_IGNORES : target;
}

static int open_in_path(const char *directories, const char *file)
{
    char buffer[PATH_MAX];
    while (*directories) {
        size_t length = strcspn(directories, ":");
        struct strbuf path = STRBUF_ON(buffer);
        strbuf_add_bytes(&path, directories, length);
        strbuf_add_all(&path, length ? "/" : "", file, NULL);
        int fd = path.cut ? -1 : sys_open(buffer, OPEN_FLAGS, 0);
        if (fd >= 0)
            return fd;
        directories += length + (directories[length] == ':');
    }
    return -1;
}

enum exec_target exec_target_of_path(const char *file, const char *search_path)
{
    if (!file)
        return EXEC_TARGET_LOADS;
    int fd = search_path && !strchr(file, '/') ? open_in_path(search_path, file)
                                               : sys_open(file, OPEN_FLAGS, 0);
    if (fd < 0)
        return EXEC_TARGET_LOADS;
    enum exec_target target = exec_target_of_fd(fd);
    sys_close(fd);
    return target;
}
