#include "preload/elf/exec_target.h"
#include "preload/elf/sanitizer_scan.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "arch.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#define HEAD 1024

/* Only to read: a FIFO must not make us wait, nor a terminal become ours. */
#define LOOK (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static bool read_head(int fd, char *head)
{
    memset(head, 0, HEAD);
    return sys_read_at(fd, head, HEAD - 1, 0) >= (ssize_t)sizeof(Elf64_Ehdr);
}

/* The interpreter's path, in the piece of the file that was read: linkers put it there. NULL:
 * static;
 * "": it cannot be told from this piece. */
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

static enum target target_of_elf(int fd, const char *head)
{
    const Elf64_Ehdr *header = (const void *)head;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != ARCH_MACHINE)
        return TARGET_REFUSES_US;
    const char *interpreter = interpreter_of(head);
    if (!interpreter)
        return TARGET_IGNORES_US;
    bool refuses = strstr(interpreter, "/ld-musl-") || built_with_sanitizer(fd, head, HEAD);
    return refuses ? TARGET_REFUSES_US : TARGET_TAKES_US;
}

static bool is_elf(const char *head)
{
    return memcmp(head, ELFMAG, SELFMAG) == 0;
}

static enum target target_of_script(char *head)
{
    char *name = head + 2 + strspn(head + 2, " \t");
    name[strcspn(name, " \t\n")] = '\0';
    int fd = sys_open(name, LOOK, 0);
    if (fd < 0)
        return TARGET_TAKES_US;
    _Alignas(8) char interpreter[HEAD];
    bool known = read_head(fd, interpreter) && is_elf(interpreter);
    enum target target = known ? target_of_elf(fd, interpreter) : TARGET_TAKES_US;
    sys_close(fd);
    return target;
}

enum target target_of_fd(int fd)
{
    _Alignas(8) char head[HEAD];
    struct stat info;
    if (!read_head(fd, head))
        return TARGET_TAKES_US;
    if (head[0] == '#' && head[1] == '!')
        return target_of_script(head);
    if (!is_elf(head))
        return TARGET_TAKES_US;
    enum target target = target_of_elf(fd, head);
    bool other_user =
        sys_fstat(fd, &info) == 0 && (info.st_mode & S_ISUID) && info.st_uid != sys_geteuid();
    return target == TARGET_TAKES_US && other_user ? TARGET_IGNORES_US : target;
}

static int open_in(const char *directories, const char *file)
{
    char buffer[PATH_MAX];
    while (*directories) {
        size_t length = strcspn(directories, ":");
        struct text path = TEXT_ON(buffer);
        text_add_bytes(&path, directories, length);
        text_add(&path, length ? "/" : "");
        text_add(&path, file);
        int fd = path.cut ? -1 : sys_open(buffer, LOOK, 0);
        if (fd >= 0)
            return fd;
        directories += length + (directories[length] == ':');
    }
    return -1;
}

enum target target_of(const char *file, const char *search_path)
{
    if (!file)
        return TARGET_TAKES_US;
    int fd =
        search_path && !strchr(file, '/') ? open_in(search_path, file) : sys_open(file, LOOK, 0);
    if (fd < 0)
        return TARGET_TAKES_US;
    enum target target = target_of_fd(fd);
    sys_close(fd);
    return target;
}
