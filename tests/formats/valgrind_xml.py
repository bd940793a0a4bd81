"""valgrind_xml.py [NAME FILE...] <DOCUMENT - does it keep to Valgrind's XML protocol 4 for Memcheck?

Written from the protocol's description: which elements there are, in which order, how often, and what
stands in them. The names in the files must be functions of frames.
"""
import re, sys
import xml.etree.ElementTree as ElementTree
from words import all_back, check

INT, HEX, TEXT = r"-?\d+", r"0x[0-9a-fA-F]+", r"(?s).*"
LEAKS = "Leak_DefinitelyLost Leak_IndirectlyLost Leak_PossiblyLost Leak_StillReachable"
KINDS = LEAKS.split() + "InvalidFree MismatchedFree".split()

# Of each element: its children in order, as a regular expression over their names, or its text.
SHAPE = {
    "valgrindoutput": "protocolversion protocoltool preamble pid ppid tool (usercomment )?args "
                      "status ((error|fatal_signal) )*status (error )*errorcounts suppcounts ",
    "preamble": "(line )+",
    "args": "vargv argv ",
    "vargv": "exe (arg )*",
    "argv": "exe (arg )*",
    "status": "state time ",
    "error": "unique tid (threadname )?kind (what|xwhat) stack (auxwhat (stack )?)*",
    "xwhat": "text leakedbytes leakedblocks ",
    "stack": "(frame )+",
    "frame": "ip (obj )?(fn )?(dir )?(file (line )?)?",
    "fatal_signal": "tid (threadname )?signo signame sicode event (siaddr )?stack ",
    "errorcounts": "(pair )*",
    "suppcounts": "(pair )*",
    "pair": "count (unique|name) ",
}
VALUE = {
    "protocolversion": "4", "protocoltool": "memcheck", "tool": "memcheck",
    "pid": INT, "ppid": INT, "tid": r"\d+", "signo": INT, "sicode": INT, "count": INT, "line": INT,
    "state": "RUNNING|FINISHED", "time": r"\d\d:\d\d:\d\d:\d\d\.\d\d\d ?",
    "unique": HEX, "ip": HEX, "siaddr": HEX, "kind": "|".join(KINDS),
    "leakedbytes": r"\d+", "leakedblocks": r"\d+",
}


def walk(element, parent):
    name = element.tag
    if name in SHAPE:
        children = "".join(child.tag + " " for child in element)
        check(re.fullmatch(SHAPE[name], children), name, "has", children)
        check(not (element.text or "").strip(), name, "has text", element.text)
        for child in element:
            walk(child, name)
    else:
        check(len(element) == 0, "unknown element with children:", name)
        value = VALUE.get(name, TEXT) if (parent, name) != ("preamble", "line") else TEXT
        check(re.fullmatch(value, element.text or ""), name, "is", element.text)
    check(not element.attrib, name, "has attributes")


def loss(error):
    """The sentence of a leak says what its numbers say."""
    text = error.findtext("xwhat/text")
    numbers = r"[\d,]+( \([\d,]+ direct, [\d,]+ indirect\))? bytes in [\d,]+ blocks are "
    words = {"Leak_DefinitelyLost": "definitely lost", "Leak_IndirectlyLost": "indirectly lost",
             "Leak_PossiblyLost": "possibly lost", "Leak_StillReachable": "still reachable"}
    wanted = numbers + words[error.findtext("kind")] + r" in loss record [\d,]+ of [\d,]+"
    check(re.fullmatch(wanted, text), "not as Memcheck says it:", text)
    bytes_, blocks = (re.search(p, text)[1].replace(",", "") for p in (r"^([\d,]+)", r" in ([\d,]+)"))
    check(bytes_ == error.findtext("xwhat/leakedbytes"), text)
    check(blocks == error.findtext("xwhat/leakedblocks"), text)


root = ElementTree.fromstring(sys.stdin.buffer.read())
walk(root, "")
check([s.text for s in root.iter("state")] == ["RUNNING", "FINISHED"], "states out of order")
finished = False
for element in root:
    finished |= element.findtext("state") == "FINISHED"
    if element.tag == "error":
        leak = element.findtext("kind").startswith("Leak_")
        check(leak == finished, "leaks come after FINISHED, other errors before it")
        check(leak == (element.find("xwhat") is not None), "leaks and only they have xwhat")
        if leak:
            loss(element)
uniques = [e.findtext("unique") for e in root.iter("error")]
check(len(set(uniques)) == len(uniques), "an error's number is not its own")
check({p.findtext("unique") for p in root.find("errorcounts")} <= set(uniques), "counts of nothing")
all_back({f.text for f in root.iter("fn")}, keep="\t\n\r")
