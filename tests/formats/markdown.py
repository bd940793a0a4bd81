"""markdown.py [NAME FILE...] <TEXT - what GitHub's own renderer makes of it: tables, code, folded stacks.

Rendered with cmark-gfm, raw HTML and tables switched on. Nothing but the tags that were meant may come out, and no
attribute; each row has as many cells as its head. The names in the files are files in code, before a line number.
"""
import subprocess, sys
from html.parser import HTMLParser
from words import check, names

TAGS = {"h3", "table", "thead", "tbody", "tr", "th", "td", "code", "details", "summary", "pre", "p"}


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.code, self.cells, self.widths, self.tables = [], [], 0, set(), 0

    def handle_starttag(self, tag, attributes):
        check(tag in TAGS and not attributes, "an unexpected tag:", tag, attributes)
        self.open.append(tag)
        if tag == "tr":
            self.cells = 0
        self.cells += tag in ("td", "th")
        self.tables += tag == "table"
        if tag == "code":
            self.code.append("")

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, "tags cross:", tag)
        if tag == "tr":
            self.widths.add(self.cells)

    def handle_data(self, data):
        if "code" in self.open:
            self.code[-1] += data
        outside = not set(self.open) - {"details"}
        check(not (outside and data.strip()), "text outside of everything:", ascii(data[:300]))

    def handle_comment(self, data):
        check(False, "a comment:", data)


text = sys.stdin.buffer.read()
html = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", "-e", "strikethrough"],
                      input=text, stdout=subprocess.PIPE, check=True).stdout.decode()
reader = Reader()
reader.feed(html)
reader.close()
check(not reader.open, "left open:", reader.open)
check(reader.widths <= {4}, "rows of so many cells:", reader.widths)
check(reader.tables == text.count(b"| | what | where |"), "a table was not understood")
for name in names():
    places = {code.rsplit(":", 1)[0] for code in reader.code}
    check(name in places, "lost:", ascii(name[:300]), ascii(sorted(places))[:1500])
