"""clicks.py PAGE JSON CASE[,CASE...] - what a reader of the page sees and does, in a real browser; prints what is wrong.

PAGE and JSON are reports of one run of the program "shop" in html.t. The browser is Chromium; BROWSER=firefox
takes Firefox.
"""
import json, os, sys

if os.environ.get("BROWSER") == "firefox":
    from firefox import Browser
else:
    from browser import Browser
from page import Page, stack

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
            names = stack(data, one["f"])
            functions = [f["function"] for f in other["frames"]][-len(names):]
            check("its frames", names and all(f is None or f == name for f, name in zip(functions, names)))
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


def nameless(b):
    text = "document.querySelector('%s').textContent"
    check("no source beside the card", b.ask("document.getElementById('source').hidden"))
    check("an address names its module once", b.ask(text % "tr.user").count("bare") == 1)
    check("and in the head of the card", b.ask(text % ".entry .where").count("bare") == 1)
    b.click("tr.user")
    check("why there is no source", "No line is known in bare: build with -g" in b.ask(text % "#source"))
    check("nothing of a file", "file" not in b.ask(text % "#source"))


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
    rows = b.ask("document.querySelectorAll('.tree [role=treeitem]').length")
    b.click(".tree [aria-expanded=false]")
    check("the tree opens", b.ask("document.querySelectorAll('.tree [role=treeitem]').length") > rows)
    b.click(".tree [aria-expanded=true]")
    check("and closes", b.ask("document.querySelectorAll('.tree [role=treeitem]').length") == 1)


def keys(b):
    b.key("j")
    b.key("j")
    check("the second entry", b.ask("[...document.querySelectorAll('.entry')].findIndex(e => e.classList.contains('at'))") == 1)
    b.key("Enter")
    check("opens", b.ask("document.querySelectorAll('.entry button')[1].getAttribute('aria-expanded')") == "true")
    dark = b.ask("document.documentElement.classList.contains('dark')")
    b.key("d")
    check("dark or light", b.ask("document.documentElement.classList.contains('dark')") != dark)
    check("the button says what it changes to", b.ask("document.getElementById('dark').textContent") == ("dark" if dark else "light"))
    for key, page_ in (("2", "#flame"), ("3", ".tree"), ("4", ".big-table .row"), ("5", "[role=table]"), ("6", ".big-table .row"), ("7", ".stack"), ("8", ".stack"), ("9", "svg")):
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
    width = float(b.ask("document.querySelector('#history').dataset.width"))
    points = [tuple(map(float, p.split(","))) for p in b.ask("document.querySelector('#history polyline').getAttribute('points')").split()]
    check("a curve from the left to the right", points[0][0] < 100 and points[-1][0] > 0.9 * width and points == sorted(points))
    x, y = (float(b.ask("document.querySelector('#history .peak').getAttribute('c%s')" % c)) for c in "xy")
    check("the peak is its highest point", abs(y - min(p[1] for p in points)) < 3 and any(abs(p[0] - x) < 20 and abs(p[1] - y) < 10 for p in points))
    check("what lived then", "remember" in b.ask("document.querySelector('#page .plain-table').textContent"))
    b.click("[data-tab=flame]")
    choose(b, "weight", "peak")
    check("all of it in the graph", b.ask("treeRoot().value") == sum(site["bytes"] for site in report["processes"][0]["peak"]["parts"]))


def choose(b, choice, value):
    b.ask("(() => { const box = document.getElementById(%s); if (box.type === 'checkbox') box.checked = %s; else box.value = %s; box.dispatchEvent(new Event('change')) })()"
          % (json.dumps(choice), json.dumps(value), json.dumps(value)))


def tree_rows(b):
    """[(depth, amount, function)] of what the call tree shows."""
    return [tuple(row) for row in b.ask("[...document.querySelectorAll('.tree [role=treeitem]')].map(row => [Number(row.ariaLevel),"
                                        " row.querySelector('b').textContent, row.querySelector('.call').childNodes[1].textContent.trim()])")]


