/* exec_file.h - reads the ELF file of a program. exec_target.c includes this file once for each
 * word size whose programs the machine can run, and defines two macros for it:
 *
 *   ELF(type)        the type Elf64_type or Elf32_type
 *   IN_FILE(name)    the name of a function or struct, different for each word size
 *
 * The program headers are expected in the first HEAD bytes of the file, which are at "head". If a
 * file cannot be judged, the answer is that the program can load libleak.
 */

struct IN_FILE(file) {
    int fd;
    const ELF(Phdr) * segment;
    unsigned segments;
};

/* Returns the file offset of the byte that will be mapped at an address. 0: the file does not
 * contain that byte. */
static uint64_t IN_FILE(offset_of_address)(const struct IN_FILE(file) * file, uint64_t address)
{
    for (unsigned i = 0; i < file->segments; i++) {
        const ELF(Phdr) *segment = &file->segment[i];
        if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
            return segment->p_offset + (address - segment->p_vaddr);
    }
    return 0;
}

/* Finds the string table with the names of all imported and exported symbols. False: there is none. */
static bool IN_FILE(find_string_table)(const struct IN_FILE(file) * file, uint64_t *offset,
                                       uint64_t *size)
{
    ELF(Dyn) tag[TAGS_MOST];
    ssize_t length = 0;
    *offset = *size = 0;
    for (unsigned i = 0; i < file->segments; i++)
        if (file->segment[i].p_type == PT_DYNAMIC)
            length = sys_read_at(file->fd, tag, sizeof tag, file->segment[i].p_offset);
    for (ssize_t i = 0; i < length / (ssize_t)sizeof *tag && tag[i].d_tag != DT_NULL; i++) {
        if (tag[i].d_tag == DT_STRTAB)
            *offset = IN_FILE(offset_of_address)(file, tag[i].d_un.d_ptr);
        if (tag[i].d_tag == DT_STRSZ)
            *size = tag[i].d_un.d_val;
    }
    return *offset && *size;
}

/* Says whether the file was built with a sanitizer; false if that is not certain. head: the first
 * HEAD bytes of the file, with its program headers. */
static bool IN_FILE(is_sanitized_file)(int fd, const void *head)
{
    const ELF(Ehdr) *header = head;
    struct IN_FILE(file)
        file = {fd, (const void *)((const char *)head + header->e_phoff), header->e_phnum};
    uint64_t offset, length;
    if (header->e_phoff > HEAD || header->e_phoff % sizeof header->e_phoff ||
        header->e_phnum > (HEAD - header->e_phoff) / sizeof(ELF(Phdr)))
        return false;
    return IN_FILE(find_string_table)(&file, &offset, &length) && has_signs(fd, offset, length);
}

/* Returns the path of the interpreter (the loader) of a program, which linkers put near the start
 * of the file. NULL: the program is static. "": the path is not in the first HEAD bytes. */
static const char *IN_FILE(interpreter_of)(const char *head)
{
    const ELF(Ehdr) *header = (const void *)head;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        uint64_t at = header->e_phoff + (uint64_t)i * sizeof(ELF(Phdr));
        if (at > HEAD - sizeof(ELF(Phdr)))
            return "";
        const ELF(Phdr) *segment = (const void *)(head + at);
        if (segment->p_type == PT_INTERP)
            return segment->p_offset < HEAD ? head + segment->p_offset : "";
    }
    return NULL;
}

static enum exec_target IN_FILE(target)(int fd, const char *head)
{
    const char *interpreter = IN_FILE(interpreter_of)(head);
    if (!interpreter)
        return EXEC_TARGET_IGNORES;
    bool refuses = strstr(interpreter, "/ld-musl-") || IN_FILE(is_sanitized_file)(fd, head);
    return refuses ? EXEC_TARGET_REFUSES : EXEC_TARGET_LOADS;
}

#undef ELF
#undef IN_FILE
