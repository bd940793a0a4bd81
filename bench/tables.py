"""Makes tables from results, one function each.

All values are medians. A ratio is the median of the ratios to the run without a tool of the same round.
"""
import collections, math, statistics


class Table:
    """name: that of its place in the document. words: cells are words, not numbers."""

    def __init__(self, name, title, header, remark="", words=False):
        self.name, self.title, self.header, self.remark, self.words, self.rows = name, title, header, remark, words, []

    def add(self, *cells):
        self.rows.append([str(c) for c in cells])

    def text(self):
        lines = [self.header] + self.rows
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.header))]
        def show(line):
            cells = [c.rjust(w) if i and not self.words else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths))]
            return "  ".join(cells).rstrip()
        return "\n%s\n\n%s\n%s" % (self.title, "\n".join(map(show, lines)), self.remark and self.remark + "\n")

    def markdown(self):
        rule = ["---"] + ["---" if self.words else "---:"] * (len(self.header) - 1)
        lines = ["| %s |" % " | ".join(cells) for cells in [self.header, rule] + self.rows]
        return "**%s**\n\n%s\n%s" % (self.title, "\n".join(lines), self.remark and "\n%s\n" % self.remark)


class Measured:
    """Results by case, tool and quantity."""

    def __init__(self, rows, suite):
        self.cases, self.tools, self.values = [], [], collections.defaultdict(dict)
        self.machine, self.words = {}, {}
        for row_suite, case, tool, round_, quantity, value in rows:
            if row_suite != suite:
                continue
            if quantity.startswith("machine "):
                self.machine[quantity[8:]] = value
            elif quantity == "tool":
                self.words[tool] = value
                if tool not in self.tools: # several files may name it
                    self.tools.append(tool)
            else:
                if case not in self.cases:
                    self.cases.append(case)
                self.values[case, tool, quantity][round_] = value

    def one(self, case, tool, quantity):
        """Returns a median, or None."""
        values = [float(v) for v in self.values.get((case, tool, quantity), {}).values()]
        return statistics.median(values) if values else None

    def least(self, case, tool, quantity):
        values = [float(v) for v in self.values.get((case, tool, quantity), {}).values()]
        return min(values) if values else None

    def most(self, case, tool, quantity):
        values = [float(v) for v in self.values.get((case, tool, quantity), {}).values()]
        return max(values) if values else None

    def against(self, case, tool, quantity, combine, base="none"):
        """Returns the median of combine(with the tool, without) over the rounds that have both; None without such rounds."""
        with_, without = (self.values.get((case, t, quantity), {}) for t in (tool, base))
        values = [combine(float(v), float(without[r])) for r, v in with_.items() if r in without]
        return statistics.median(values) if values else None

    def ratio(self, case, tool, quantity, base="none"):
        return self.against(case, tool, quantity, lambda a, b: a / b if b else math.nan, base)

    def added(self, case, tool, quantity, base="none"):
        return self.against(case, tool, quantity, lambda a, b: a - b, base)

    def status(self, case, tool):
        """Returns ok, "-" (not installed) or crashed."""
        said = set(self.values.get((case, tool, "status"), {}).values())
        return "-" if not said or "missing" in said else "ok" if said == {"ok"} else "crashed"

    def cell(self, case, tool, form, value):
        status = self.status(case, tool)
        return status if status != "ok" else "-" if value is None else form % value


def geometric(values):
    return "%.2f" % math.exp(sum(map(math.log, values)) / len(values)) if values else "-"


# ---- Programs ----------------------------------------------------------------------------------------------

