/* cfi.h - reads .eh_frame and .debug_frame: one row says how to get from a frame to its caller's.
 *
 * A pure function of memory: no state, no allocation, no lock; hostile or unusual tables give
 * CFI_NONE, never a guess. A row has what x86_64 and aarch64 code needs in practice: the CFA as
 * sp or fp plus an offset (or the word that fp points near: realigned frames; or a third register
 * plus an offset: the loader's resolver), where the caller's fp is saved, and the return address.
 * The two expressions that toolchains write are understood: a realigned frame's, and the PLT's,
 * which is sp plus one of two offsets. Everything else is CFI_COMPLEX.
 *
 * On CPUs with a link register (ARCH_LINK_REGISTER) the low bits of ra_offset hold flags, enum
 * cfi_ra; on others they are 0 and not read.
 */
#ifndef PRELOAD_UNWIND_CFI_H
#define PRELOAD_UNWIND_CFI_H

#include "preload/base/base.h"

enum cfi_rule {
    CFI_NONE,     /* no table entry for this address */
    CFI_COMPLEX,  /* there is one, but no row can express it */
    CFI_END,      /* outermost frame: its return address is undefined */
    CFI_SIGNAL,   /* the caller was interrupted: its registers are saved in the signal frame */
    CFI_SP,       /* CFA = sp + offset */
    CFI_FP,       /* CFA = fp + offset */
    CFI_FP_DEREF, /* CFA = *(fp + offset); here the caller's fp is saved near fp, not near the CFA
                   */
    CFI_OTHER /* CFA = offset + ARCH_DWARF_OTHER, a register that callees keep for their caller */
};

#define CFI_FP_KEPT INT16_MAX /* the caller's fp is the callee's */
#define CFI_LOST INT16_MIN    /* not known where it is saved */

/* A return address lies at a multiple of a word from the CFA, in the range that cfi_cache.c can store.
 */
#define CFI_RA_FLAGS 7
#define CFI_RA_ODD (ARCH_LINK_REGISTER ? CFI_RA_FLAGS : (int)WORD - 1) /* not in a multiple */
#define CFI_RA_LEAST (-4096)
#define CFI_RA_MOST 4088
enum cfi_ra {
    CFI_RA_SIGNED = 1,  /* pointer authentication: arch_strip */
    CFI_RA_KEPT = 2,    /* it is still in the link register, and nowhere else */
    CFI_NEAR_BOTTOM = 4 /* it and fp are saved near the register that the CFA is computed from, not
                           near the CFA: gcc puts aarch64 frame records below a frame's locals */
};

struct cfi_row {
    uint8_t rule;      /* enum cfi_rule */
    int16_t fp_offset; /* caller's fp at CFA + this (CFI_FP_DEREF: at fp + this), or CFI_FP_KEPT */
    int16_t ra_offset; /* return address at CFA + this; low bits: enum cfi_ra */
    int32_t offset;
};

/* The row that applies at pc (an address inside the call instruction or the interrupted one, never
 * the return address itself). eh_frame_hdr: the object's PT_GNU_EH_FRAME segment in memory. */
struct cfi_row cfi_row_at(const void *eh_frame_hdr, uintptr_t pc);

/* The place at which the function at pc saves its caller's ARCH_DWARF_OTHER: at CFA + this;
 * CFI_FP_KEPT: it is still in the register; or CFI_LOST. */
int16_t cfi_other_at(const void *eh_frame_hdr, uintptr_t pc);

/* The same for a known FDE, in any buffer: fde points at its length word. */
struct cfi_row cfi_row_of_fde(const uint8_t *fde, uintptr_t pc);
int16_t cfi_other_of_fde(const uint8_t *fde, uintptr_t pc);

/* A copy of .debug_frame. Its addresses are those that the linker gave. */
struct cfi_section {
    const uint8_t *start, *end;
};
/* Computes the row of an address from an FDE of .debug_frame. fde: offset of the FDE's length word,
 * which the caller has checked; pc: as linked. */
struct cfi_row cfi_row_of_debug_fde(const struct cfi_section *section, size_t fde, uintptr_t pc);

#endif
