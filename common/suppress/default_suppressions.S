/* default_suppressions.S - the suppressions that hold unless the user says otherwise, as they stand in known.supp. */
    .section .rodata
    .global known_suppressions, known_suppressions_end
known_suppressions:
    .incbin "common/suppress/default.supp"
known_suppressions_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
