"""speedscope.py PROFILE JSON [PACKAGE] - the profile has the sums of the JSON report, and speedscope shows them.

PACKAGE: the folder of speedscope's npm package. Its schema takes the profile, and its page, in a headless browser,
lists each profile with its weight.
"""
import base64, json, os, re, sys, tempfile, time
from browser import Browser, find
from words import check

path, package = sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else None
text = open(path, "rb").read()
profile = json.loads(text)
process, = json.load(open(sys.argv[2], encoding="utf-8"))["processes"]
got = {p["name"]: sum(p["weights"]) for p in profile["profiles"]}
leaked = [r for r in process["records"] if r["verdict"] in ("lost", "indirect") and not r["suppressed_by"]]
totals = process["totals"]
wanted = {"leaked bytes": sum(r["bytes"] for r in leaked), "leaked blocks": sum(r["blocks"] for r in leaked),
          "live bytes": totals["live_bytes"], "live blocks": totals["live_blocks"],
          "allocated bytes": totals["bytes_allocated"], "allocated blocks": totals["allocations"]}
check({name: got[name] for name in wanted} == wanted, got, wanted)
check(("peak bytes" in got) == bool(process["peak"]), got)
frames = profile["shared"]["frames"]
for one in profile["profiles"]:
    check(len(one["samples"]) == len(one["weights"]) and one["endValue"] == got[one["name"]], one["name"])
    check(all(0 <= at < len(frames) for sample in one["samples"] for at in sample), "frames of", one["name"])
if not package:
    sys.exit(77)

try:
    import jsonschema
    jsonschema.validate(profile, json.load(open(os.path.join(package, "dist/release/file-format-schema.json"))))
except ImportError:
    pass
if not find():
    sys.exit(77)
with tempfile.NamedTemporaryFile("w", suffix=".js") as script, Browser() as browser:
    script.write("speedscope.loadFileFromBase64(%s, %s)" % (json.dumps(os.path.basename(path)),
                                                            json.dumps(base64.b64encode(text).decode())))
    script.flush()
    page = "file://" + os.path.abspath(os.path.join(package, "dist/release/index.html"))
    browser.call("Page.navigate", url=page + "#localProfilePath=" + script.name)
    for _ in range(100):
        time.sleep(0.2)
        shown = browser.call("Runtime.evaluate", returnByValue=True, expression="""
            JSON.stringify([...document.querySelectorAll("tr[title]")].map(row => [row.title, row.lastChild.innerText]))
            """)["result"]["value"]
        if json.loads(shown):
            break
listed = dict(json.loads(shown))
check(list(listed) == [p["name"] for p in profile["profiles"]], "its list:", listed)
for name, words in listed.items():
    if name.endswith(" blocks"):
        check(words.replace(",", "") == str(got[name]), name, words, got[name])
    else:
        number, unit = re.fullmatch(r"([\d.]+) (B|KB|MB|GB)", words).groups()
        shown = float(number) * 1024 ** ("B", "KB", "MB", "GB").index(unit)
        check(abs(shown - got[name]) <= 0.006 * shown + 0.5, name, words, got[name])
