/* html_assets.S - includes the style and the script of the HTML page from the files in page/. The
 * script is made of all files in this order, because each file uses functions of those before it.
 */
    .section .rodata
    .global html_style, html_style_end, html_script, html_script_end
html_style:
    .incbin "symbolize/formats/page/page.css"
html_style_end:
html_script:
    .incbin "symbolize/formats/page/data.js"
    .incbin "symbolize/formats/page/select.js"
    .incbin "symbolize/formats/page/list.js"
    .incbin "symbolize/formats/page/record.js"
    .incbin "symbolize/formats/page/tree.js"
    .incbin "symbolize/formats/page/tables.js"
    .incbin "symbolize/formats/page/charts.js"
    .incbin "symbolize/formats/page/heap.js"
    .incbin "symbolize/formats/page/pages.js"
    .incbin "symbolize/formats/page/main.js"
html_script_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
