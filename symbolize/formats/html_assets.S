/* html_assets.S - the style and the script of the page, as they stand in html/. */
    .section .rodata
    .global html_style, html_style_end, html_script, html_script_end
html_style:
    .incbin "symbolize/formats/report.css"
html_style_end:
html_script:
    .incbin "symbolize/formats/report.js"
html_script_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
