/* cfi.h - reads the unwind tables .eh_frame and .debug_frame (CFI: call frame information). One row
 * says how to get from a frame to its caller's frame.
 *
 * The functions have no state, allocate nothing and take no lock. Invalid or unusual tables give
 * CFI_NONE, never a guess. A row expresses what real code on x86_64 and aarch64 needs: the CFA
 * (canonical frame address) as sp or fp plus an offset, and where the caller's fp and the return
 * address are saved. In a realigned frame the CFA is a word near fp; in the loader's resolver it is
 * a third register plus an offset. Two kinds of expressions are understood: that of realigned
 * frames, and that of PLT entries, which is sp plus one of two offsets. All others give
 * CFI_COMPLEX.
 *
 * On CPUs with a link register (ARCH_LINK_REGISTER) the low bits of ra_offset hold flags, enum
 * cfi_ra; on others they are 0 and not read. */
#ifndef PRELOAD_UNWIND_CFI_H
#define PRELOAD_UNWIND_CFI_H

#include "preload/base/base.h"

enum cfi_rule {
    CFI_NONE,    /* there is no table entry for this address */
    CFI_COMPLEX, /* there is a table entry, but no struct cfi_row can express it */
    CFI_END,     /* the frame is the outermost one: its return address is undefined */
    /* The frame is a signal frame, in which the registers of the interrupted code are saved. */
    CFI_SIGNAL,
    CFI_SP, /* CFA = sp + offset */
    CFI_FP, /* CFA = fp + offset */
    /* CFA = *(fp + offset); the caller's fp is saved relative to fp, not to the CFA. */
    CFI_FP_DEREF,
    /* CFA = offset + the register ARCH_DWARF_OTHER, which callees preserve. */
    CFI_OTHER
};

#define CFI_FP_KEPT INT16_MAX /* the caller's fp is still in the register */
#define CFI_LOST INT16_MIN    /* it is not known where the register is saved */

/* Mask of those low bits of ra_offset that hold flags (enum cfi_ra) on CPUs with a link
 * register. */
#define CFI_RA_FLAGS 7
/* What a CFI row can express of a saved return address: its offset has 0 in the bits of CFI_RA_ODD,
 * because it is a multiple of a word, and lies in the range from CFI_RA_LEAST to CFI_RA_MOST, which
 * cfi_cache.c can store. */
#define CFI_RA_ODD (ARCH_LINK_REGISTER ? CFI_RA_FLAGS : (int)WORD - 1)
#define CFI_RA_LEAST (-4096)
#define CFI_RA_MOST 4088
enum cfi_ra {
    CFI_RA_SIGNED = 1, /* the return address is signed (pointer authentication, arch_strip) */
    CFI_RA_KEPT = 2,   /* the return address is still in the link register, and nowhere else */
    /* The return address and fp are saved relative to the register from which the CFA is computed:
     * gcc puts the frame records of aarch64 below the local variables. */
    CFI_NEAR_BOTTOM = 4
};

struct cfi_row {
    uint8_t rule;      /* a value of enum cfi_rule */
    int16_t fp_offset; /* caller's fp is at CFA + this (CFI_FP_DEREF: fp + this), or CFI_FP_KEPT */
    int16_t ra_offset; /* return address is at CFA + this; low bits: enum cfi_ra */
    int32_t offset;
};

/* Computes the CFI row for pc, which is an address inside the call instruction or of the
 * interrupted instruction, never the return address itself. eh_frame_hdr: the object's
 * PT_GNU_EH_FRAME segment in memory. */
struct cfi_row cfi_row_at(const void *eh_frame_hdr, uintptr_t pc);

/* Computes where the function at pc saves the register ARCH_DWARF_OTHER of its caller: at CFA + the
 * result; CFI_FP_KEPT: the value is still in the register; CFI_LOST: not known. */
int16_t cfi_other_at(const void *eh_frame_hdr, uintptr_t pc);

/* The code of a function, or of a part of it: compilers may put rare code elsewhere. */
struct cfi_function {
    uintptr_t start, end;
    bool may_have_handlers; /* it may have handlers of exceptions, whose code may lie elsewhere */
};
/* Finds the function whose code contains pc. False: it has no entry in .eh_frame. */
bool cfi_function_at(const void *eh_frame_hdr, uintptr_t pc, struct cfi_function *out);

/* Do the work of cfi_row_at and cfi_other_at with an FDE that the caller has found; it may lie in
 * any memory. fde: points to its length word. */
struct cfi_row cfi_row_of_fde(const uint8_t *fde, uintptr_t pc);
int16_t cfi_other_of_fde(const uint8_t *fde, uintptr_t pc);

/* A copy of the section .debug_frame. Its addresses are those that the linker assigned. */
struct cfi_section {
    const uint8_t *start, *end;
};
/* Computes the CFI row for an address from an FDE of .debug_frame. fde: offset of the FDE's length
 * word, which the caller has checked; pc: the address that the linker assigned. */
struct cfi_row cfi_row_of_debug_fde(const struct cfi_section *section, size_t fde, uintptr_t pc);

#endif
