"""FILE GRAPH: the lines that a program wrote about its heap against its graph.

    block NAME ADDRESS SIZE VERDICT     NAME: for messages
    edge FROM OFFSET TO INTO            between such blocks: these and no others
    word ADDRESS WORD                   the first word of a block
    root ADDRESS TO CLASS               a root word
    other FROM TO KIND                  encoded, or inside
"""
import os, sys

sys.path.insert(0, os.path.dirname(__file__))
from read_graph import Graph

CLASSES = [None, "globals", "stacks", "registers", "tls", "user", "anon"]
said = [line.split() for line in open(sys.argv[1])]
graph = Graph(sys.argv[2])
number = {block["address"]: i for i, block in enumerate(graph.blocks)}
bad = []
known = set()
for what, *rest in said:
    if what == "block":
        name, address, size, verdict = rest[0], int(rest[1], 16), int(rest[2]), rest[3]
        block = graph.blocks[number[address]] if address in number else {}
        known.add(number.get(address))
        if (block.get("size"), block.get("verdict")) != (size, verdict):
            bad.append("block %s: %s" % (name, block))
wanted = {(number[int(r[0], 16)], int(r[1]), number[int(r[2], 16)], int(r[3])) for w, *r in said if w == "edge"}
found = {edge for edge in graph.edges if edge[0] in known and edge[2] in known}
bad += ["edge %s is not in the graph" % (edge,) for edge in wanted - found]
bad += ["edge %s is in the graph only" % (edge,) for edge in found - wanted]
roots = {(address, to, CLASSES[kind]) for address, to, _, kind in graph.roots}
for what, *rest in said:
    if what == "word":
        block = graph.blocks[number[int(rest[0], 16)]]
        word = int(rest[1], 16)
        if block["points"]:
            _, _, to, into = next(edge for edge in graph.edges if edge[0] == number[block["address"]])
            block["word"] = graph.blocks[to]["address"] + into
        if block["word"] != word:
            bad.append("word %s: %#x" % (rest, block["word"]))
    elif what == "root" and (int(rest[0], 16), number[int(rest[1], 16)], rest[2]) not in roots:
        bad.append("root %s" % rest)
    elif what == "other" and (rest[2], number[int(rest[0], 16)], number[int(rest[1], 16)]) not in graph.others:
        bad.append("other %s" % rest)
print("\n".join(bad) if bad else "%d blocks, %d edges: as the program said" % (len(known), len(wanted)))
sys.exit(bool(bad))
