#!/usr/bin/env python3
"""debian_inputs.py FOLDER: writes what types/debian gives to its programs, the same each time."""
import json
import os
import random
import sys

folder = sys.argv[1]
random.seed(1)


def value(depth):
    if depth == 0:
        return random.choice([1, 2.5, f"text{random.randint(0, 999)}", None, True])
    count = random.randint(1, 6)
    if random.random() < .5:
        return [value(depth - 1) for _ in range(count)]
    return {f"key{i}": value(depth - 1) for i in range(count)}


def write(name, text):
    with open(f"{folder}/{name}", "w") as file:
        file.write(text)


write("a.json", json.dumps([value(5) for _ in range(60)]))
write("a.xml", "<root xmlns:a='urn:a'>" + "".join(
    f"<item id='{i}' a:kind='k{i % 7}'><name>name {i}</name><note>some text {i * i}</note></item>\n"
    for i in range(3000)) + "</root>")
write("commands", "".join(
    f"SET s{i} value{i}\nRPUSH l{i % 50} e{i}\nHSET h{i % 40} f{i} v{i}\nZADD z{i % 30} {i} m{i}\n"
    f"SADD t{i % 30} x{i}\n" + (f"XADD st{i % 5} * a {i}\nEXPIRE s{i} 1000\n" if i % 10 == 0 else "") +
    (f'EVAL "return redis.call(\'get\',\'s{i}\')" 0\n' if i % 100 == 0 else "")
    for i in range(1500)) + "SHUTDOWN NOSAVE\n")
write("a.sql", "create table a(id integer primary key, name text, x real);\ncreate index ai on a(name);\nbegin;\n" +
      "".join(f"insert into a values({i},'name {i}',{i}.5);\n" for i in range(3000)) +
      "commit;\ncreate view w as select name, count(*) c from a group by name;\n"
      "select count(*) from a join w using(name) where x > 10;\n.exit\n")
write("a.lua", """local words = {}
for i = 1, 3000 do
    words[i] = {name = "word" .. i, count = i, tags = {i, i + 1}, get = function() return i end}
end
the_words = words
""")
write("hosts.awk", """{ host = $2; sub("\\\\..*", "", host); if ($2 ~ ("^" host "(\\\\.|$)")) seen[host]++ }
END { for (host in seen) count++; print count }
""")
write("hosts", "".join(f"GET host{random.randrange(700)}.example.org {i}\n" for i in range(3000)))
os.makedirs(f"{folder}/ninja", exist_ok=True)
write("ninja/build.ninja", "rule cc\n command = cp $in $out\n description = CC $out\nrule link\n command = cat $in > $out\n" +
      "".join(f"build o{i}: cc s{i} | h{i % 40}\n flags = -O{i % 3}\n" for i in range(800)) +
      "build app: link " + " ".join(f"o{i}" for i in range(800)) + "\ndefault app\n")
for name in [f"s{i}" for i in range(800)] + [f"h{i}" for i in range(40)]:
    write("ninja/" + name, "x")
