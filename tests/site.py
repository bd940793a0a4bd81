#!/usr/bin/python3
"""site.py links SITE - every link of the pages of make site leads somewhere.
site.py run ROOT INSTALLED PAGE.md... - does what the sources of the pages say, as a reader would, in a folder for each page:

  ```console       lines "$ command" run in one bash; the lines below each must be in what it prints, in their order; … stands for
                   anything, also for lines, and white space does not count
  ```LANGUAGE file=NAME    is that file
  ```diff          is applied with patch
  ```sh verified-by=FILE   is run by that script of the project, which must exist
"""
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile


# ---- Links ------------------------------------------------------------------------------------

class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.names.add(value)


def check_links(site):
    pages, bad, count = {}, [], 0
    for folder, _, files in os.walk(site):
        for file in files:
            if file.endswith(".html"):
                path = os.path.join(folder, file)
                pages[path] = Page(open(path, encoding="utf-8").read())
    for path, page in sorted(pages.items()):
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            target, _, name = link.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.exists(to):
                bad.append(f"{os.path.relpath(path, site)}: {link}: there is no such file")
            elif name and to in pages and name not in pages[to].names:
                bad.append(f"{os.path.relpath(path, site)}: {link}: there is no such heading")
    print("\n".join(bad) if bad else f"site: {count} links of {len(pages)} pages lead somewhere")
    return bool(bad)


# ---- Commands ---------------------------------------------------------------------------------

def blocks_of(path):
    """(line, language, {key: value}, text) of each fenced block"""
    block = None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.startswith("```"):
            if block is None:
                words = line[3:].split()
                block = (number, words[0] if words else "", dict(w.split("=", 1) for w in words[1:] if "=" in w), [])
            else:
                yield block[:3] + ("".join(block[3]),)
                block = None
        elif block is not None:
            block[3].append(line)


def pattern_of(lines):
    parts = []
    for line in lines:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
            continue
        words = [".*?".join(re.escape(piece) for piece in word.split("…")) for word in line.split()]
        parts.append(r"[ \t]*" + r"[ \t]+".join(words) + r"[ \t]*\n" if words else r"[ \t]*\n")
    return "".join(parts)


class Shell:
    MARK = "--the-command-has-ended--"

    def __init__(self, folder, environment):
        self.bash = subprocess.Popen(["bash", "--norc", "--noprofile"], cwd=folder, env=environment, text=True, bufsize=1,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")

    def run(self, command):
        self.bash.stdin.write(f"{{ {command}\n}} </dev/null 2>&1; echo; echo {self.MARK}$?\n")
        self.bash.stdin.flush()
        said = []
        for line in self.bash.stdout:
            if line.startswith(self.MARK):
                break
            said.append(line)
        text = "".join(said)
        return text[:-1] if text.endswith("\n\n") or text == "\n" else text

    def end(self):
        self.bash.stdin.write("kill $(jobs -p) 2>/dev/null\nexit\n")
        self.bash.stdin.close()
        self.bash.wait()


def transcript(text):
    """(command, lines that it prints) of a console block"""
    steps = []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            steps[-1][1].append(line)
    return steps


def run_page(root, path, environment):
    folder, commands = tempfile.mkdtemp(prefix="libleak-site-"), 0
    shutil.copy(os.path.join(root, "examples/shelf.c"), folder)
    shell = Shell(folder, environment)
    try:
        for line, language, attributes, text in blocks_of(path):
            place = f"{os.path.relpath(path, root)}:{line}"
            if "file" in attributes:
                open(os.path.join(folder, attributes["file"]), "w").write(text)
            elif "verified-by" in attributes:
                if not os.access(os.path.join(root, attributes["verified-by"]), os.X_OK):
                    return f"{place}: no {attributes['verified-by']}"
            elif language == "diff":
                done = subprocess.run(["patch", "-s", "-p0"], input=text, text=True, cwd=folder, capture_output=True)
                if done.returncode:
                    return f"{place}: patch: {done.stdout}{done.stderr}"
            elif language == "console":
                for command, wanted in transcript(text):
                    commands += 1
                    said = shell.run(command)
                    if not re.fullmatch(pattern_of(wanted) if wanted else r"\s*", said):
                        return f"{place}: $ {command}\n--- printed\n{said}--- the page says\n" + "\n".join(wanted)
            elif language not in ("", "text"):
                return f"{place}: what is to be done with a block of {language or 'nothing'}?"
        print(f"{os.path.relpath(path, root)}: {commands} commands do what the page says")
        return ""
    finally:
        shell.end()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "links":
        return check_links(sys.argv[2])
    if len(sys.argv) < 5 or sys.argv[1] != "run":
        sys.exit(__doc__)
    root, installed = os.path.realpath(sys.argv[2]), os.path.realpath(sys.argv[3])
    own = os.path.join(root, "tests/site")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LIBLEAK", "LD_"))}
    environment.update(PATH=f"{installed}/bin:{own}:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL="C.UTF-8", TERM="dumb")
    failed = [trouble for trouble in (run_page(root, os.path.realpath(page), environment) for page in sys.argv[4:]) if trouble]
    print("\n".join(failed), end="\n" if failed else "")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
