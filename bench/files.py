"""bench/run files: the cost of tracking descriptors, streams and directories for a program that opens many.

    --rounds=N        interleaved rounds: every tool once, then every tool again ... (5)
    --files=N         number of opens and closes, one after the other (1000000)
    --only=A,B        of: descriptors, descriptors-read, streams, streams-read, directories (all)
    --tools=A,B       again, untracked, libleak, everything (all)
    --output=FILE     file of the results (build/bench/files.tsv)
    --markdown        print tables in Markdown
"""
import os, sys

import micro, runs, show, tools

CASES = {
    "descriptors": {"kind": 0, "read": 0},
    "descriptors-read": {"kind": 0, "read": 1},
    "streams": {"kind": 1, "read": 0},
    "streams-read": {"kind": 1, "read": 1},
    "directories": {"kind": 2, "read": 0},
}


def columns():
    def libleak(name, words, options):
        return tools.preloaded(name, words, tools.built("libleak.so"), "LIBLEAK_OPTIONS=dir={place}:exit_look=off" + options)
    return [
        tools.NONE, tools.AGAIN,
        libleak("untracked", "libleak.so preloaded, track=none", ":track=none"),
        libleak("libleak", "libleak.so preloaded, default options", ""),
        libleak("everything", "libleak.so preloaded, track=fd,file,dir,mmap,dl,thread", ":track=fd,file,dir,mmap,dl,thread"),
    ]


def main(words):
    chosen, flags = runs.options(words, __doc__, ("--markdown",), rounds="5", files="1000000", only=",".join(CASES),
                                 tools="again,untracked,libleak,everything",
                                 output=os.path.join(tools.BUILD, "bench/files.tsv"))
    names = ["none"] + chosen["tools"].split(",")
    selected = [tool for tool in columns() if tool.name in names and not tool.missing()]
    figures = runs.Figures(chosen["output"], "files")
    for tool in selected:
        figures.add("-", tool.name, 0, "tool", tool.words)
    cases = [(case, "files", dict(CASES[case], files=int(chosen["files"]))) for case in chosen["only"].split(",")]
    micro.measure(figures, cases, selected, int(chosen["rounds"]))
    show.show(figures.rows, "--markdown" in flags)
    print("\nAll single runs: %s" % chosen["output"])


if __name__ == "__main__":
    main(sys.argv[1:])
