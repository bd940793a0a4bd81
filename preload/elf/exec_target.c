#include "preload/elf/exec_target.h"
#include "preload/elf/elf_words.h"
#include "preload/elf/symbols.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "leak_cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#define HEAD 1024

/* The file may be anything: O_NONBLOCK, so that a FIFO does not block the open; O_NOCTTY, so that a
 * terminal does not become the controlling one. */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* ---- How to recognise the runtime of a sanitizer --------------------------------------------- */

/* The runtimes of -fsanitize=address, hwaddress, thread and memory export a function that
 * initialises them. Some runtimes that are linked statically do not export it. But every runtime
 * imports a symbolizer, and defines a function of libc that programs hardly ever define: these two
 * signs together are enough. */
enum sign {
    SIGN_SYMBOLIZES = 1,
    SIGN_REPLACES_LIBC = 2,
    /* an exported function that initialises the runtime: as good as both other signs */
    SIGN_INITIALISES = SIGN_SYMBOLIZES | SIGN_REPLACES_LIBC,
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

/* More bytes than any name in the table "signs" has, with a zero byte before and behind it. */
#define SIGN_NAME_MOST 32

static unsigned sign_of_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(signs); i++)
        if (symbols_is_same(name, signs[i].name))
            return signs[i].sign;
    return 0;
}

/* ---- Is there a sanitizer or valgrind in this process? --------------------------------------- */

static bool exports_sign(const struct symbols *symbols, enum sign sign)
{
    for (size_t i = 0; i < ARRAY_LENGTH(signs); i++)
        if (signs[i].sign == sign && symbols_find_export(symbols, signs[i].name))
            return true;
    return false;
}

static bool is_no_symbolizer(const struct symbols *symbols, const elf_relocation *relocation,
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

/* True if an object exports a symbol that Valgrind, whatever the tool, exports to every program. */
bool process_is_under_valgrind(void)
{
    struct symbols symbols;
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (symbols_read_at(map->l_addr, map->l_ld, &symbols) &&
            symbols_find_export(&symbols, "_vgnU_freeres"))
            return true;
    return false;
}

/* ---- Is a program file built with a sanitizer? ----------------------------------------------- */

#define TAGS_MOST 128
#define PIECE 4096

/* Says whether a string table of a file has the names of a sanitizer's runtime. It is read in
 * pieces that overlap, because a name may cross the end of a piece. */
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

#define ELF(type) ElfW(type)
#define IN_FILE(name) name##_of_this_class
#include "preload/elf/exec_file.h"

#if LEAK_CPU_MACHINE_OTHER != EM_NONE
#if UINTPTR_MAX == UINT64_MAX
#define ELF(type) Elf32_##type
#define OTHER_CLASS ELFCLASS32
#else
#define ELF(type) Elf64_##type
#define OTHER_CLASS ELFCLASS64
#endif
#define IN_FILE(name) name##_of_other_class
#include "preload/elf/exec_file.h"
#endif

/* ---- Can libleak run in a program that is about to start? ------------------------------------ */

static bool read_head(int fd, char *head)
{
    memset(head, 0, HEAD);
    return sys_read_at(fd, head, HEAD - 1, 0) >= (ssize_t)sizeof(ElfW(Ehdr));
}

static enum exec_target target_of_elf(int fd, const char *head)
{
    /* All fields up to e_machine are the same in Elf32_Ehdr and Elf64_Ehdr. */
    const ElfW(Ehdr) *header = (const void *)head;
    if (header->e_ident[EI_CLASS] == ELF_CLASS && header->e_machine == LEAK_CPU_MACHINE)
        return target_of_this_class(fd, head);
#if LEAK_CPU_MACHINE_OTHER != EM_NONE
    if (header->e_ident[EI_CLASS] == OTHER_CLASS && header->e_machine == LEAK_CPU_MACHINE_OTHER) {
        enum exec_target target = target_of_other_class(fd, head);
        return target == EXEC_TARGET_LOADS ? EXEC_TARGET_LOADS_OTHER : target;
    }
#endif
    return EXEC_TARGET_REFUSES;
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

/* Says whether a program gets the rights of another user or group by its set-id bits. Without the
 * right to execute, the bit of the group means something else. */
static bool changes_rights(int fd)
{
    const mode_t group = S_ISGID | S_IXGRP;
    struct stat info;
    if (sys_fstat(fd, &info) != 0)
        return false;
    return (info.st_mode & S_ISUID && info.st_uid != sys_geteuid()) ||
           ((info.st_mode & group) == group && info.st_gid != sys_getegid());
}

enum exec_target exec_target_of_fd(int fd)
{
    _Alignas(8) char head[HEAD];
    if (!read_head(fd, head))
        return EXEC_TARGET_LOADS;
    if (head[0] == '#' && head[1] == '!')
        return target_of_script(head);
    if (!is_elf(head))
        return EXEC_TARGET_LOADS;
    enum exec_target target = target_of_elf(fd, head);
    return target != EXEC_TARGET_REFUSES && changes_rights(fd) ? EXEC_TARGET_IGNORES : target;
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

static enum exec_target target_of_opened(int fd)
{
    if (fd < 0)
        return EXEC_TARGET_LOADS;
    enum exec_target target = exec_target_of_fd(fd);
    sys_close(fd);
    return target;
}

enum exec_target exec_target_of_path(const char *file, const char *search_path)
{
    if (!file)
        return EXEC_TARGET_LOADS;
    return target_of_opened(search_path && !strchr(file, '/') ? open_in_path(search_path, file)
                                                              : sys_open(file, OPEN_FLAGS, 0));
}

enum exec_target exec_target_at(int directory, const char *file, int flags)
{
    int fd = sys_open_at(directory, file, OPEN_FLAGS);
    bool is_directory_itself = fd == -ENOENT && flags & AT_EMPTY_PATH;
    return is_directory_itself ? exec_target_of_fd(directory) : target_of_opened(fd);
}
