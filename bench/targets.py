"""The table of targets and measurements. It only informs; a missed target is no error."""
import tables

GEOMETRIC_MEAN = 1.25
HEAPTRACK_TIMES = 2.5
LSAN_SLOW = 1.2
PAIR_NS = 40
SCALING = 0.9
SAMPLE_NS, NO_STACKS_NS = 3, 10
PAIR_CASE = "depth 20, one site"


def of_programs(m, table):
    cases = [c for c in m.cases if m.status(c, "none") == "ok"]
    ratios = {c: m.ratio(c, "libleak", "cpu") for c in cases if m.status(c, "libleak") == "ok"}
    if not ratios:
        return
    table.add("CPU time, geometric mean over %d programs" % len(ratios), "<= %.2f" % GEOMETRIC_MEAN,
              tables.geometric(ratios.values()))
    for peer in ("heaptrack", "heaptrack-all"):
        times = [(m.added(c, peer, "cpu") / m.added(c, "libleak", "cpu"), c) for c in ratios
                 if m.status(c, peer) == "ok" and m.added(c, "libleak", "cpu") > 0]
        if times:
            table.add("CPU time added by %s, against libleak's, minimum over the programs" % peer,
                      ">= %.1fx" % HEAPTRACK_TIMES, "%.1fx (%s)" % min(times))
    lsan = {c: m.ratio(c, "lsan", "cpu") for c in ratios if m.status(c, "lsan") == "ok"}
    if lsan:
        above = ["%s (%.2f, lsan %.2f)" % (c, ratios[c], r) for c, r in lsan.items() if r > LSAN_SLOW and ratios[c] > r]
        table.add("Programs slower than under LeakSanitizer, of those it slows by more than %.1fx" % LSAN_SLOW, "none",
                  ", ".join(above) or "none")
    shares = []
    for case in ratios:
        peak, added = m.one(case, "-", "peak_blocks"), m.added(case, "libleak", "rss_kb")
        counts = [m.one(case, "libleak", q) for q in ("nodes", "sites", "threads")]
        if None not in (peak, added, *counts):
            shares.append((added * 1024 / tables.budget(peak, *counts), case))
    if shares:
        table.add("Peak memory added, of the budget, maximum over the programs", "<= 1", "%.2f (%s)" % max(shares))


def of_pairs(m, table):
    def over(tool):
        value = m.added(PAIR_CASE, tool, "cpu_ns", base="forward")
        return "%.1f ns" % value if value is not None else "-"
    pair, plain = (m.one(PAIR_CASE, t, "cpu_ns") for t in ("libleak", "none"))
    if pair is None:
        return
    table.add("malloc + free, " + PAIR_CASE, "<= %d ns" % PAIR_NS, "%.1f ns (glibc alone %.1f)" % (pair, plain))
    table.add("the same over bare interposition, sample=524288", "<= %d ns" % SAMPLE_NS, over("libleak:sample=524288"))
    table.add("the same over bare interposition, site_stacks=off", "<= %d ns" % NO_STACKS_NS,
              over("libleak:site_stacks=off"))


def of_threads(m, table):
    for words, arrangements, wanted in (("on sites of their own", ("a site each", "1e3 sites each"), SCALING),
                                        ("on one site", ("all on one site",), SCALING)):
        shares = []
        for case in m.cases:
            speedups = [tables.speedup(m, case, t) for t in ("libleak", "none")]
            if case.rpartition(", ")[0].startswith(arrangements) and None not in speedups:
                shares.append((speedups[0] / speedups[1], case))
        if shares:
            table.add("Scaling %s, of what the same threads reach alone, the least" % words, ">= %.1f" % wanted,
                      "%.2f (%s threads)" % min(shares))


def of_growth(m, table):
    shares = []
    for case in m.cases:
        added = tables.held_added(m, case, "libleak")
        counts = [m.one(case, "libleak", q) for q in ("nodes", "sites", "threads")]
        if None not in (added, *counts):
            shares.append((added * 1024 / tables.budget(float(case.split()[0]), *counts), case))
    if shares:
        table.add("Peak memory added, of the budget, maximum over the heaps", "<= 1", "%.2f (%s)" % max(shares))


def targets_table(rows):
    table = tables.Table("targets", "Targets and measurements", ["what", "target", "measured"], words=True)
    for suite, add in (("programs", of_programs), ("pairs", of_pairs), ("threads", of_threads), ("growth", of_growth)):
        m = tables.Measured(rows, suite)
        if m.cases:
            add(m, table)
    return table
