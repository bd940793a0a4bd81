"""Tables of the cost of leak checks: their time, and their effect on the program."""
import statistics

import tables

SHAPES = ["tree", "bush", "list", "data"]
PAUSE_MS, PAUSE_MS_A_GB, CHECK_S_A_MILLION = 10, 55, 0.5


def watchers(m):
    return [t for t in m.tools if t not in ("none", "again")]


def still(case):
    return case.endswith(", 0 threads")


def heap_of(case):
    return case.rpartition(", ")[0]


def blocks_of(case):
    return float(heap_of(case).split()[1])


def times_table(m, cases):
    """The pause of the program, and the time until all blocks have a verdict."""
    table = tables.Table("looks", "Leak checks of libleak on a heap that does not change",
                         ["heap", "resident MB", "pause ms", "limit ms", "check ms", "ms a 1e6 blocks"],
                         "Limit of the pause: %d ms and %d a resident GB. Limit of the check, until all blocks have a verdict: "
                         "%d ms a million blocks of a tree."
                         % (PAUSE_MS, PAUSE_MS_A_GB, CHECK_S_A_MILLION * 1000))
    for case in cases:
        def cell(quantity, form, factor=1):
            value = m.one(case, "libleak", quantity)
            return m.cell(case, "libleak", form, value * factor if value is not None else None)
        resident = m.one(case, "libleak", "rss_mb") or 0
        table.add(heap_of(case), "%.0f" % resident, cell("pause_ms", "%.1f"),
                  "%.1f" % (PAUSE_MS + PAUSE_MS_A_GB * resident / 1000), cell("check_ms", "%.0f"),
                  cell("check_ms", "%.0f", 1e6 / blocks_of(case)))
    return table


def calls_table(m, cases, name, quantity, title, remark):
    columns = watchers(m)
    others = [t for t in columns if t != "libleak"]
    table = tables.Table(name, title, ["heap"] + columns + ["libleak / %s" % t for t in others], remark)
    for case in cases:
        table.add(heap_of(case), *(m.cell(case, t, "%.0f", m.one(case, t, quantity)) for t in columns),
                  *(m.cell(case, t, "%.2f", m.ratio(case, "libleak", quantity, base=t)) for t in others))
    return table


def stalls_table(m, cases):
    table = tables.Table("looks-stalls", "The longest time between two pairs of one thread during a leak check, ms (and of all leak checks)",
                         ["heap, at work"] + m.tools)
    for case in cases:
        table.add(case, *(m.cell(case, t, "%.1f (%.0f)", (m.one(case, t, "stall_ms"), m.most(case, t, "stall_most_ms"))
                                 if m.one(case, t, "stall_ms") is not None else None) for t in m.tools))
    return table


def throughput_table(m, cases):
    """Both numbers are relative to the same round of the program without a tool and without leak checks."""
    table = tables.Table("looks-throughput",
                         "Pairs of malloc and free a second, relative to no tool: without leak checks, and with one after the "
                         "other",
                         ["heap, at work", "plain"] + [t for t in m.tools if t != "none"],
                         "A tenth of a second passes between two leak checks. During one there is one runnable thread "
                         "more than these, unless the tool has stopped them.")
    def share(case, tool, quantity):
        with_ = m.values.get((case, tool, quantity), {})
        without = m.values.get((case, "none", "quiet_pairs"), {})
        shares = [float(v) / float(without[r]) for r, v in with_.items() if r in without]
        return statistics.median(shares) if shares else None
    for case in cases:
        table.add(case, m.cell(case, "none", "%.2f M", (m.one(case, "none", "quiet_pairs") or 0) / 1e6), *(
            m.cell(case, t, "%.2f, %.2f", (share(case, t, "quiet_pairs") or 0, share(case, t, "looked_pairs") or 0))
            for t in m.tools if t != "none"))
    return table


def machine_table(m):
    loads = [float(v) for (_, _, quantity), values in m.values.items() if quantity == "load" for v in values.values()]
    table = tables.machine_table(m)
    table.name = "looks-machine"
    if loads:
        table.add("load meanwhile", "%.1f to %.1f, median %.1f" % (min(loads), max(loads), statistics.median(loads)))
    return table


def looks_tables(rows):
    m, made = tables.Measured(rows, "looks"), []
    m.cases = sorted((c for c in m.cases if c != "-"), key=lambda c: (SHAPES.index(c.split()[0]), blocks_of(c)))
    quiet, busy = [c for c in m.cases if still(c)], [c for c in m.cases if not still(c)]
    if quiet:
        made += [times_table(m, quiet),
                 calls_table(m, quiet, "looks-calls", "call_ms", "The whole call, report included, ms of wall time",
                             "Only with libleak the program goes on meanwhile."),
                 calls_table(m, quiet, "looks-cpu", "cpu_ms", "The same, ms of CPU time",
                             "Of the calling thread and of the process or thread that checks: other load changes it little."),
                 calls_table(m, quiet, "looks-memory", "added_mb", "What leak checks add to the peak of the resident memory, MB",
                             "Of the process that checks, which is a copy with libleak.")]
    if busy:
        made += [stalls_table(m, busy), throughput_table(m, busy)]
    return made + [tables.legend_table(m, "looks-columns"), machine_table(m)] if made else []
