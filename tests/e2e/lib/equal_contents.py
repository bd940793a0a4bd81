"""SAID GRAPH JSON: the contents of all blocks, as a program said them, compared with each other, against the numbers
and samples in its graph and the answer of leakgraph duplicates --top=0 --json.

    block ADDRESS CONTENT               in hex digits
"""
import json, os, sys

sys.path.insert(0, os.path.dirname(__file__))
from read_graph import Graph


def text_of(content):
    """Its text by the definition: UTF-8 without control characters up to a zero byte, more than half of the block."""
    text, zero, _ = content.partition(b"\0")
    if not zero or 2 * (len(text) + 1) <= len(content) or not text:
        return None
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        return None
    return text if all(c >= " " and c != "\x7f" or c in "\t\n\v\f\r" for c in decoded) else None


said = [line.split() for line in open(sys.argv[1])]
blocks = {int(address, 16): bytes.fromhex(rest[0] if rest else "") for what, address, *rest in said if what == "block"}
graph, answer = Graph(sys.argv[2]), json.load(open(sys.argv[3]))
bad = []
number = {b["address"]: b["content"] for b in graph.blocks}
same = {}
for address, content in blocks.items():
    text = text_of(content)
    same.setdefault(("text", text) if text else ("bytes", content), []).append(address)
for (kind, content), addresses in same.items():
    if len({number[a] for a in addresses}) != 1:
        bad.append("equal, and other numbers: %s" % content)
    if number[addresses[0]] % 2 != (kind == "text") and content:
        bad.append("not %s: %s" % (kind, content))
if len({number[a] for a in blocks}) != len(same):
    bad.append("%d contents, %d numbers" % (len(same), len({number[a] for a in blocks})))
found = {s["address"]: s for s in answer["contents"] if int(s["address"], 16) in blocks}
wasted = {"text": 0, "bytes": 0}
repeated = {k: v for k, v in same.items() if len(v) > 1 and k[1]}
for (kind, content), addresses in repeated.items():
    sizes = [len(blocks[a]) for a in addresses]
    original = min(a for a in addresses if len(blocks[a]) == max(sizes))
    shown = content.decode() if kind == "text" else content.hex()
    wanted = (sum(sizes) - max(sizes), len(addresses), max(sizes), kind)
    one = found.pop("0x%x" % original, {})
    if (one.get("wasted_bytes"), one.get("blocks"), one.get("size"), one.get("kind")) != wanted:
        bad.append("%s: wanted %s, found %s" % (shown, wanted, one))
    elif not shown.startswith(one["content"]) or len(one["content"]) != min(len(shown), 64 if kind == "bytes" else 32):
        bad.append("%s begins with %s" % (shown, one["content"]))
    wasted[kind] += wanted[0]
bad += ["not equal: %s" % s for s in found.values()]
if (answer["wasted_by_texts"], answer["wasted_by_blocks"]) != (wasted["text"], wasted["bytes"]):
    bad.append("wasted %s" % wasted)
if sum(s["wasted_bytes"] for s in answer["sites"]) != answer["wasted_bytes"]:
    bad.append("the sum by site")
print("\n".join(bad) if bad else "%d blocks, %d repeated contents: as compared with each other" % (len(blocks), len(repeated)))
sys.exit(bool(bad))
