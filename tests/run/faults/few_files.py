#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A tool that may open few files at once says the same as usual, or says that these are too few: not that a run is damaged. A run whose
archive it could not make is as it was.

    few_files.py BUILD_DIR
"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

from importlib.machinery import SourceFileLoader

sys.dont_write_bytecode = True
FUZZ = pathlib.Path(__file__).resolve().parents[2] / "fuzz"
unpack = SourceFileLoader("bundle", str(FUZZ / "bundle")).load_module().unpack
ENV = dict({name: value for name, value in os.environ.items() if not name.startswith("WHYWAIT")}, DEBUGINFOD_URLS="", NO_COLOR="1")
FEWEST, MOST = 4, 24  # with fewer its libraries cannot be loaded
WHY, WRONG = "Too many open files", ("damaged", "cut off", "is missing", "no OTF2 archive")


def report(tool, home, most=None):
    limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))) if most else None
    done = subprocess.run([tool, "report", "run.whywait"], cwd=home, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
                          preexec_fn=limit)
    return done.returncode, done.stdout, done.stderr


def attempts(tool, home, base):
    """Lines of what is wrong; the last one is how many were refused."""
    run, usual, n_refused = home / "run.whywait", None, 0
    for most in range(FEWEST, MOST + 1):
        shutil.rmtree(run, ignore_errors=True)
        unpack(FUZZ / "corpus" / "tool" / base, run)
        status, out, said = report(tool, home, most)
        again = report(tool, home)
        usual = usual or again
        if again != usual:
            yield f"{base}, {most} files: the report afterwards is another one: {again}"
        elif status == 1 and (not said or any(WHY not in line for line in said.splitlines())) or status not in (0, 1, 2):
            yield f"{base}, {most} files: status {status}, {said!r}"
        elif status != 1 and out != usual[1] and WHY not in said:
            yield f"{base}, {most} files: another report without a word: {said!r}"
        elif any(word in said + out for word in WRONG):
            yield f"{base}, {most} files: {said!r}\n{out[:800]}"
        n_refused += status == 1
    if not 0 < n_refused <= MOST - FEWEST:
        yield f"{base}: {n_refused} attempts were refused, so this test says nothing"


def main():
    tool = pathlib.Path(sys.argv[1]).resolve() / "bin" / "whywait"
    with tempfile.TemporaryDirectory() as home:
        bad = [text for base in ("archive", "spool") for text in attempts(tool, pathlib.Path(home), base)]
    sys.exit("\n".join(bad) or 0)


main()
