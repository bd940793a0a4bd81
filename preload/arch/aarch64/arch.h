/* arch.h (aarch64) - what depends on the CPU: system calls, registers, the signal frame.
 *
 * It defines the same names as arch.h of x86_64, where some of the constants are 0. System calls are
 * raw, so that errno, which belongs to the program, is never written.
 */
#ifndef ARCH_H
#define ARCH_H

#include <stdbool.h>
#include <stdint.h>

#define ARCH_HAS_RESTORER 1 /* 1: the kernel's struct sigaction has a restorer */
/* Number of slots of a Rust hash table that the library hashbrown compares with one instruction. */
#define ARCH_HASH_GROUP 8
/* Types of relocations: of a GOT slot with an address of data, of a GOT slot for calls, of an
 * address in data. */
#define ARCH_SLOT_DATA 1025 /* R_AARCH64_GLOB_DAT */
#define ARCH_SLOT_CALL 1026 /* R_AARCH64_JUMP_SLOT */

#define ARCH_SLOT_WORD 257 /* R_AARCH64_ABS64 */

/* The code that is written over the beginning of a function as a breakpoint: an illegal
 * instruction, not longer than any other instruction. */
typedef uint32_t arch_code;
#define ARCH_UNKNOWN_CODE 0u /* udf #0 */

/* The jump that is written over the beginning of a function (displace.h): its size and its range,
 * both in bytes. */
#define ARCH_JUMP 4
#define ARCH_JUMP_FAR (1ul << 27)

static inline long arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

static inline uintptr_t arch_stack_pointer(void)
{
    uintptr_t sp;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    return sp;
}

/* Returns the thread pointer. Above a thread's own stack lie glibc's struct pthread, the thread
 * control block at this address, and static TLS. */
static inline uintptr_t arch_thread_block(void)
{
    uintptr_t block;
    __asm__("mrs %0, tpidr_el0" : "=r"(block));
    return block;
}
/* Is 1 because static TLS follows the thread control block in the same mapping. */
#define ARCH_TLS_ABOVE_BLOCK 1

static inline void arch_pause(void)
{
    __asm__ volatile("yield" ::: "memory");
}

/* Calls function(argument) on another stack. stack_end: upper end of that stack, 16-byte
 * aligned. */
void arch_call_on(void *stack_end, void (*function)(void *), void *argument);
/* Is 1 because an unwinder finds the way from the other stack back to the first stack. */
#define ARCH_CALL_ON_UNWINDS 1
/* Sets the signal mask and makes a system call. A signal handler calls it to repeat the system
 * call that the signal has interrupted, with the program's signal mask. */
long arch_call_unblocked(const uint64_t *mask, long number, const long arguments[6]);
extern const char arch_call_unblocked_end[];
/* Address behind the system call instruction in libleak's hook of libc's function syscall(). */
extern const char arch_syscall_hook_end[];

/* libunwind's name of this CPU and its numbers of registers: the stack pointer, and those that hold
 * the pc of a caller after a call and after a signal. When libunwind steps over a call it sets only
 * x30; its register "pc" keeps its value. */
#define ARCH_LIBUNWIND "aarch64"
#define ARCH_LIBUNWIND_SP 31
#define ARCH_LIBUNWIND_PC 30
#define ARCH_LIBUNWIND_INTERRUPTED_PC 32

/* Returns which of 16 bytes equal "byte": bit i for bytes[i]. It compares eight bytes at a time: a
 * zero byte of the difference keeps its top bit, and a multiplication brings the eight bits
 * together. */
static inline uint32_t arch_find_byte(const uint8_t *bytes, uint8_t byte)
{
    const uint64_t ones = 0x0101010101010101, low7 = 0x7f7f7f7f7f7f7f7f;
    uint32_t found = 0;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t word;
        __builtin_memcpy(&word, bytes + 8 * i, sizeof word);
        word ^= ones * byte;
        uint64_t zeros = ~(((word & low7) + low7) | word | low7);
        found |= (uint32_t)((zeros >> 7) * 0x0102040810204080 >> 56) << (8 * i);
    }
    return found;
}

/* Returns the address in a pointer, without the uppermost byte, which may hold a tag (MTE:
 * GLIBC_TUNABLES=glibc.mem.tagging). The CPU ignores the tag, and another pointer to the same block
 * may have a different one. */
static inline uintptr_t arch_address(const void *pointer)
{
    return (uintptr_t)pointer & (UINTPTR_MAX >> 8);
}

/* Is 1 because parts of one readable page may fault: those whose tag is not the pointer's. */
#define ARCH_MEMORY_TAGS 1

/* ---- Calls and return addresses -------------------------------------------------------------- */

/* Is 1 because a call leaves the return address in x30; the callee saves it anywhere in its frame,
 * or not at all. */
#define ARCH_LINK_REGISTER 1

