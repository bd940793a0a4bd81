/* elf_words.h - what depends on the word size in ELF files and objects: link.h has ElfW() for types. */
#ifndef PRELOAD_ELF_ELF_WORDS_H
#define PRELOAD_ELF_ELF_WORDS_H

#include "preload/base/base.h"

#include <elf.h>
#include <link.h>

/* The names in elf.h of this word size: ELFW(ST_TYPE) is ELF64_ST_TYPE. */
#define ELFW(name) _ElfW(ELF, __ELF_NATIVE_CLASS, name)

#define ELF_CLASS (sizeof(uintptr_t) == 8 ? ELFCLASS64 : ELFCLASS32)

/* A relocation. On i386 its addend is in the slot, until the loader has overwritten it. */
#ifdef __i386__
typedef ElfW(Rel) elf_relocation;
#define ELF_RELOCATIONS DT_REL
#define ELF_RELOCATIONS_SIZE DT_RELSZ
#define ELF_HAS_ADDEND(relocation) true
#else
typedef ElfW(Rela) elf_relocation;
#define ELF_RELOCATIONS DT_RELA
#define ELF_RELOCATIONS_SIZE DT_RELASZ
#define ELF_HAS_ADDEND(relocation) ((relocation)->r_addend != 0)
#endif

#endif
