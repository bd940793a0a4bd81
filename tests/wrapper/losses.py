"""losses.py DOCUMENT - the defects in a document of Valgrind's XML protocol, a line each, sorted.

Kind, bytes and blocks, then of each stack the frames of the program, with the base name of their module.
"""
import sys, xml.etree.ElementTree as ElementTree

lines = []
for error in ElementTree.parse(sys.argv[1]).getroot().iter("error"):
    words = [error.findtext("kind")] + [error.findtext("xwhat/" + n) or "-" for n in ("leakedbytes", "leakedblocks")]
    for stack in error.iter("stack"):
        for frame in stack:
            if frame.findtext("file") and "vgpreload" not in (frame.findtext("obj") or ""):
                name = (frame.findtext("fn") or "?").split("(")[0]
                words += [name, frame.findtext("obj").split("/")[-1], frame.findtext("line")]
    lines.append(" ".join(words))
print("\n".join(sorted(lines)))