/* The place where a called function has saved its return address: in its frame record {x29, x30},
 * to which its x29 points. */
struct arch_link {
    uintptr_t record;
};

/* Returns the caller's sp. record: __builtin_frame_address(0) of the called function. The CFA of
 * that function lies above it at a distance that only the compiler knows. */
#ifdef __clang__
#define ARCH_CALLER_SP(record) ((uintptr_t)__builtin_sponentry())
#else
#define ARCH_CALLER_SP(record) ((uintptr_t)__builtin_dwarf_cfa())
#endif
/* Returns the caller's pc. __builtin_return_address removes the signature (pointer authentication)
 * from it. */
#define ARCH_CALLER_PC(record) ((uintptr_t)__builtin_return_address(0))
#define ARCH_CALLER_FP(record) (*(const uintptr_t *)(record))
#define ARCH_LINK(record) ((struct arch_link){(uintptr_t)(record)})
/* Distance in bytes from the frame pointer to the frame record. */
#define ARCH_FRAME_RECORD 0

/* Returns where the return address of a call is stored until the call returns. */
static inline uintptr_t arch_return_slot(uintptr_t caller_sp, struct arch_link link)
{
    (void)caller_sp;
    return link.record + sizeof(uintptr_t);
}

/* Is 0 because arch_find_call recognises no call, so code without unwind table ends a stack. The compilers of this CPU put
 * a frame record anywhere in its frame: it does not tell the caller's sp, which the caller's row
 * needs. */
#define ARCH_FINDS_CALLS 0
#define ARCH_CALL_MOST 4

static inline bool arch_find_call(const uint8_t *end, uintptr_t pc, uintptr_t *target)
{
    (void)end, (void)pc;
    *target = 0;
    return false;
}

/* Returns a return address without the signature that paciasp or pacibsp has put into its upper
 * bits. The instruction xpaclri removes it; on a CPU without pointer authentication it does
 * nothing. */
static inline uintptr_t arch_strip(uintptr_t pc)
{
    register uintptr_t x30 __asm__("x30") = pc;
    __asm__("hint #7" : "+r"(x30));
    return x30;
}

/* Is 0 because all calls from one frame have the same sp, so their return addresses are at the same
 * place. */
#define ARCH_SLOTS_VARY 0

/* ---- Unwinding ------------------------------------------------------------------------------- */

/* DWARF numbers of the registers that a CFI row restores: frame pointer, stack pointer, return
 * address. */
#define ARCH_DWARF_FP 29
#define ARCH_DWARF_SP 31
#define ARCH_DWARF_RA 30
/* DWARF number of a callee-saved register on which some hand-written code bases its CFA. No such
 * code is known on this CPU; compilers would use x19. */
#define ARCH_DWARF_OTHER 19

/* Recognizes the CFA opcodes after which the saved x30 is signed, or is not signed any more:
 * negate_ra_state, and its variant for signatures that also depend on the pc. */
static inline bool arch_cfa_signs(uint8_t opcode)
{
    return opcode == 0x2d || opcode == 0x2c;
}

/* Says whether a letter of a CIE's augmentation exists only on this CPU. Neither letter affects
 * unwinding. B: return addresses are signed with the B key; G: the stack's memory is tagged. */
static inline bool arch_cie_letter(char letter)
{
    return letter == 'B' || letter == 'G';
}

/* Offsets of the interrupted registers from sp, when a signal handler has returned. Then sp points
 * at the siginfo (128 bytes), which the ucontext follows: flags 8 bytes, link 8, stack 24, mask
 * 128, together rounded up to 16; then the fault address, x0 .. x30, sp, pc. */
#define ARCH_SIGNAL_REGISTERS (128 + 176 + 8)
#define ARCH_SIGNAL_FP (ARCH_SIGNAL_REGISTERS + 29 * 8)
#define ARCH_SIGNAL_LINK (ARCH_SIGNAL_REGISTERS + 30 * 8)
#define ARCH_SIGNAL_SP (ARCH_SIGNAL_REGISTERS + 31 * 8)
#define ARCH_SIGNAL_PC (ARCH_SIGNAL_REGISTERS + 32 * 8)

/* Instructions of a signal trampoline without unwind table: mov x8, 139; svc 0. The vDSO's
 * trampoline has a table since Linux 5.8; before that, and where there is no vDSO (qemu-user), it
 * is recognised by these two instructions. */
#define ARCH_SIGRETURN 0xd4000001d2801168ull

/* On other CPUs: how to unwind __do_global_dtors_aux, a function of the C library's start files
 * without unwind table. On this CPU it has a table, so arch_is_dtors always says no. */
#define ARCH_DTORS_SIZE 4
#define ARCH_DTORS_CFA 0
#define ARCH_DTORS_FP 0
#define ARCH_DTORS_RA 0

static inline _Bool arch_is_dtors(const uint8_t *code)
{
    (void)code;
    return 0;
}

#endif
