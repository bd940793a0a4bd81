/* preflight.c - see preflight.h.
 *
 * Three questions in turn: is it there and may it run (find, rights), what is it (a script leads to
 * its interpreter and starts again), and can a library be preloaded into it (the ELF file). The ELF
 * structures are read with pread into our own memory: class and byte order are ours by then. */
#include "symbolize/preflight.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define CANNOT_RUN 126
#define NOT_FOUND 127
#define SCRIPT_DEPTH 5          /* the kernel's own limit */
#define LINE_BYTES 256          /* of a "#!" line the kernel reads no more */
#define TABLE_BYTES (256u << 20) /* a larger string table is not searched */

#if defined __x86_64__
#define OUR_MACHINE EM_X86_64
#elif defined __aarch64__
#define OUR_MACHINE EM_AARCH64
#endif

/* Returns false, so that a check can end with "return refuse(...)". */
static bool refuse(struct preflight *result, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(struct preflight *result, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    result->status = status;
    vsnprintf(result->line, sizeof result->line, format, args);
    va_end(args);
    /* One line, whatever a file says its loader is called. */
    for (char *at = result->line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == '\177')
            *at = '?';
    return false;
}

/* ---- The ELF file ------------------------------------------------------------------------ */

struct image {
    int fd;
    uint64_t size;
    const char *name; /* as the messages call it */
    Elf64_Ehdr header;
    Elf64_Phdr *segments; /* header.e_phnum of them */
};

static bool image_read(const struct image *image, void *to, uint64_t offset, uint64_t size)
{
    if (offset > image->size || size > image->size - offset)
        return false;
    for (char *at = to; size;) {
        ssize_t n = pread(image->fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        offset += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return true;
}

/* The bytes as fresh memory with a NUL behind them, or NULL. */
static char *image_copy(const struct image *image, uint64_t offset, uint64_t size)
{
    if (size > TABLE_BYTES || offset > image->size || size > image->size - offset)
        return NULL;
    char *bytes = malloc(size + 1);
    if (!bytes || !image_read(image, bytes, offset, size)) {
        free(bytes);
        return NULL;
    }
    bytes[size] = '\0';
    return bytes;
}

static const Elf64_Phdr *image_segment(const struct image *image, uint32_t type)
{
    for (size_t i = 0; i < image->header.e_phnum; i++)
        if (image->segments[i].p_type == type)
            return &image->segments[i];
    return NULL;
}

/* File offset of a virtual address; UINT64_MAX: not in the file. */
static uint64_t image_offset(const struct image *image, uint64_t address)
{
    for (size_t i = 0; i < image->header.e_phnum; i++) {
        const Elf64_Phdr *s = &image->segments[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz &&
            s->p_offset <= image->size)
            return s->p_offset + (address - s->p_vaddr);
    }
    return UINT64_MAX;
}

/* What the dynamic section says of interest. */
struct dynamic {
    bool asan, pie, loader, library;
};

static void dynamic_read(const struct image *image, struct dynamic *dynamic)
{
    *dynamic = (struct dynamic){0};
    const Elf64_Phdr *segment = image_segment(image, PT_DYNAMIC);
    if (!segment || segment->p_filesz > TABLE_BYTES)
        return;
    size_t count = segment->p_filesz / sizeof(Elf64_Dyn);
    Elf64_Dyn *tags =
        (Elf64_Dyn *)(void *)image_copy(image, segment->p_offset, count * sizeof(Elf64_Dyn));
    if (!tags)
        return;
    uint64_t strings = UINT64_MAX, strings_size = 0;
    for (size_t i = 0; i < count && tags[i].d_tag != DT_NULL; i++) {
        if (tags[i].d_tag == DT_STRTAB)
            strings = image_offset(image, tags[i].d_un.d_ptr);
        if (tags[i].d_tag == DT_STRSZ)
            strings_size = tags[i].d_un.d_val;
        if (tags[i].d_tag == DT_FLAGS_1)
            dynamic->pie = tags[i].d_un.d_val & DF_1_PIE;
    }
    char *names = strings == UINT64_MAX ? NULL : image_copy(image, strings, strings_size);
    for (size_t i = 0; names && i < count && tags[i].d_tag != DT_NULL; i++) {
        if (tags[i].d_un.d_val >= strings_size)
            continue;
        const char *name = names + tags[i].d_un.d_val;
        if (tags[i].d_tag == DT_NEEDED)
            dynamic->asan |= strncmp(name, "libasan.so", 10) == 0 ||
                             strncmp(name, "libclang_rt.asan", 16) == 0;
        if (tags[i].d_tag == DT_SONAME) {
            dynamic->library = true;
            dynamic->loader = strncmp(name, "ld-linux", 8) == 0;
        }
    }
    free(names);
    free(tags);
}

struct symbols {
    bool asan, own_malloc;
};

static void symbols_search(const struct image *image, const Elf64_Shdr *table, const char *names,
                           uint64_t names_size, struct symbols *found)
{
    Elf64_Sym symbol[512];
    uint64_t count = table->sh_size / sizeof *symbol;
    for (uint64_t first = 0; first < count; first += 512) {
        uint64_t n = count - first < 512 ? count - first : 512;
        if (!image_read(image, symbol, table->sh_offset + first * sizeof *symbol,
                        n * sizeof *symbol))
            return;
        for (uint64_t i = 0; i < n; i++) {
            if (symbol[i].st_name == 0 || symbol[i].st_name >= names_size)
                continue;
            const char *name = names + symbol[i].st_name;
            int type = ELF64_ST_TYPE(symbol[i].st_info);
            if (strcmp(name, "__asan_init") == 0)
                found->asan = true;
            else if (symbol[i].st_shndx != SHN_UNDEF && strcmp(name, "malloc") == 0 &&
                     (type == STT_FUNC || type == STT_GNU_IFUNC))
                found->own_malloc = true;
        }
    }
}

static void symbols_read(const struct image *image, struct symbols *found)
{
    const Elf64_Ehdr *header = &image->header;
    *found = (struct symbols){0};
    Elf64_Shdr section, names;
    if (header->e_shentsize != sizeof section || header->e_shoff == 0)
        return;
    for (uint64_t i = 0; i < header->e_shnum; i++) {
        if (!image_read(image, &section, header->e_shoff + i * sizeof section, sizeof section))
            return;
        if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) ||
            section.sh_link >= header->e_shnum ||
            !image_read(image, &names, header->e_shoff + section.sh_link * sizeof names,
                        sizeof names))
            continue;
        char *text = image_copy(image, names.sh_offset, names.sh_size);
        if (text)
            symbols_search(image, &section, text, names.sh_size, found);
        free(text);
    }
}

/* ---- Can a library be preloaded into it? -------------------------------------------------- */

static bool interpreter_judge(const struct image *image, struct preflight *result)
{
    const char *name = image->name;
    struct dynamic dynamic;
    dynamic_read(image, &dynamic);
    const Elf64_Phdr *segment = image_segment(image, PT_INTERP);
    if (!segment) {
        if (dynamic.loader)
            return true; /* ld.so PROGRAM honours LD_PRELOAD */
        if (dynamic.library && !dynamic.pie)
            return refuse(result, CANNOT_RUN,
                          "%s is a shared library, not a program: run the program that uses it",
                          name);
        return refuse(result, CANNOT_RUN,
                      "%s is statically linked, so no library can be loaded into it: link it "
                      "without -static",
                      name);
    }
    char *loader = segment->p_filesz > PATH_MAX
                       ? NULL
                       : image_copy(image, segment->p_offset, segment->p_filesz);
    if (!loader)
        return refuse(result, CANNOT_RUN,
                      "%s is damaged: the name of its loader is outside the file; build it again",
                      name);
    bool good = true;
    if (strstr(loader, "ld-musl"))
        good = refuse(result, CANNOT_RUN,
                      "%s uses musl libc, and libleak needs glibc: build it against glibc", name);
    else if (access(loader, F_OK) != 0)
        good = refuse(result, NOT_FOUND,
                      "%s needs the loader %s, which is not here: install the libc it was built "
                      "for",
                      name, loader);
    else if (dynamic.asan)
        good = refuse(result, CANNOT_RUN,
                      "%s is built with AddressSanitizer, which brings its own allocator and leak "
                      "check: run it as it is, or build it without -fsanitize=address",
                      name);
    free(loader);
    return good;
}

/* The identification is ours to judge in any class; the rest is read only if it is our own. */
static bool image_open(struct image *image, struct preflight *result)
{
    const char *name = image->name;
    Elf64_Ehdr *header = &image->header;
    if (image_read(image, header, 0, EI_NIDENT) && header->e_ident[EI_CLASS] == ELFCLASS32)
        return refuse(result, CANNOT_RUN,
                      "%s is a 32-bit program and this libleak is 64-bit: build it for 64 bits "
                      "(without -m32)",
                      name);
    if (!image_read(image, header, 0, sizeof *header))
        return refuse(result, CANNOT_RUN, "%s is cut short (%llu bytes): build or copy it again",
                      name, (unsigned long long)image->size);
    if (header->e_machine != OUR_MACHINE || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
        return refuse(result, CANNOT_RUN,
                      "%s is built for another machine (ELF machine %u): build it for this one, or "
                      "run libleak there",
                      name, header->e_machine);
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return refuse(result, CANNOT_RUN,
                      "%s is no program but %s: link it first, or name the program", name,
                      header->e_type == ET_CORE ? "a core file" : "an object file");
    image->segments =
        header->e_phentsize == sizeof(Elf64_Phdr)
            ? (Elf64_Phdr *)(void *)image_copy(image, header->e_phoff,
                                               header->e_phnum * sizeof(Elf64_Phdr))
            : NULL;
    if (!image->segments || header->e_phnum == 0)
        return refuse(result, CANNOT_RUN,
                      "%s is damaged: its program headers are outside the file; build or copy it "
                      "again",
                      name);
    return true;
}

static bool elf_judge(int fd, const struct stat *st, const char *name, struct preflight *result)
{
    struct image image = {.fd = fd, .size = (uint64_t)st->st_size, .name = name};
    struct symbols symbols;
    bool good = image_open(&image, result) && interpreter_judge(&image, result);
    if (good) {
        symbols_read(&image, &symbols);
        if (symbols.asan)
            good = refuse(result, CANNOT_RUN,
                          "%s is built with AddressSanitizer, which brings its own allocator and "
                          "leak check: run it as it is, or build it without -fsanitize=address",
                          name);
        else if (symbols.own_malloc)
            refuse(result, 0,
                   "%s brings a malloc of its own: what it allocates with it is not seen; link its "
                   "allocator as a shared library, or leave it out",
                   name);
    }
    free(image.segments);
    return good;
}

/* ---- May it run, and would it run with our environment? ----------------------------------- */

/* Rights beyond the caller's make ld.so drop LD_PRELOAD. Whether they take effect depends on the mount,
 * the caller and more, so the bit alone decides: a copy without it is easily made. */
static bool rights_judge(const char *path, const struct stat *st, const char *name,
                         struct preflight *result)
{
    const char *what = NULL;
    if (st->st_mode & S_ISUID)
        what = "setuid";
    else if ((st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP))
        what = "setgid";
    else if (getxattr(path, "security.capability", NULL, 0) > 0)
        what = "given file capabilities";
    return !what || refuse(result, CANNOT_RUN,
                           "%s is %s, and into such a program nothing may be preloaded: run a copy "
                           "(cp makes one without)",
                           name, what);
}

static char *path_join(const char *directory, const char *name)
{
    char *path = NULL;
    if (!directory || name[0] == '/')
        return strdup(name);
    return asprintf(&path, "%s%s%s", directory, *directory ? "/" : "", name) < 0 ? NULL : path;
}

/* The first that may be executed, as execvp does it. The path is not yet joined with cwd. */
static char *program_search(const char *name, const char *search, const char *cwd,
                            struct preflight *result)
{
    if (strchr(name, '/'))
        return strdup(name);
    bool forbidden = false;
    for (const char *at = search ? search : "/bin:/usr/bin"; *name;) {
        size_t length = strcspn(at, ":");
        char *candidate = NULL;
        if (asprintf(&candidate, "%.*s%s%s", (int)length, at, length ? "/" : "./", name) < 0)
            break;
        char *path = path_join(cwd, candidate);
        struct stat st;
        if (path && stat(path, &st) == 0) {
            if (S_ISREG(st.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0) {
                free(path);
                return candidate;
            }
            forbidden = true;
        }
        free(path);
        free(candidate);
        if (!at[length])
            break;
        at += length + 1;
    }
    if (forbidden)
        refuse(result, CANNOT_RUN, "%s is in $PATH, but not executable: chmod +x it, or name another",
               name);
    else
        refuse(result, NOT_FOUND, "%s: no such program in $PATH: check the name, or give a path",
               name);
    return NULL;
}

static int program_open(const char *path, const char *name, struct stat *st,
                        struct preflight *result)
{
    if (stat(path, st) != 0) {
        int missing = errno == ENOENT;
        refuse(result, missing ? NOT_FOUND : CANNOT_RUN, "%s: %s: check the path", name,
               strerror(errno));
        return -1;
    }
    if (S_ISDIR(st->st_mode)) {
        refuse(result, CANNOT_RUN, "%s is a directory: name a program in it", name);
        return -1;
    }
    if (!S_ISREG(st->st_mode)) {
        refuse(result, CANNOT_RUN, "%s is no regular file: name a program", name);
        return -1;
    }
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0) {
        refuse(result, CANNOT_RUN, "%s is not executable (%s): chmod +x it", name,
               strerror(errno));
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        refuse(result, CANNOT_RUN,
               "%s cannot be read (%s), so nobody can say whether it can be tracked: chmod +r it",
               name, strerror(errno));
    return fd;
}

/* ---- Scripts ----------------------------------------------------------------------------- */

/* The program that "env ARGUMENT" of a #! line would start, cut out in place; NULL: none. */
static char *env_program(char *argument)
{
    bool split = false;
    char *word = argument;
    if (strncmp(word, "-S", 2) == 0) {
        split = true;
        word += 2;
    }
    while (split) {
        word += strspn(word, " \t");
        size_t length = strcspn(word, " \t");
        bool skipped = word[0] == '-' || memchr(word, '=', length);
        if (!skipped || !length) {
            word[length] = '\0';
            break;
        }
        word += length;
    }
    return *word && *word != '-' ? word : NULL;
}

static bool judge(const char *path, const char *name, const char *search, const char *cwd,
                  int depth, struct preflight *result);

static bool interpreter_of_script(const char *interpreter, const char *script, const char *search,
                                  const char *cwd, int depth, struct preflight *result)
{
    char *name = NULL;
    if (asprintf(&name, "%s (runs the script %s)", interpreter, script) < 0)
        return refuse(result, CANNOT_RUN, "out of memory");
    char *found = program_search(interpreter, search, cwd, result);
    char *path = found ? path_join(cwd, found) : NULL;
    bool good = path && judge(path, name, search, cwd, depth + 1, result);
    free(path);
    free(found);
    free(name);
    return good;
}

/* line: what the kernel reads of it, NUL-terminated, behind "#!". */
static bool script_judge(char *line, const char *name, const char *search, const char *cwd,
                         int depth, struct preflight *result)
{
    line[strcspn(line, "\n")] = '\0';
    line += strspn(line, " \t");
    size_t length = strcspn(line, " \t");
    char *argument = line + length;
    argument += strspn(argument, " \t");
    for (char *end = strchr(argument, '\0'); end > argument && strchr(" \t\r", end[-1]); end--)
        end[-1] = '\0';
    line[length] = '\0';
    if (!length)
        line = (char *)"/bin/sh";
    if (!interpreter_of_script(line, name, search, cwd, depth, result))
        return false;
    const char *base = strrchr(line, '/');
    char *program = strcmp(base ? base + 1 : line, "env") == 0 ? env_program(argument) : NULL;
    return !program || interpreter_of_script(program, name, search, cwd, depth, result);
}

static bool judge(const char *path, const char *name, const char *search, const char *cwd,
                  int depth, struct preflight *result)
{
    struct stat st;
    char start[LINE_BYTES + 1];
    if (depth > SCRIPT_DEPTH)
        return refuse(result, CANNOT_RUN, "%.400s: scripts that run scripts, too deep", name);
    int fd = program_open(path, name, &st, result);
    if (fd < 0)
        return false;
    ssize_t n = pread(fd, start, LINE_BYTES, 0);
    bool good;
    start[n > 0 ? n : 0] = '\0';
    if (n <= 0)
        good = refuse(result, CANNOT_RUN, "%s is empty: build or copy it again", name);
    else if (n >= SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0)
        good = elf_judge(fd, &st, name, result) && rights_judge(path, &st, name, result);
    else if (n >= 2 && memcmp(start, "#!", 2) == 0)
        good = script_judge(start + 2, name, search, cwd, depth, result);
    else if (memchr(start, '\0', (size_t)n))
        good = refuse(result, CANNOT_RUN, "%s is neither an ELF program nor a script", name);
    else /* execvp gives it to sh */
        good = interpreter_of_script("/bin/sh", name, search, cwd, depth, result);
    close(fd);
    return good;
}

char *preflight_program(const char *name, const char *search, const char *cwd,
                        struct preflight *result)
{
    *result = (struct preflight){0};
    char *found = program_search(name, search, cwd, result);
    char *path = found ? path_join(cwd, found) : NULL;
    if (found && !path)
        refuse(result, CANNOT_RUN, "out of memory");
    if (path && judge(path, name, search, cwd, 0, result)) {
        free(path);
        return found;
    }
    free(path);
    free(found);
    return NULL;
}

int preflight_command(int argc, char **argv)
{
    int status = 0, first = 2; /* behind "leakreport preflight" */
    if (first < argc && strcmp(argv[first], "--help") == 0) {
        puts("usage: leakreport preflight PROGRAM...\n"
             "Says of each whether libleak can track it. Exit status: 0 it can, 126 it cannot,\n"
             "127 it was not found.");
        return 0;
    }
    bool ended = first < argc && strcmp(argv[first], "--") == 0;
    first += ended;
    if (first >= argc || (!ended && argv[first][0] == '-')) {
        fputs("leakreport: usage: leakreport preflight PROGRAM...\n", stderr);
        return 2;
    }
    for (int i = first; i < argc; i++) {
        struct preflight result;
        free(preflight_program(argv[i], getenv("PATH"), NULL, &result));
        if (result.status && !status)
            status = result.status;
        if (result.line[0])
            printf("leakreport: %s%s\n", result.status ? "" : "warning: ", result.line);
        else
            printf("leakreport: %s can be tracked\n", argv[i]);
    }
    return status;
}
