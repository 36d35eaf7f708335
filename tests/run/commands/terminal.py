#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a terminal gets, and what files and pipes get: the latter always the same bytes.

    terminal.py BUILD_DIR

Pseudo-terminals stand for terminals, and small commands for pagers.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
BLOCKS = re.compile("[\u2581-\u258f]")
RUN = pathlib.Path(__file__).parents[2] / "unit/trace/data/tau-phases"
CLEAN = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "PAGER", "WHYWAIT_PAGER", "LESS", "LC_ALL", "LANG", "LC_CTYPE")}
UTF8, ASCII = {"TERM": "xterm", "LANG": "C.UTF-8"}, {"TERM": "xterm", "LANG": "C"}
faults = []


def expect(what, ok):
    if not ok:
        faults.append(what)


def on_terminal(words, **environment):
    """(text, exit status) of a command whose output is a terminal of 100 columns."""
    parent, child = pty.openpty()
    subprocess.run(["stty", "cols", "100"], stdin=child, check=False)
    process = subprocess.Popen([str(word) for word in words], stdout=child, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                               env={**CLEAN, **environment})
    os.close(child)
    text, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([parent], [], [], 0.1)[0]:
            try:
                part = os.read(parent, 65536)
            except OSError:
                break
            text += part
            if not part:
                break
    os.close(parent)
    try:
        status = process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        status = "hangs"
    return text.decode().replace("\r\n", "\n"), status


def piped(words, **environment):
    done = subprocess.run([str(word) for word in words], capture_output=True, env={**CLEAN, **environment})
    return done.stdout.decode(), done.returncode


def words_of(text):
    """Without colours, bars and lines of blocks, in any order: beside a bar, names wrap earlier."""
    lines = [line for line in ESCAPE.sub("", text).splitlines() if not re.fullmatch(r" *over the run \|.*\|", line)]
    return sorted(" ".join(BLOCKS.sub("", line).replace("\u2588", "") for line in lines).split())


def main():
    tool = pathlib.Path(sys.argv[1]) / "bin/whywait"
    report = [tool, "report", "--all", "--width", "100", RUN]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="whywait-terminal."))
    plain, status = piped(report, **UTF8)
    expect("a report in a pipe has colours", not ESCAPE.search(plain) and plain.isascii() and status == 0)
    for environment in (ASCII, {"TERM": "dumb"}, {"NO_COLOR": "1"}, {"WHYWAIT_PAGER": "false"}):
        expect(f"what a pipe gets depends on {environment}", piped(report, **environment)[0] == plain)

    coloured, status = on_terminal(report, PAGER="cat", **UTF8)
    expect("no colour on a terminal", ESCAPE.search(coloured) and status == 0)
    expect("no bars on a terminal", BLOCKS.search(coloured) and "over the run |" in coloured)
    expect("a terminal gets other words", words_of(coloured) == words_of(plain))
    none, _ = on_terminal(report, PAGER="cat", NO_COLOR="1", **UTF8)
    expect("NO_COLOR is not heeded", not ESCAPE.search(none) and BLOCKS.search(none))
    never, _ = on_terminal([*report, "--color", "never"], PAGER="cat", **UTF8)
    expect("--color never is another thing than NO_COLOR", never == none)
    dumb, _ = on_terminal(report, PAGER="cat", LANG="C", TERM="dumb")
    expect("colour or blocks on a dumb terminal", not ESCAPE.search(dumb) and dumb.isascii())
    plainest, _ = on_terminal(report, PAGER="cat", **ASCII)
    expect("blocks in a locale without them", plainest.isascii() and ESCAPE.search(plainest) and "#" in plainest)
    always, _ = piped([*report, "--color=always"], NO_COLOR="1", **UTF8)
    expect("--color=always is not heeded in a pipe", always == coloured)
    for view in (["report", "--routines", "--causing"], ["report", "--sites"], ["report", "--ranks"], ["report", "--cause", "1"], ["diff"]):
        words = [tool, *view, "--width", "100", RUN, *([RUN] if view == ["diff"] else [])]
        text, _ = on_terminal(words, PAGER="cat", **UTF8)
        expect(f"{view}: other words on a terminal", words_of(text) == words_of(piped(words)[0]))
    # The lists of runs, and of runs over time: the same rules.
    for name in ("one", "two"):
        shutil.copytree(RUN, folder / f"{name}.whywait")
    for words in ([tool, "list", "--width", "100", folder], [tool, "trend", "--width", "100", RUN, RUN, RUN], [tool, "diff", "--width", "100", RUN, RUN]):
        bare, status = piped(words, **UTF8)
        shown, _ = on_terminal(words, PAGER="cat", **UTF8)
        expect(f"{words[1]}: colour in a pipe, or none on a terminal", status == 0 and not ESCAPE.search(bare) and ESCAPE.search(shown))
        expect(f"{words[1]}: other words on a terminal", words_of(shown) == words_of(bare))
        expect(f"{words[1]}: --color=always is not heeded", ESCAPE.search(piped([*words, "--color=always"], NO_COLOR="1", **UTF8)[0]))
        for environment, option in (({"NO_COLOR": "1"}, []), ({}, ["--color", "never"])):
            expect(f"{words[1]}: {environment} {option} is not heeded", not ESCAPE.search(on_terminal([*words, *option], PAGER="cat", **UTF8, **environment)[0]))
    expect("--color takes anything", piped([*report, "--color", "some"])[1] == 1)

    paged = folder / "paged"
    text, status = on_terminal(report, WHYWAIT_PAGER=f"cat >{paged}", PAGER="false", **UTF8)
    expect("the pager does not get the report", status == 0 and not text and paged.read_text() == coloured)
    paged.unlink()
    text, _ = on_terminal([*report, "--no-pager"], WHYWAIT_PAGER=f"cat >{paged}", **UTF8)
    expect("--no-pager is not heeded", text == coloured and not paged.exists())
    text, _ = on_terminal(report, WHYWAIT_PAGER="", **UTF8)
    expect("an empty pager is not none", text == coloured)
    piped(report, WHYWAIT_PAGER=f"cat >{paged}", **UTF8)
    expect("a pager in a pipe", not paged.exists())
    text, status = on_terminal(report, WHYWAIT_PAGER="head -1", **UTF8)
    expect(f"a pager that is left early: {status}", status != "hangs" and text == coloured.splitlines()[0] + "\n")
    text, status = on_terminal(report, WHYWAIT_PAGER='echo "$LESS"; cat >/dev/null', **UTF8)
    expect(f"less is told {text}", text == "FRX\n" and status == 0)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
