/* tail.S (aarch64) - hooks that must leave no frame between the caller and the real function.
 * dlopen, dlsym and others look at their return address, and vfork returns twice (tail.S of
 * x86_64).
 *
 * Instructions newer than the first aarch64 are written as hints, which are nops on older CPUs:
 * paciasp signs x30 while it is on the stack, and with BTI it is a landing pad for calls; a jump
 * through x16 may go to any landing pad for calls.
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
        mov     x16, x0                 // address of the real function: the result of notice
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
        .hidden hook_pair_dlsym
        TAIL_HOOK hook_pair_dlsym, hook_pair_dlsym_notice

/* Calls the program's main between two functions of the runtime: one learns that main begins, the
 * other that it has returned. tail.S of x86_64 describes hook_call_main. */
        .local  hook_main_return
        .comm   hook_main_return, 8, 8
        .hidden hook_call_main
        .globl  hook_call_main
        .type   hook_call_main, %function
        .p2align 4
hook_call_main:
        .cfi_startproc
        hint    #34                     // bti c
        adrp    x9, hook_main_return
        str     x30, [x9, :lo12:hook_main_return]
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset 29, -16
        .cfi_offset 30, -8
        mov     x29, sp
        .cfi_def_cfa_register 29
        stp     x0, x1, [sp, #-32]!
        str     x2, [sp, #16]
        bl      hook_main_begins
        mov     x16, x0
        ldr     x2, [sp, #16]
        ldp     x0, x1, [sp], #32
        blr     x16
        .cfi_undefined 30
        bl      hook_main_ended
        ldr     x29, [sp], #16
        adrp    x9, hook_main_return
        ldr     x30, [x9, :lo12:hook_main_return]
        ret
        .cfi_endproc
        .size   hook_call_main, . - hook_call_main

/* Marks this file as compatible with BTI and PAC. The linker marks libleak.so so if its C code was
 * compiled for them, too. */
        .section .note.gnu.property, "a"
        .p2align 3
        .word   4, 16, 5                // "GNU", length of the description, NT_GNU_PROPERTY_TYPE_0
        .asciz  "GNU"
        .word   0xc0000000, 4, 3, 0     // GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI | PAC

        .section .note.GNU-stack, "", %progbits
