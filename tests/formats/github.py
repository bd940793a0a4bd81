"""github.py [--within REPORT] [NAME FILE...] <TEXT - workflow commands, as the documentation says they are read.

A line "::NAME KEY=VALUE,...::MESSAGE", in which %25 %0D %0A stand for % and the ends of lines, and in
values %3A and %2C for : and , as well. No more than ten of a name are shown. With --within every message
stands in that text report, word by word, and begins with its title. The names in the files are paths of annotations.
"""
import re, sys
from words import check, names

COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-zA-Z]+=[^,:\n]*,?)*)::(.+)", re.DOTALL)


def decode(text, codes):
    check(not re.search("%(?!" + "|".join(codes) + ")", text), "% that is no code:", ascii(text[:300]))
    return re.sub("%(..)", lambda m: chr(int(m[1], 16)), text)


def title_of(message):
    """The first line, without the number of blocks that the stack ever allocated."""
    return re.sub(r"in ([\d,]+) of [\d,]+ blocks", lambda m: "in 1 block" if m[1] == "1" else "in %s blocks" % m[1],
                  message.split("\n")[0])


report = None
if sys.argv[1:2] == ["--within"]:
    report = open(sys.argv[2]).read()
    del sys.argv[1:3]
text = sys.stdin.buffer.read().decode()
check(text == "" or text.endswith("\n"), "the last line has no end")
check(not re.search("[\x00-\x09\x0b-\x1f\x7f]", text), "a control character")
counts, files = {}, set()
for line in text.split("\n")[:-1]:
    command = COMMAND.fullmatch(line)
    check(command, "no command:", ascii(line[:300]))
    counts[command[1]] = counts.get(command[1], 0) + 1
    pairs = [pair.split("=", 1) for pair in command[2].split(",") if pair]
    values = {key: decode(value, ["25", "0D", "0A", "3A", "2C"]) for key, value in pairs}
    message = decode(command[3], ["25", "0D", "0A"])
    check(len(values) == len(pairs) and set(values) <= {"file", "line", "col", "title"}, "properties:", values)
    check(values.get("title"), "no title")
    check(("line" in values) <= ("file" in values), "a line of no file")
    check(all(re.fullmatch(r"\d+", values.get(key, "1")) for key in ("line", "col")), "numbers:", values)
    files.add(values.get("file"))
    if report is not None:
        check(message in report and values["title"] in title_of(message), "not as in the report:", values, message)
check(all(count <= 10 for count in counts.values()), "more than the host shows:", counts)
for name in names(keep="\n"):
    check(name in files, "lost:", ascii(name[:300]), ascii(list(files))[:1000])