def ratio_table(m, cases, name, title, quantity, plain):
    """Ratios to the run without a tool of the same round; the last rows are means over programs without a crash."""
    columns = [t for t in m.tools if t != "none"]
    table = Table(name, title, ["program", "plain"] + columns)
    ratios = {t: {} for t in columns}
    for tool in columns:
        for case in cases:
            ratio = m.ratio(case, tool, quantity)
            if ratio and m.status(case, tool) == "ok":
                ratios[tool][case] = ratio
    for case in cases:
        table.add(case, m.cell(case, "none", plain, m.one(case, "none", quantity)),
                  *(m.cell(case, t, "%.2f", ratios[t].get(case)) for t in columns))
    table.add("geometric mean", "", *(geometric(ratios[t].values()) for t in columns))
    table.add("worst", "", *("%.2f" % max(ratios[t].values()) if ratios[t] else "-" for t in columns))
    if any(0 < len(ratios[t]) < len(cases) for t in columns):
        for ours in (t for t in columns if t.startswith("libleak")):
            table.add("%s on the same" % ours, "", *(
                geometric([ratio for c, ratio in ratios[ours].items() if c in ratios[t]]) if t != ours else ""
                for t in columns))
    return table


def added_table(m, cases):
    """The cost of one allocation, and that of the other tools as a multiple of it. The last row is the minimum."""
    ours = [t for t in m.tools if t.startswith("libleak")]
    others = [t for t in m.tools if t not in ("none", "again") and t not in ours]
    table = Table("added", "Added CPU time: libleak's, and that of the others as a multiple of it",
                  ["program", "allocations"] + ["%s, %s" % (t, what) for t in ours for what in ("s", "ns each")]
                  + ["%s" % t for t in others])
    multiples = {tool: [] for tool in others}
    for case in cases:
        allocations = m.one(case, "-", "allocations")
        cells = []
        for tool in ours:
            added = m.added(case, tool, "cpu")
            cells.append(m.cell(case, tool, "%.2f", added))
            cells.append("%.0f" % (added / allocations * 1e9) if added is not None and allocations else "-")
        base = m.added(case, ours[0], "cpu") if ours else None
        for tool in others:
            added = m.added(case, tool, "cpu")
            times = added / base if added is not None and base and base > 0 else None
            if times is not None and m.status(case, tool) == "ok":
                multiples[tool].append(times)
            cells.append(m.cell(case, tool, "%.1fx", times and round(times, 1) + 0)) # + 0: no -0.0
        table.add(case, "%.2f M" % (allocations / 1e6) if allocations else "-", *cells)
    table.add("minimum", "", *["" for _ in ours * 2],
              *("%.1fx" % min(multiples[t]) if multiples[t] else "-" for t in others))
    return table


def memory_table(m, cases):
    columns = [t for t in m.tools if t not in ("none", "again")]
    table = Table("memory", "Peak memory of the largest process: MiB without a tool, and added with each (ratio)",
                  ["program", "plain"] + columns)
    for case in cases:
        cells = []
        for tool in columns:
            added, ratio = m.added(case, tool, "rss_kb"), m.ratio(case, tool, "rss_kb")
            cells.append(m.cell(case, tool, "%+.1f (%.2f)", (added / 1024, ratio) if added is not None else None))
        table.add(case, "%.1f" % ((m.one(case, "none", "rss_kb") or 0) / 1024), *cells)
    return table


BLOCK, NODE, SITE, THREAD, FIXED = 36, 24, 64, 128 << 10, 8 << 20


def budget(blocks, nodes, sites, threads):
    """The memory limit of libleak in bytes."""
    return BLOCK * blocks + NODE * nodes + SITE * sites + THREAD * threads + FIXED


def account_table(m, cases, tool):
    table = Table("account" if tool == "libleak" else "account " + tool,
                  "%s: size of the recording, memory and its budget, and the time of leakreport" % tool,
                  ["program", "peak blocks", "nodes", "sites", "added MiB", "budget MiB", "recording MiB", "report s",
                   "report MiB"],
                  "The budget: %d bytes a block, %d a node, %d a site, %d KiB a thread, %d MiB."
                  % (BLOCK, NODE, SITE, THREAD >> 10, FIXED >> 20))
    for case in cases:
        nodes, sites, threads, held = (m.one(case, tool, q) for q in ("nodes", "sites", "threads", "held"))
        peak, added = m.one(case, "-", "peak_blocks"), m.added(case, tool, "rss_kb")
        seconds, size = m.one(case, tool, "report cpu"), m.one(case, tool, "report rss_kb")
        if None in (nodes, peak, added, seconds):
            continue
        table.add(case, "%d" % peak, "%d" % nodes, "%d" % sites, "%.1f" % (added / 1024),
                  "%.1f" % (budget(peak, nodes, sites, threads) / (1 << 20)), "%.1f" % (held / (1 << 20)),
                  "%.2f" % seconds, "%.0f" % (size / 1024))
    return table