def weighing(b):
    """What the program in html.t allocates, seen from both ends and in each weight."""
    def row(depth, amount, name):
        check("%s %s at depth %d, in %s" % (amount, name, depth, tree_rows(b)), (depth, amount, name) in tree_rows(b))

    b.click("[data-tab=tree]")
    row(1, "1.6 kB", "main")
    row(2, "1.2 kB", "walk")
    row(2, "400 bytes", "direct")
    choose(b, "fold", True)
    b.click(".tree [aria-level='2']")
    row(2, "1.2 kB", "walk")
    row(3, "1.2 kB", "keep")
    check("walk is there once", [name for _, _, name in tree_rows(b)].count("walk") == 1)
    choose(b, "from", "allocation")
    row(1, "1.6 kB", "keep")
    row(2, "1.2 kB", "walk")
    row(2, "400 bytes", "direct")
    choose(b, "fold", False)
    choose(b, "metric", "blocks")
    row(1, "4 blocks", "keep")
    choose(b, "metric", "bytes")
    choose(b, "weight", "allocated")
    row(1, "50 kB", "scratch")
    row(1, "1.6 kB", "keep")
    check("the address says it", all(word in b.ask("location.hash") for word in ("what=allocated", "from=allocation", "tab=tree")))
    b.click("[data-tab=flame]")
    check("the allocator is below all", b.ask("document.querySelector('#flame [data-name=scratch]').offsetTop") == 20)
    choose(b, "flip", True)
    top = "document.querySelector('#flame [data-name=%s]').offsetTop"
    check("the root is below", b.ask(top % "all") > b.ask(top % "scratch") > b.ask(top % "main"))


def narrow(b):
    """On a phone nothing is wider than the screen, whatever a link leads to."""
    b.resize(400, 800)
    for tab in b.ask("[...document.querySelectorAll('[data-tab]')].map(tab => tab.dataset.tab)"):
        for more in ("", "&sums=thread", "&what=allocated&from=allocation", "&fn=walk"):
            b.ask("new Promise(done => { addEventListener('hashchange', () => setTimeout(done), { once: true }); location.hash = %s; })" % json.dumps("tab=" + tab + more))
            check("%s is wider than a phone" % (tab + more), b.ask("document.documentElement.scrollWidth") <= 400)
            check("the link leads to %s" % tab, b.ask("document.querySelector('[aria-selected=true]').dataset.tab") == tab)
    check("a function by its link", b.ask("(() => { location.hash = 'tab=functions&fn=direct'; readHash(); draw(); return document.querySelector('#chosen h3').textContent })()") == "direct")


def brushing(b):
    """Two functions lose blocks, one at the beginning and one at the end of a second."""
    check("both", listed_entries(b) == 2)
    b.click("[data-tab=charts]")
    check("axes", all(any(unit in text for text in b.ask("[...document.querySelectorAll('#history text')].map(e => e.textContent)")) for unit in ("kB", " s")))
    b.drag("#history", 0.01, 0.4)
    check("the address says it", "time=" in b.ask("location.hash"))
    b.click("[data-tab=leaks]")
    check("what was lost early", listed_entries(b) == 1 and "early" in b.ask("document.querySelector('.entry').textContent"))
    b.click("[data-tab=table]")
    check("in the table, too", [row[4] for row in rows(b)] == ["early"])
    b.click("[data-tab=tree]")
    check("and in the tree", [name for _, _, name in tree_rows(b)] == ["main", "early"])
    b.click("#time")
    check("all again", {name for _, _, name in tree_rows(b)} == {"main", "early", "late"})
    b.click("[data-tab=charts]")
    choose(b, "from", "0.8")
    b.click("[data-tab=leaks]")
    check("what was lost late", listed_entries(b) == 1 and "late" in b.ask("document.querySelector('.entry').textContent"))


