"""words.py - names given back by a reader of a format, beside the names that went in.

The names are files named on the command line. What include/leak_escape.h does not show stands in every format as its
escape, \\xNN or \\u{NNNN}; the rest must come back as it was.
"""
import sys, unicodedata


def byte(value):
    return "".join("\\x%02x" % b for b in value)


def hidden(c):
    """Unicode's own properties: a control or format character, a separator of lines, or no character at all."""
    return unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cn") or 0xFE00 <= ord(c) <= 0xFE0F


def shown(name, keep=""):
    """What a name becomes; keep: control characters that the format has a form for."""
    text = name.decode("utf-8", "surrogateescape")
    out = ""
    for c in text:
        if 0xDC80 <= ord(c) <= 0xDCFF:
            out += byte([ord(c) - 0xDC00])
        elif c in keep:
            out += c
        elif hidden(c):
            out += byte(c.encode()) if c < "\x80" else "\\u{%x}" % ord(c)
        else:
            out += c
    return out


def names(keep=""):
    """Those of the command line, as they must come back."""
    return [shown(open(path, "rb").read(), keep) for path in sys.argv[1:]]


def check(condition, *words):
    if not condition:
        print(*words)
        sys.exit(1)


def all_back(got, keep=""):
    for name in names(keep):
        check(name in got, "a name did not come back:", ascii(name[:300]), "got:", ascii(got)[:2000])
