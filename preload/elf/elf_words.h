/* elf_words.h - names and types of ELF that depend on the word size and that link.h does not
 * define. link.h itself has ElfW() for types. */
#ifndef PRELOAD_ELF_ELF_WORDS_H
#define PRELOAD_ELF_ELF_WORDS_H

#include "preload/base/base.h"

#include <elf.h>
#include <link.h>

/* ELFW(ST_TYPE) is ELF64_ST_TYPE or ELF32_ST_TYPE, depending on the word size; so for the other
 * names of elf.h. */
#define ELFW(name) _ElfW(ELF, __ELF_NATIVE_CLASS, name)

#define ELF_CLASS (sizeof(uintptr_t) == 8 ? ELFCLASS64 : ELFCLASS32)

/* The kind of relocations that the loader of this CPU uses. On i386 a relocation has no addend of
 * its own: the addend stands in the word that the relocation changes, until the loader overwrites
 * it. */
#ifdef __i386__
typedef ElfW(Rel) elf_relocation;
#define ELF_RELOCATIONS DT_REL
#define ELF_RELOCATIONS_SIZE DT_RELSZ
#define ELF_RELOCATIONS_UNNAMED DT_RELCOUNT
#define ELF_HAS_ADDEND(relocation) true
#else
typedef ElfW(Rela) elf_relocation;
#define ELF_RELOCATIONS DT_RELA
#define ELF_RELOCATIONS_SIZE DT_RELASZ
#define ELF_RELOCATIONS_UNNAMED DT_RELACOUNT
#define ELF_HAS_ADDEND(relocation) ((relocation)->r_addend != 0)
#endif

#endif