def changes(b):
    """Two runs: "added" is new, "more" has grown, "gone" is fixed, "same" is what it was."""
    diff = json.load(open(sys.argv[2]))
    check("the sums", all("%d %s" % (diff["summary"][change], change) in b.ask("document.getElementById('headline').textContent") for change in ("new", "grown", "fixed", "unchanged")))
    texts = b.ask("[...document.querySelectorAll('.entry > button')].map(e => e.textContent)")
    check("what is new, grown and fixed, in this order: %s" % texts, len(texts) == 3 and texts[0].startswith("+700 bytes new") and "added" in texts[0] and
          texts[1].startswith("+300 bytes grown  500 bytes in 5 blocks lost, before 200 bytes in 2 blocks") and "more" in texts[1] and
          texts[2].startswith("−4.0 kB fixed  was 4.0 kB in 1 block lost") and "gone" in texts[2])
    b.click("[data-verdict=unchanged]")
    check("the rest on request", listed_entries(b) == 4)
    b.click("[data-verdict=unchanged]")
    b.click("[data-tab=table]")
    check("before and after: %s" % rows(b), [(row[0], row[2], row[3], row[4], row[5]) for row in rows(b)] ==
          [("−4.0 kB", "4.0 kB", "0 bytes", "fixed", "gone"), ("+700 bytes", "0 bytes", "700 bytes", "new", "added"), ("+300 bytes", "200 bytes", "500 bytes", "grown", "more")])
    b.click("[data-tab=flame]")
    colour = lambda name: [int(part) for part in b.ask("getComputedStyle(document.querySelector('#flame [data-name=%s]')).backgroundColor" % name)[4:-1].split(",")]
    check("more is red", all(colour(name)[0] > colour(name)[1] + 40 for name in ("added", "more")))
    check("less is green", colour("gone")[1] > colour("gone")[0] + 40)
    check("main is the sum", "−3,000 bytes" in b.ask("document.querySelector('#flame [data-name=main]').title") or "−3.0 kB" in b.ask("document.querySelector('#flame [data-name=main]').title"))


def rows(b):
    """The texts of the cells of a big table."""
    return b.ask("[...document.querySelectorAll('.big-table .row:not(.head)')].map(row => [...row.children].map(cell => cell.textContent))")


def tables(b):
    """The same program's records in order, in sums, and by function."""
    b.click("[data-tab=table]")
    check("a row for each lost record: %s" % rows(b), len(rows(b)) == b.ask("fittingRecords().length") and rows(b)[0][3:5] == ["lost", "keep"])
    for times, direction in ((1, -1), (2, 1)):
        b.click("[data-sort='1']")
        blocks = [int(row[1]) for row in rows(b)]
        check("sorted by blocks: %s" % blocks, len(set(blocks)) > 1 and blocks == sorted(blocks, reverse=direction < 0))
    check("the address says it", "sort=1" in b.ask("location.hash"))
    b.click(".big-table .row[tabindex] > .number")
    check("a row unfolds", b.ask("document.querySelectorAll('.big-table .detail .stack').length") == 1)
    b.click(".big-table .row[tabindex] > .number")
    check("and folds", b.ask("document.querySelectorAll('.big-table .detail').length") == 0)
    choose(b, "group", "thread")
    check("one thread has it all: %s" % rows(b), [row[:3] for row in rows(b)] == [["1.6 kB", "4", "100.0 %"]] and rows(b)[0][4].startswith("T1"))
    choose(b, "group", "size")
    check("and one size", [row[4] for row in rows(b)] == ["256 to 511 bytes"])

    b.click("[data-tab=functions]")
    found = {row[2]: row[:2] for row in rows(b)}
    check("what each allocates: %s" % found, found["main"] == ["1.6 kB  100.0 %", "0 bytes"] and found["keep"] == ["1.6 kB  100.0 %", "1.6 kB"] and
          found["walk"] == ["1.2 kB  75.0 %", "0 bytes"])
    b.ask("[...document.querySelectorAll('.big-table .row')].find(row => row.textContent.includes('keep')).click()")
    buttons = "[...document.querySelectorAll('#%s button')].map(button => button.textContent)"
    check("its callers: %s" % b.ask(buttons % "callers"), b.ask(buttons % "callers") == ["1.2 kB  75.0 % walk", "400 bytes  25.0 % direct"])
    b.click("#callers button")
    check("walk is chosen", "fn=walk" in b.ask("location.hash") and b.ask("document.querySelector('#chosen h3').textContent") == "walk")
    check("it calls keep, and not itself", b.ask(buttons % "callees") == ["1.2 kB  75.0 % keep"])
    check("its caller is main", b.ask(buttons % "callers") == ["1.2 kB  75.0 % main"])


