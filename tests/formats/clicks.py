"""clicks.py PAGE JSON CASE - what a reader of the page sees and does, in a real browser; prints what is wrong.

PAGE and JSON are reports of one run of the program "shop" in html.t.
"""
import json, os, sys

from browser import Browser
from page import Page

page, report, case = sys.argv[1], json.load(open(sys.argv[2])), sys.argv[3]
wrong = []


def check(what, good):
    if not good:
        wrong.append(what)


def numbers():
    """The page has what JSON has."""
    found = Page(open(page, encoding="utf-8").read())
    data = json.loads(found.data)
    check("two scripts: the data and ours", found.elements.count("script") == 2)
    for shown, process in zip(data["processes"], report["processes"]):
        check("as many records", len(shown["records"]) == len(process["records"]))
        for one, other in zip(shown["records"], process["records"]):
            check("the record's numbers", (one["s"], data["verdicts"][one["v"]], one["b"], one["n"]) ==
                  (other["signature"], other["verdict"], other["bytes"], other["blocks"]))
            check("its tags", one.get("tg", []) == [[t["name"], t["bytes"], t["blocks"]] for t in other["tags"]])
            frames = [f["function"] for f in other["frames"]][-len(one["f"]):]
            check("its frames", [data["frames"][i][0] for i in one["f"]] == frames)
        check("each record is in one entry", sorted(i for parts in shown["entries"] for i in parts) ==
              list(range(len(shown["records"]))))
        check("some have tags", any("tg" in r for r in shown["records"]))
        check("as many errors", len(shown["errors"]) == len(process["errors"]))


def reading(b):
    check("the program's name", "shop" in b.ask("document.getElementById('name').textContent"))
    check("the sum", "lost" in b.ask("document.getElementById('headline').textContent"))
    check("three entries: the two that are lost, and the hostile one", b.ask("document.querySelectorAll('.entry').length") == 3)
    check("the first is open", b.ask("document.querySelector('.entry button').getAttribute('aria-expanded')") == "true")
    check("its user frame", "price" in b.ask("document.querySelector('tr.user').textContent"))
    check("its source, the line marked", "new Item" in (b.ask("document.querySelector('#source .here').textContent") or ""))
    body = b.ask("document.querySelector('.entry').textContent")
    check("what is under its tags", "Under the tag priced: 128 bytes in 4 blocks." in body and "Under the tag <b>last</b>: 64 bytes in 2 blocks." in body)
    b.click(".entry > button", 0)
    check("it closes", b.ask("document.querySelector('.entry button').getAttribute('aria-expanded')") == "false")
    b.click("[data-verdict=reachable]")
    check("reachable ones on request", b.ask("document.querySelectorAll('.entry.reachable').length") > 0)


def searching(b):
    b.key("/")
    b.type("set_err")
    check("one entry", b.ask("document.querySelectorAll('.entry').length") == 1)
    check("the one that fits", "set_error" in b.ask("document.querySelector('.entry').textContent"))
    b.key("Escape")
    check("all again", b.ask("document.querySelectorAll('.entry').length") == 3)
    b.key("/")
    b.type("no such function")
    check("says so", "No record matches" in b.ask("document.getElementById('page').textContent"))


def zooming(b):
    b.click("[data-tab=flame]")
    count = b.ask("document.querySelectorAll('#flame div').length")
    width = "document.querySelector('#flame [data-name^=set_error]').getBoundingClientRect().width"
    before = b.ask(width)
    b.click("#flame [data-name^=set_error]")
    check("what was clicked is wide", b.ask(width) > 2 * before)
    check("what is beside it is gone", b.ask("document.querySelectorAll('#flame div').length") < count)
    check("a link leads here", "zoom" in b.ask("location.hash") and "flame" in b.ask("location.hash"))
    b.key("Escape")
    check("and back", b.ask("document.querySelectorAll('#flame div').length") == count)
    b.click("[data-tab=tree]")
    closed = b.ask("document.querySelectorAll('.tree summary').length")
    b.click(".tree summary", closed - 1)
    check("the tree opens", b.ask("document.querySelectorAll('.tree details[open]').length") >= 2)


def keys(b):
    b.key("j")
    b.key("j")
    check("the second entry", b.ask("[...document.querySelectorAll('.entry')].findIndex(e => e.classList.contains('at'))") == 1)
    b.key("Enter")
    check("opens", b.ask("document.querySelectorAll('.entry button')[1].getAttribute('aria-expanded')") == "true")
    dark = b.ask("document.documentElement.classList.contains('dark')")
    b.key("d")
    check("dark or light", b.ask("document.documentElement.classList.contains('dark')") != dark)
    for key, page_ in (("2", "#flame"), ("3", ".tree"), ("4", ".plain-table"), ("5", ".stack"), ("6", ".stack"), ("7", "svg"), ("8", "kbd")):
        b.key(key)
        check("page " + key, b.ask("document.querySelectorAll('#page %s').length" % page_) > 0)


def hostile(b):
    text = b.ask("document.body.textContent")
    check("the name stands there as it is", "<img src=x onerror=alert(1)>" in text and "</script>" in text)
    check("and is no element", b.ask("document.querySelectorAll('main img').length") == 0)
    check("nothing was run", b.ask("typeof window.hacked") == "undefined")


def growing(b):
    check("the headline says so", "1 allocation site grew" in b.ask("document.getElementById('headline').textContent"))
    b.click("[data-tab=growing]")
    check("one entry", b.ask("document.querySelectorAll('.entry').length") == 1)
    check("the function, and why", all(words in b.ask("document.querySelector('.entry').textContent") for words in ("remember", "growing", "nothing freed")))
    b.click("[data-tab=charts]")
    points = [tuple(map(float, p.split(","))) for p in b.ask("document.querySelector('#history polyline').getAttribute('points')").split()]
    check("a curve from the left to the right", points[0][0] < 100 and points[-1][0] == 800 and points == sorted(points))
    x, y = (float(b.ask("document.querySelector('#history .peak').getAttribute('c%s')" % c)) for c in "xy")
    check("the peak is its highest point", abs(y - min(p[1] for p in points)) < 3 and any(abs(p[0] - x) < 20 and abs(p[1] - y) < 10 for p in points))
    check("what lived then", "remember" in b.ask("document.querySelector('#page .plain-table').textContent"))


def large(b):
    check("a bounded page", os.path.getsize(page) < 30 << 20)
    b.click("input[data-apart]")
    check("some entries", b.ask("document.querySelectorAll('.entry').length") == 200)
    check("more on request", b.ask("!!document.getElementById('more')"))
    b.click("#more")
    check("more of them", b.ask("document.querySelectorAll('.entry').length") == 400)
    check("the rest as a sum", "not in this page" in b.ask("document.getElementById('page').textContent"))
    for tab in ("flame", "tree", "charts", "leaks"):
        b.click("[data-tab=%s]" % tab)
    print("  %d bytes, %.0f ms until it stood there" % (os.path.getsize(page), b.ask("performance.timing.loadEventEnd - performance.timing.navigationStart")))


if case == "numbers":
    numbers()
else:
    with Browser() as browser:
        browser.open(page)
        globals()[case](browser)
        if len(sys.argv) > 4:
            browser.picture(sys.argv[4])
        for complaint in browser.complaints():
            wrong.append("complaint: " + complaint)
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
