"""The table of the cost of each format of leakreport."""
import tables

MOST_SECONDS, MOST_MIB = 10, 1024


def reports_tables(rows):
    m = tables.Measured(rows, "reports")
    if not any(m.one(case, "libleak", "cpu") is not None for case in m.cases):
        return []
    count = {what: m.one("-", "-", what) or 0 for what in ("blocks", "records")}
    table = tables.Table("reports", "Reports of {:,.0f} blocks lost at {:,.0f} sites".format(count["blocks"], count["records"]),
                         ["format", "CPU s", "wall s", "peak MiB", "report MB", "within %d s and 1 GB" % MOST_SECONDS],
                         "leakreport --format=FORMAT --top=0, from a recording to a file in memory: reading, names and lines, "
                         "grouping, writing. The minimum of CPU and wall time and the maximum of memory over the rounds. "
                         "The limit applies to CPU time, which other load does not change.")
    for case in m.cases:
        cpu, wall, peak = (f(case, "libleak", q) for f, q in ((m.least, "cpu"), (m.least, "wall"), (m.most, "rss_kb")))
        if cpu is None:
            continue
        within = m.status(case, "libleak") == "ok" and cpu < MOST_SECONDS and peak / 1024 < MOST_MIB
        table.add(case, "%.2f" % cpu, "%.2f" % wall, "%.0f" % (peak / 1024), "%.1f" % (m.most(case, "libleak", "bytes") / 1e6),
                  "yes" if within else "no" if m.status(case, "libleak") == "ok" else "failed")
    machine = tables.machine_table(m)
    machine.name = "reports-machine"
    return [table, machine]