ELEMENTS_MOST = 3000 # of a page, whatever the report


def elements(b):
    return b.ask("document.getElementsByTagName('*').length")


def timed(b, words, action):
    """Prints how long an action takes until it is laid out; its result must be a small page."""
    took = b.ask("(() => { const begin = performance.now(); %s; document.body.offsetHeight; return performance.now() - begin })()" % action)
    check("%s: only what is seen is drawn, not %d elements" % (words, elements(b)), elements(b) < ELEMENTS_MOST)
    print("  %-24s %5.0f ms, %4d elements" % (words, took, elements(b)))


def search(b, text):
    timed(b, "search " + text, "const box = document.getElementById('search'); box.value = %s; box.dispatchEvent(new Event('input'))" % json.dumps(text))


def listed_entries(b):
    return int(b.ask("document.getElementById('count').textContent").split()[0].replace(",", ""))


def large(b):
    data = json.loads(Page(open(page, encoding="utf-8").read()).data)
    records = data["processes"][0]["records"]
    names = [set(stack(data, record["f"])) for record in records]
    check("every record", len(records) == 100000)
    check("a million frames", sum(map(len, names)) > 1000000)
    check("a small page", os.path.getsize(page) < 20 << 20)
    print("  %d bytes, %.0f ms until it stood there" % (os.path.getsize(page), b.ask("performance.timing.loadEventEnd - performance.timing.navigationStart")))
    for tab in b.ask("[...document.querySelectorAll('[data-tab]')].map(tab => tab.dataset.tab)"):
        timed(b, "tab " + tab, "document.querySelector('[data-tab=%s]').click()" % tab)

    timed(b, "tab leaks again", "document.querySelector('[data-tab=leaks]').click()")
    b.click("[data-apart]")
    check("each record by itself", listed_entries(b) == 100000)
    timed(b, "scroll to the end", "scrollTo(0, document.body.scrollHeight); document.dispatchEvent(new Event('scroll', { bubbles: true }))")
    last = "[...document.querySelectorAll('.entry')].map(e => e.row).sort((a, b) => b - a)[0]"
    for _ in range(20): # heights are known when rows are drawn
        b.ask("new Promise(done => { scrollTo(0, document.body.scrollHeight); requestAnimationFrame(() => requestAnimationFrame(done)) })")
    check("the last record is drawn", b.ask(last) == 99999)
    check("and few others", elements(b) < ELEMENTS_MOST)

    wanted = "level_3_step_7"
    search(b, wanted)
    check("what has the function is found", listed_entries(b) == sum(wanted in each for each in names))
    check("it is in what is drawn", b.ask("(() => { document.querySelector('.entry > button').click(); return document.querySelector('.entry .stack').textContent })()").count(wanted) == 1)
    search(b, records[4711]["s"])
    check("one record by its signature", listed_entries(b) == 1)
    search(b, "no such function")
    check("says so", "No record matches" in b.ask("document.getElementById('page').textContent"))
    search(b, "")

    for tab in ("flame", "tree"):
        b.click("[data-tab=%s]" % tab)
        for what in ("allocated", "leaked"):
            for start in ("allocation", "main"):
                timed(b, "%s, %s, from %s" % (tab, what, start), "state.weight = '%s'; state.from = '%s'; draw()" % (what, start))
    timed(b, "merge recursion", "state.fold = '1'; draw()")
    check("as many bytes either way", b.ask("(() => { state.from = 'allocation'; draw(); const got = treeRoot().value; state.from = 'main'; draw(); return got })()") == b.ask("treeRoot().value"))

    b.click("[data-tab=tree]")
    below_main = b.ask("[...document.querySelectorAll('.tree [aria-level=\"2\"] .call')].map(e => e.textContent)")
    check("30 functions below main", len(below_main) == 30 and all("level_0_step_" in text for text in below_main))
    check("with all bytes", b.ask("treeRoot().value") == sum(record["b"] for record in records))


def bounded(b):
    text = b.ask("document.getElementById('page').textContent")
    check("the rest as a sum", "In other records, not in this page: " in text and "500 records" in text)
    check("the others are there", b.ask("data.processes[0].records.length") == 100000)


