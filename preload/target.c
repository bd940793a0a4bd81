#include "preload/target.h"
#include "preload/sys.h"
#include "preload/text.h"
#include "arch.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>

#define HEAD 1024

static bool read_head(int fd, char *head)
{
    memset(head, 0, HEAD);
    return sys_read_at(fd, head, HEAD - 1, 0) >= (ssize_t)sizeof(Elf64_Ehdr);
}

/* The interpreter's path, in the piece of the file that was read: linkers put it there. */
static const char *interpreter_of(const char *head)
{
    const Elf64_Ehdr *header = (const void *)head;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        uint64_t at = header->e_phoff + (uint64_t)i * sizeof(Elf64_Phdr);
        if (at > HEAD - sizeof(Elf64_Phdr))
            break;
        const Elf64_Phdr *segment = (const void *)(head + at);
        if (segment->p_type == PT_INTERP && segment->p_offset < HEAD)
            return head + segment->p_offset;
    }
    return NULL;
}

static bool elf_takes_us(const char *head)
{
    const Elf64_Ehdr *header = (const void *)head;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != ARCH_MACHINE)
        return false;
    const char *interpreter = interpreter_of(head);
    return !interpreter || !strstr(interpreter, "/ld-musl-");
}

static bool is_elf(const char *head)
{
    return memcmp(head, ELFMAG, SELFMAG) == 0;
}

static bool script_takes_us(char *head)
{
    char *name = head + 2 + strspn(head + 2, " \t");
    name[strcspn(name, " \t\n")] = '\0';
    int fd = sys_open(name, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return true;
    char interpreter[HEAD];
    bool known = read_head(fd, interpreter) && is_elf(interpreter);
    sys_close(fd);
    return !known || elf_takes_us(interpreter);
}

bool target_fd_takes_us(int fd)
{
    _Alignas(8) char head[HEAD];
    if (!read_head(fd, head))
        return true;
    if (head[0] == '#' && head[1] == '!')
        return script_takes_us(head);
    return !is_elf(head) || elf_takes_us(head);
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
        int fd = path.cut ? -1 : sys_open(buffer, O_RDONLY | O_CLOEXEC, 0);
        if (fd >= 0)
            return fd;
        directories += length + (directories[length] == ':');
    }
    return -1;
}

bool target_takes_us(const char *file, const char *search_path)
{
    if (!file)
        return true;
    int fd = search_path && !strchr(file, '/') ? open_in(search_path, file)
                                               : sys_open(file, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return true;
    bool takes = target_fd_takes_us(fd);
    sys_close(fd);
    return takes;
}
