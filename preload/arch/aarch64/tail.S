/* tail.S (aarch64) - hooks that must not stand between caller and callee.
 *
 * dlopen, dlmopen and dlclose look at their return address (RUNPATH, $ORIGIN, namespaces): a C wrapper would
 * make libleak.so the caller. So: save the arguments, tell the runtime, restore them, and jump.
 * vfork returns twice to its caller, the second time over a stack that the child has used.
 * C++ exceptions from constructors never pass here: nothing of ours is on the stack after the jump.
 *
 * Instructions newer than the first aarch64 are written as hints, which older CPUs take for nops:
 * paciasp signs x30 while it lies on the stack and is a landing place for calls under BTI; a jump
 * through x16 may land where calls may.
 */
.macro TAIL_HOOK name, notice
        .globl  \name
        .type   \name, %function
        .p2align 4
\name:
        .cfi_startproc
        hint    #25                     // paciasp
        .cfi_negate_ra_state
        stp     x29, x30, [sp, #-48]!
        .cfi_def_cfa_offset 48
        .cfi_offset 29, -48
        .cfi_offset 30, -40
        mov     x29, sp
        stp     x0, x1, [sp, #16]
        str     x2, [sp, #32]
        bl      \notice
        mov     x16, x0                 // the notice answers where to go on
        ldp     x0, x1, [sp, #16]
        ldr     x2, [sp, #32]
        ldp     x29, x30, [sp], #48
        .cfi_def_cfa_offset 0
        .cfi_restore 29
        .cfi_restore 30
        hint    #29                     // autiasp
        .cfi_negate_ra_state
        br      x16
        .cfi_endproc
        .size   \name, . - \name
.endm

        .text
        TAIL_HOOK dlopen,  hook_dlopen_notice
        TAIL_HOOK dlmopen, hook_dlmopen_notice
        TAIL_HOOK dlclose, hook_dlclose_notice
        TAIL_HOOK vfork,   hook_vfork_notice

/* Fit for BTI and PAC: libleak.so says so itself when its C was compiled to be as well. */
        .section .note.gnu.property, "a"
        .p2align 3
        .word   4, 16, 5                // "GNU", length of the description, NT_GNU_PROPERTY_TYPE_0
        .asciz  "GNU"
        .word   0xc0000000, 4, 3, 0     // GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI | PAC

        .section .note.GNU-stack, "", %progbits
