"""The table of the cost of tracking descriptors, streams and directories."""
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
                         ["what", "no tool", "again", "track=none", "default options", "everything", "added by tracking", "by all of libleak"],
                         "The best of 20 batches, the one with the least disturbance; the median of the rounds. Added by "
                         "tracking: default options, over track=none; the limit is %d %%. By all of libleak: default options, "
                         "over no tool. Streams and directories take a block of memory each, which libleak tracks in any case." % MOST_PERCENT)
    for case in m.cases:
        def cell(tool):
            value = m.one(case, tool, "least_ns")
            return "%.0f" % value if value is not None else "-"
        table.add(NAMES.get(case, case), *(cell(t) for t in ("none", "again", "untracked", "libleak", "everything")),
                  added(m, case, "libleak", "untracked"), added(m, case, "libleak", "none"))
    machine = tables.machine_table(m)
    machine.name = "files-machine"
    return [table, machine]
