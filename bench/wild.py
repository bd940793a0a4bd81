"""bench/run wild: the cost of libleak and other tools for programs that nobody looked at while libleak was made fast.

Programs that are not installed are left out.
"""
import subprocess, sys

import programs
from programs import Program

PYTHON = "/usr/bin/python3"


def script(text, **sizes):
    """An input: the text, in which NAME stands for that size times the scale."""
    def write(out, scale, _dice):
        made = text
        for name, size in sizes.items():
            made = made.replace(name, str(int(size * scale)))
        out.write(made)
    return write


class Python(Program):
    """A script that needs a module."""

    def __init__(self, name, module, text, **sizes):
        super().__init__(name, [PYTHON], [PYTHON, "{%s.py}" % name], {name + ".py": script(text, **sizes)},
                         ["PYTHONHASHSEED=0", "OMP_NUM_THREADS=1"])
        self.module = module

    def missing(self):
        found = subprocess.run([PYTHON, "-c", "import " + self.module], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        return [] if found.returncode == 0 else ["python3-" + self.module]


WILD = [
    Python("torch", "torch", """\
import torch
torch.manual_seed(1); torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
adam = torch.optim.Adam(net.parameters()); x = torch.randn(64, 20); y = torch.randn(64, 1)
for step in range(STEPS):
    adam.zero_grad(); loss = ((net(x) - y) ** 2).mean(); loss.backward(); adam.step()
print("%.4f" % loss.item())
""", STEPS=600),
    Python("pandas", "pandas", """\
import pandas
frame = pandas.DataFrame({"a": range(ROWS), "b": [str(i % 97) for i in range(ROWS)], "c": [i * 0.5 for i in range(ROWS)]})
print(frame.groupby("b").c.mean().sum(), frame.merge(frame.head(2000), on="b").shape, len(frame.to_csv()))
""", ROWS=60000),
    Program("octave", ["octave-cli"], ["octave-cli", "--no-history", "--norc", "{cells.m}"], {"cells.m": script("""\
c = {}; s = struct();
for i = 1:ITEMS
  c{end + 1} = sprintf("%d", i); s.(sprintf("k%d", mod(i, 500))) = c{end};
end
printf("%d %d\\n", numel(c), numel(fieldnames(s)));
""", ITEMS=12000)}),
    Program("R", ["Rscript"], ["Rscript", "--vanilla", "{lists.R}"], {"lists.R": script("""\
set.seed(1); l <- list()
for (i in 1:ITEMS) l[[paste0("k", i %% 3000)]] <- c(i, as.character(i))
d <- data.frame(a = 1:ITEMS, b = sample(letters, ITEMS, TRUE))
cat(length(l), nrow(aggregate(a ~ b, d, sum)), "\\n")
""", ITEMS=60000)}),
    Program("php", ["php"], ["php", "{words.php}"], {"words.php": script("""\
<?php
$h = [];
for ($i = 0; $i < ITEMS; $i++) { $k = "k" . ($i * 7919 % 40000); $h[$k][] = "v$i"; }
ksort($h); echo count($h), " ", strlen(json_encode($h)), "\\n";
""", ITEMS=1500000)}, ["USE_ZEND_ALLOC=0"]),
    Program("ruby", ["ruby"], ["ruby", "{words.rb}"], {"words.rb": script("""\
h = Hash.new { |hash, key| hash[key] = [] }
ITEMS.times { |i| h["k#{i * 7919 % 40000}"] << "value of number #{i} which is long enough for the heap" }
puts "#{h.size} #{h.values.map(&:size).max}"
""", ITEMS=600000)}),
    Program("gs", ["gs"], ["gs", "-q", "-dNODISPLAY", "-dBATCH", "-dNOPAUSE", "{work.ps}"], {"work.ps": script("""\
%!
/d 1000 dict def
0 1 ITEMS { 997 mod d exch dup 20 string cvs cvn exch put } for
d length =
""", ITEMS=1500000)}),
    Program("gawk", ["gawk"], ["gawk", "-f", "{words.awk}"], {"words.awk": script("""\
BEGIN { for (i = 0; i < ITEMS; i++) { k = "k" (i * 7919 % 40000); n[k]++; t[k] = t[k] "x" }
for (k in n) m += length(t[k]); print length(n), m }
""", ITEMS=2000000)}),
    Program("tclsh", ["tclsh"], ["tclsh", "{words.tcl}"], {"words.tcl": script("""\
for {set i 0} {$i < ITEMS} {incr i} { dict lappend d k[expr {$i * 7919 % 4000}] v$i }
puts "[dict size $d] [llength [dict get $d k0]]"
""", ITEMS=600000)}),
    Program("dot", ["dot"], ["dot", "-Tsvg", "-o", "{place}/graph", "{graph.dot}"], {"graph.dot": lambda out, scale, dice: out.write(
        "digraph g {%s}\n" % ";".join("n%d->n%d" % (dice.randrange(i + 1), i + 1) for i in range(int(900 * scale))))},
            output="graph"),
    Program("bash", ["bash"], ["bash", "{words.sh}"], {"words.sh": script("""\
declare -A n
for ((i = 0; i < ITEMS; i++)); do k=k$((i * 7919 % 4000)); n[$k]=$((n[$k] + 1)); done
echo ${#n[@]} ${n[k0]}
""", ITEMS=120000)}),
    Program("lua", ["lua5.4"], ["lua5.4", "{words.lua}"], {"words.lua": script("""\
local h, n = {}, 0
for i = 1, ITEMS do local k = "k" .. (i * 7919 % 40000); h[k] = h[k] or {}; table.insert(h[k], "v" .. i) end
for _ in pairs(h) do n = n + 1 end
print(n, #h.k0)
""", ITEMS=1500000)}),
]


if __name__ == "__main__":
    programs.main(sys.argv[1:], __doc__, WILD, "wild")
