/* page_assets.S - includes the style of all pages from page.css. */
    .section .rodata
    .global page_style, page_style_end
page_style:
    .incbin "serve/page.css"
page_style_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
