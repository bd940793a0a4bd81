"""The table of what following descriptors, streams and directories costs."""
import tables

MOST_PERCENT = 10

NAMES = {
    "descriptors": "open, close",
    "descriptors-read": "open, read, close",
    "streams": "fopen, fclose",
    "streams-read": "fopen, fgets, fclose",
    "directories": "opendir, closedir",
}


def added(m, case, tool, base):
    value = m.ratio(case, tool, "least_ns", base=base)
    return "%+.1f %%" % (100 * (value - 1)) if value is not None else "-"


def files_tables(rows):
    m = tables.Measured(rows, "files")
    if not m.cases:
        return []
    table = tables.Table("files", "A million files opened and closed, ns each",
                         ["what", "no tool", "again", "track=none", "as shipped", "everything", "added by tracking", "by all of libleak"],
                         "Of 20 batches the best, which others on the machine disturbed least; the median of the rounds. Added by "
                         "tracking: as shipped, over track=none; it may be %d %%. By all of libleak: as shipped, over no tool. "
                         "Streams and directories take a block of memory each, which libleak follows in any case." % MOST_PERCENT)
    for case in m.cases:
        def cell(tool):
            value = m.one(case, tool, "least_ns")
            return "%.0f" % value if value is not None else "-"
        table.add(NAMES.get(case, case), *(cell(t) for t in ("none", "again", "untracked", "libleak", "everything")),
                  added(m, case, "libleak", "untracked"), added(m, case, "libleak", "none"))
    machine = tables.machine_table(m)
    machine.name = "files-machine"
    return [table, machine]