def heap(b):
    """The heap in a page of leakgraph or leakreport, of the program in graph.t: a cache that holds all but a few blocks."""
    check("not parsed before it is shown", b.ask("document.getElementById('graph').textContent.length") > 1000 or b.ask("state.tab") == "heap")
    b.click("[data-tab=heap]")
    data = json.loads(b.ask("JSON.stringify((({ below, index, ...graph }) => graph)(heap()))"))
    check("the numbers of leakgraph", all(data[key] == report[key] for key in data))
    chosen = "document.querySelector('#chosen h3').textContent"
    texts = "[...document.querySelectorAll('#%s button, #%s .root')].map(e => e.textContent)"
    box = "(e => [e.offsetWidth, e.offsetHeight])(document.querySelector('#map%s'))"
    width, height = b.ask(box % "")
    wide, high = b.ask(box % " > button")
    check("areas are shares", abs(wide * high / (width * height) - report["retained"][0] / report["bytes"]) < 0.02)
    check("rectangles in rectangles", b.ask("document.querySelectorAll('#map > button').length") > 60)
    check("lost ones are marked", b.ask("document.querySelectorAll('#map > .lost').length") > 0)

    b.click("#map > button") # in the middle of it is another block: the one that it holds
    b.ask("chooseBlock(0)")
    check("the cache", b.ask(chosen) == "struct cache")
    check("its root", any(text == "root: the_cache" or "the_cache" in text for text in b.ask(texts % ("held-by", "held-by"))))
    check("what it holds", [text.split()[0] for text in b.ask(texts % ("holds", "holds"))] == ["buckets"])
    check("the link", "node=0x%x" % report["address"][0] in b.ask("location.hash"))
    b.click("#holds button")
    check("its buckets", b.ask(chosen) == "struct entry *[64]")
    check("who points there", [text.split()[0] for text in b.ask(texts % ("held-by", "held-by"))] == ["buckets"])
    check("how one got there", b.ask("[...document.querySelectorAll('#crumbs button')].map(e => e.textContent.split(' ').slice(0, 2).join(' '))") == ["all 81", "struct cache", "struct entry"])
    check("as many as leakgraph has", b.ask("document.querySelectorAll('#holds button').length") == 40 and "24 more pointers" in b.ask("document.getElementById('holds').textContent"))

    first = b.ask("document.activeElement.dataset.block")
    b.key("ArrowDown")
    second = b.ask("document.activeElement.dataset.block")
    check("an arrow goes to another block", first is not None and second not in (None, first))
    b.key("Enter")
    check("Enter opens it", b.ask("heapChosen()") == int(second))
    b.ask("document.querySelector('#map button, #crumbs button').focus()")
    b.key("Escape")
    check("Escape shows all", b.ask("document.getElementById('chosen')") is None)
    b.ask("location.hash = '#tab=heap&node=0x%x'" % report["address"][1])
    b.ask("new Promise(done => setTimeout(done, 100))")
    check("a link leads to its block", b.ask(chosen) == "struct entry *[64]")
    b.ask("location.hash = '#tab=heap&node=0x10'")
    b.ask("new Promise(done => setTimeout(done, 100))")
    check("one to nothing shows all", b.ask("document.getElementById('chosen')") is None)
    b.key("/")
    b.type("struct pair")
    check("searched", b.ask("[...document.querySelectorAll('.big-table .row:not(.head)')].every(e => e.textContent.includes('struct pair'))"))
    b.key("Escape")
    for size in (1280, 800, 400):
        b.resize(size, 900)
        for block in (-1, 0):
            b.ask("chooseBlock(%d)" % block)
            check("nothing is wider than %d" % size, b.ask("document.documentElement.scrollWidth") <= size)
    check("no name of a program is markup", b.ask("document.querySelectorAll('img').length") == 0)


if case == "numbers":
    numbers()
else:
    with Browser() as browser:
        for name in case.split(","):
            browser.open(page)
            globals()[name](browser)
        if len(sys.argv) > 4:
            browser.picture(sys.argv[4])
        for complaint in browser.complaints():
            wrong.append("complaint: " + complaint)
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
