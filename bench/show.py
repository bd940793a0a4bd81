"""Prints the tables of a measurement, or writes them into docs/PERFORMANCE.md.

    bench/run tables [--markdown] FILE.tsv...    prints
    bench/run document FILE.tsv...               writes, between the lines <!-- bench NAME --> and <!-- end -->
"""
import os, sys

import file_tables, look_tables, report_tables, runs, tables, targets
from tools import ROOT

DOCUMENT = os.path.join(ROOT, "docs/PERFORMANCE.md")


def all_tables(rows):
    meant = targets.targets_table(rows)
    made = [meant] if meant.rows else []
    for suite in ("programs", "wild", "shapes"):
        made += tables.programs_tables(rows, suite)
    for make in (tables.micro_tables, look_tables.looks_tables, file_tables.files_tables, report_tables.reports_tables):
        made += make(rows)
    return made


def show(rows, markdown):
    for table in all_tables(rows):
        print(table.markdown() if markdown else table.text())


def document(rows):
    """Replaces the tables in the document, and prints the names of tables that have no place in it."""
    with open(DOCUMENT) as file:
        text = file.read()
    for table in all_tables(rows):
        begin, end = "<!-- bench %s -->\n" % table.name, "<!-- end -->"
        before, found, rest = text.partition(begin)
        if found:
            text = before + begin + "\n" + table.markdown() + "\n" + end + rest.partition(end)[2]
        else:
            print("no place for: %s" % table.name)
    with open(DOCUMENT, "w") as file:
        file.write(text)


def main(words):
    rows = [row for path in words[1:] if not path.startswith("--") for row in runs.read(path)]
    if words[0] == "document":
        document(rows)
    else:
        show(rows, "--markdown" in words)


if __name__ == "__main__":
    main(sys.argv[1:])
