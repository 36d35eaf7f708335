#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How much a view shows: what its help says unless told otherwise, --top N, and with --all or --top 0 everything.

    shown.py BUILD_DIR
"""
import pathlib
import re
import subprocess
import sys

TOOL = pathlib.Path(sys.argv[1]).resolve() / "bin" / "whywait"
ARCHIVE = pathlib.Path(__file__).parents[2] / "unit/trace/data/scorep-phases/traces.otf2"
N_SITES, N_CAUSES = 8, 20
n_failed = 0


def report(*words):
    done = subprocess.run([TOOL, "report", *words], capture_output=True, text=True, timeout=120)
    return done.stdout if done.returncode == 0 else sys.exit(f"{words}: {done}")


def check(good, *what):
    global n_failed
    n_failed += not good
    if not good:
        print("FAILED:", *what)


def rows(text):
    """Numbered ones."""
    return len(re.findall(r"(?m)^\d+ ", text))


def main():
    for words, n in ([], N_SITES), (["--top", "3"], 3), (["--top", "0"], N_SITES), (["--all"], N_SITES):
        text = report("--sites", *words, ARCHIVE)
        check(rows(text) == n and (n == N_SITES) == ("more call" not in text), "sites", words, "shows", rows(text), text)
    for words, n in (["--top", "3"], 3), (["--top", "0"], N_CAUSES), (["--all"], N_CAUSES):
        text = report(*words, ARCHIVE)
        check(rows(text) == n, "causes", words, "shows", rows(text))
    lines = {words: report(*words, ARCHIVE, ARCHIVE).count("\n") for words in ((), ("--top", "1"), ("--top", "0"), ("--all",))}
    check(lines["--top", "1"] < lines[()] < lines["--top", "0"] == lines["--all",], "two runs:", lines)
    return n_failed > 0


sys.exit(main())
