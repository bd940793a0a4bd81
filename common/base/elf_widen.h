/* elf_widen.h - converts structures of 32-bit ELF files to those of 64-bit ones, so that one reader
 * is enough for both. */
#ifndef COMMON_BASE_ELF_WIDEN_H
#define COMMON_BASE_ELF_WIDEN_H

#include <elf.h>
#include <string.h>

static inline Elf64_Phdr elf_widen_segment(const Elf32_Phdr *from)
{
    return (Elf64_Phdr){.p_type = from->p_type,
                        .p_flags = from->p_flags,
                        .p_offset = from->p_offset,
                        .p_vaddr = from->p_vaddr,
                        .p_filesz = from->p_filesz,
                        .p_memsz = from->p_memsz};
}

static inline Elf64_Ehdr elf_widen_header(const Elf32_Ehdr *from)
{
    Elf64_Ehdr header = {.e_type = from->e_type,
                         .e_machine = from->e_machine,
                         .e_phoff = from->e_phoff,
                         .e_shoff = from->e_shoff,
                         .e_phentsize = from->e_phentsize,
                         .e_phnum = from->e_phnum,
                         .e_shentsize = from->e_shentsize,
                         .e_shnum = from->e_shnum};

    memcpy(header.e_ident, from->e_ident, sizeof(header.e_ident));
    return header;
}

#endif
