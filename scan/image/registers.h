/* registers.h - the registers of a thread as ptrace and core files have them, on this CPU: stack
 * pointer, thread pointer, and the words that may be pointers. */
#ifndef SCAN_REGISTERS_H
#define SCAN_REGISTERS_H

#include <elf.h>

#include "leak_cpu.h"
#include "scan/image/image.h"

#if defined(__x86_64__)
#define REGISTERS_RED_ZONE 128 /* bytes below the stack pointer that functions use */
#define REGISTERS_VECTORS NT_X86_XSTATE
/* Number of the note with the thread pointer; 0: it is among the general registers. */
#define REGISTERS_TLS 0
/* Distance from the thread pointer to the address of the table of TLS blocks. */
#define REGISTERS_DTV 8
/* Distance from the thread pointer to the number with which glibc mangles pointers in setjmp; 0:
 * not there. */
#define REGISTERS_GUARD 0x30
#elif defined(__aarch64__)
#define REGISTERS_RED_ZONE 128
#define REGISTERS_VECTORS NT_PRFPREG
#define REGISTERS_TLS NT_ARM_TLS
#define REGISTERS_DTV 0
#define REGISTERS_GUARD 0 /* the number is in the loader's data */
#elif defined(__riscv) && __riscv_xlen == 64
#define REGISTERS_RED_ZONE 0
#define REGISTERS_VECTORS NT_PRFPREG
#define REGISTERS_TLS 0
#define REGISTERS_DTV (-16)
#define REGISTERS_GUARD 0
#else
#error "registers.h has no row for this CPU"
#endif

/* Return REGISTERS_TLS, REGISTERS_DTV and REGISTERS_GUARD for a program whose words have `word`
 * bytes. */
unsigned registers_tls(unsigned word);
int registers_dtv(unsigned word);
unsigned registers_guard(unsigned word);

/* Store registers of a thread, from sets as core files and ptrace have them:
 * registers_take_general() the general ones (NT_PRSTATUS), to be called first;
 * registers_take_more() any further set, as words; registers_take_tls() the thread pointer, from
 * the note registers_tls(). A set that is too short is ignored. */
void registers_take_general(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                            size_t size);
void registers_take_more(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                         size_t size);
void registers_take_tls(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                        size_t size);

/* Lets a stopped thread repeat a system call that the stop, not a signal, ended with EINTR: changes
 * the general registers in `bytes`, which the caller then gives to the thread. False: there is
 * nothing to repeat. */
bool registers_repeat_call(uint8_t *bytes, size_t size);

#endif
