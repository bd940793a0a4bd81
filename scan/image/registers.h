/* registers.h - what the registers of a thread are, as ptrace and core files have them: the words
 * that may be pointers, the stack pointer, and the thread pointer. Those of this machine. */
#ifndef SCAN_REGISTERS_H
#define SCAN_REGISTERS_H

#include <elf.h>

#include "leak_cpu.h"
#include "scan/image/image.h"

#if defined(__x86_64__)
#define REGISTERS_RED_ZONE 128 /* bytes below the stack pointer that are in use */
#define REGISTERS_VECTORS NT_X86_XSTATE
#define REGISTERS_TLS 0      /* among the general ones */
#define REGISTERS_DTV 8      /* from the thread pointer: the table of TLS blocks */
#define REGISTERS_GUARD 0x30 /* what glibc mangles the pointers of setjmp with */
#elif defined(__aarch64__)
#define REGISTERS_RED_ZONE 128
#define REGISTERS_VECTORS NT_PRFPREG
#define REGISTERS_TLS NT_ARM_TLS
#define REGISTERS_DTV 0
#define REGISTERS_GUARD 0 /* in the loader's data */
#elif defined(__riscv) && __riscv_xlen == 64
#define REGISTERS_RED_ZONE 0
#define REGISTERS_VECTORS NT_PRFPREG
#define REGISTERS_TLS 0
#define REGISTERS_DTV (-16)
#define REGISTERS_GUARD 0
#else
#error "registers.h has no row for this CPU"
#endif

/* REGISTERS_TLS, REGISTERS_DTV and REGISTERS_GUARD for a program with words of that width. */
unsigned registers_tls(unsigned word);
int registers_dtv(unsigned word);
unsigned registers_guard(unsigned word);

/* The bytes of NT_PRSTATUS's registers, those of another set, and of registers_tls(). Too few bytes
 * are no registers. The general ones come first. */
void registers_take_general(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                            size_t size);
void registers_take_more(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                         size_t size);
void registers_take_tls(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                        size_t size);

/* Changes the registers of a thread that was stopped in a call which then ended with EINTR, without
 * a signal: so that it makes the call again. False: nothing is to be changed. */
bool registers_repeat_call(uint8_t *bytes, size_t size);

#endif
