"""page.py [NAME FILE...] <PAGE - is the data one element, is it JSON, and do functions, files and modules come back?"""
import html.parser
import json
import sys
from words import check, names


class Page(html.parser.HTMLParser):
    """The text of the element "data", as any reader of HTML would find it."""

    def __init__(self, text):
        super().__init__()
        self.inside, self.data, self.elements = False, "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.inside = dict(attributes).get("id") == "data"

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, text):
        self.data += text if self.inside else ""


def stack(data, top):
    """The names of its functions, innermost first."""
    found = []
    while top:
        found.append(data["texts"][data["frames"]["fn"][data["stacks"]["frame"][top]]])
        top -= data["stacks"]["up"][top]
    return found


def main():
    page = Page(sys.stdin.buffer.read().decode())
    check(page.elements.count("script") == 2, "scripts:", page.elements)
    check("img" not in page.elements, page.elements)
    data = json.loads(page.data)
    # The data are JSON, and their texts what the page shows.
    for name in names("\n\t"):
        for column in ("fn", "file"):
            got = {data["texts"][text] for text in data["frames"][column]}
            check(any(name in (text or "") for text in got), "a name did not come back:", ascii(name[:300]), ascii(got)[:1000])


if __name__ == "__main__":
    main()