def legend_table(m, name):
    table = Table(name, "The columns", ["column", "what it is"], words=True)
    for tool in m.tools:
        table.add(tool, "not installed here" if m.words[tool] == "-" else m.words[tool])
    return table


def programs_tables(rows, suite="programs"):
    m = Measured(rows, suite)
    cases = [c for c in m.cases if m.status(c, "none") == "ok"]
    if not cases:
        return []
    rounds = max(len(m.values[case, "none", "cpu"]) for case in cases)
    made = [ratio_table(m, cases, "cpu", "CPU time, as a ratio to no tool (medians of %d interleaved rounds)" % rounds,
                        "cpu", "%.2f s"),
            added_table(m, cases),
            ratio_table(m, cases, "wall", "Wall time, as a ratio to no tool", "wall", "%.2f s"),
            memory_table(m, cases)]
    made += [account_table(m, cases, t) for t in m.tools if t.startswith("libleak")]
    made += [legend_table(m, "columns"), machine_table(m)]
    for table in made if suite != "programs" else []:
        table.name = "%s %s" % (suite, table.name)
    return made


def machine_table(m):
    table = Table("machine", "The machine", ["what", "is"], words=True)
    for name, value in m.machine.items():
        table.add(name, value)
    return table


# ---- Micro ---------------------------------------------------------------------------------------------------

def nanoseconds_table(m, name, title):
    table = Table(name, title, ["ns of CPU time per malloc + free"] + m.tools)
    for case in m.cases:
        table.add(case, *(m.cell(case, t, "%.1f", m.one(case, t, "cpu_ns")) for t in m.tools))
    return table


def over_forward_table(m, name):
    """The cost of a tool beyond that of bare interposition."""
    ours = [t for t in m.tools if t not in ("none", "again", "forward")]
    table = Table(name, "The same, over bare interposition", ["ns"] + ours)
    for case in m.cases:
        table.add(case, *(m.cell(case, t, "%.1f", m.added(case, t, "cpu_ns", base="forward")) for t in ours))
    return table


def speedup(m, case, tool):
    """For a case named "arrangement, threads": pairs per second relative to one thread with the same tool."""
    arrangement, _, threads = case.rpartition(", ")
    one, many = m.least("%s, 1" % arrangement, tool, "best_ns"), m.least(case, tool, "best_ns")
    return one / many if one and many and threads != "1" else None


def scaling_table(m):
    table = Table("threads", "Pairs per second of all threads together, relative to one thread with the same tool",
                  ["threads"] + m.tools,
                  "The best of all batches, the one with the least disturbance. In brackets: relative to the same "
                  "threads without a tool. There are %s cores."
                  % m.machine.get("cores", "some"))
    for case in m.cases:
        plain = speedup(m, case, "none")
        if plain:
            reached = {t: speedup(m, case, t) for t in m.tools}
            table.add(case, *(m.cell(case, t, "%.2f (%.2f)", reached[t] and (reached[t], reached[t] / plain))
                              for t in m.tools))
    return table


def held_added(m, case, tool):
    """Added memory in KiB: the peak of the resident set minus that without a tool, plus non-resident pages of the recording."""
    added = m.added(case, tool, "peak_kb")
    held, shared = m.one(case, tool, "held"), m.added(case, tool, "shmem_kb")
    if added is None:
        return None
    return added + (max(0, held / 1024 - shared) if held is not None else 0)


