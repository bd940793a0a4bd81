/* page_assets.S - the style of all pages, as it stands in page.css. */
    .section .rodata
    .global page_style, page_style_end
page_style:
    .incbin "serve/page.css"
page_style_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
