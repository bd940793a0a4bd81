/* default_suppressions.S - the built-in suppressions, default.supp. */
    .section .rodata
    .global default_suppressions, default_suppressions_end
default_suppressions:
    .incbin "common/suppress/default.supp"
default_suppressions_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