def micro_memory_table(m):
    others = [t for t in m.tools if t not in ("none", "again", "forward")]
    table = Table("growth", "Memory added at its peak, MiB (bytes per live block)",
                  ["heap"] + others + ["nodes", "sites", "budget for libleak"])
    for case in m.cases:
        live = float(case.split()[0])
        cells = []
        for tool in others:
            added = held_added(m, case, tool)
            value = None if added is None else (added / 1024, added * 1024 / live) if live > 1e5 else (added / 1024,)
            cells.append(m.cell(case, tool, "%.1f (%.1f)" if live > 1e5 else "%.1f", value))
        nodes, sites, threads = (m.one(case, "libleak", q) for q in ("nodes", "sites", "threads"))
        if nodes is None:
            table.add(case, *cells, "-", "-", "-")
        else:
            table.add(case, *cells, "%d" % nodes, "%d" % sites,
                      "%.1f" % (budget(live, nodes, sites, threads) / (1 << 20)))
    return table


def longest_table(m):
    timed = [c for c in m.cases if m.one(c, "none", "longest_us") is not None]
    table = Table("longest", "The longest single malloc while a heap grows, us: " + "; ".join(timed),
                  ["tool", "longest, CPU", "of all rounds", "1 in 1e5 is longer than", "longest, wall"])
    for case in timed:
        for tool in m.tools:
            table.add(tool, m.cell(case, tool, "%.0f", m.one(case, tool, "longest_us")),
                      m.cell(case, tool, "%.0f", m.most(case, tool, "longest_us")),
                      m.cell(case, tool, "%.1f", m.one(case, tool, "p99999_us")),
                      m.cell(case, tool, "%.0f", m.one(case, tool, "wall_longest_us")))
    return table


def forks_table(m):
    table = Table("forks", "A fork of a process with %s blocks, us" % m.cases[0],
                  ["tool", "parent in fork", "longest", "parent's next malloc", "child's first malloc", "longest",
                   "child from fork to end"])
    for case in m.cases:
        for tool in m.tools:
            table.add(tool, *(m.cell(case, tool, "%.0f", take(case, tool, quantity)) for take, quantity in (
                (m.one, "fork_us"), (m.most, "fork_longest_us"), (m.one, "after_us"), (m.one, "child_us"),
                (m.most, "child_longest_us"), (m.one, "child_all_us"))))
    return table


def events_table(m):
    keepers = [t for t in m.tools if any(m.values.get((c, t, "status")) for c in m.cases)]
    table = Table("events", "Size of the file, MiB", ["events"] + keepers)
    for case in sorted(m.cases, key=lambda c: float(c.split()[0])):
        cells = []
        for tool in keepers:
            kept = m.one(case, tool, "kept")
            cells.append("" if not m.values.get((case, tool, "status")) else
                         m.cell(case, tool, "%.1f", kept / (1 << 20) if kept is not None else None))
        table.add(case, *cells)
    return table


def micro_tables(rows):
    general, made = Measured(rows, "micro"), []
    if not general.tools:
        return []
    for suite, tables in (
            ("pairs", lambda m: [nanoseconds_table(m, "pairs", "Hot pairs: a block is freed at once"),
                                 over_forward_table(m, "pairs-over")]),
            ("live", lambda m: [nanoseconds_table(m, "live", "Random pairs: a random one of the live blocks is freed"),
                                over_forward_table(m, "live-over")]),
            ("threads", lambda m: [scaling_table(m),
                                   nanoseconds_table(m, "threads-ns", "The same: CPU time of a pair")]),
            ("growth", lambda m: [micro_memory_table(m), longest_table(m)]),
            ("forks", lambda m: [forks_table(m)]),
            ("events", lambda m: [events_table(m)])):
        m = Measured(rows, suite)
        m.tools, m.words, m.machine = general.tools, general.words, general.machine
        if m.cases:
            made += tables(m)
    return made + [legend_table(general, "micro-columns"), machine_table(general)]
