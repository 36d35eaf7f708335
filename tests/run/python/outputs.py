#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a newcomer asks of a recorded script: each command names the script, its lines and loops, not the interpreter.

    outputs.py WHYWAIT MPIRUN PYTHON SOURCE     SOURCE: loop.py beside this file
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

WHYWAIT, MPIRUN, PYTHON, SOURCE = sys.argv[1:]
failures = []


def run(command, directory, status=0):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300)
    if done.returncode != status:
        sys.exit("status %d from %s\n%s%s" % (done.returncode, " ".join(command), done.stdout, done.stderr))
    return done.stdout + (done.stderr if status else "")


def has(text, pattern, what):
    if not re.search(pattern, text, re.M):
        failures.append("%s: no %r in\n%s" % (what, pattern, text[:3000]))


def lacks(text, pattern, what):
    if re.search(pattern, text, re.M):
        failures.append("%s: %r in\n%s" % (what, pattern, text[:3000]))


def lines_of(path):
    """First and last line between the markers of the loop."""
    lines = open(path).read().split("\n")
    return lines.index("    #! begin relax") + 2, lines.index("    #! end relax")


def check_outputs(directory, runs, loop, first):
    report = run([WHYWAIT, "report", runs[0]], directory)
    has(report, r"^app\.py \(python3\.\d+\)   2 ranks", "report")
    has(report, r"^1 %s in relax\(\)" % loop, "report")
    marked = run([WHYWAIT, "annotate", runs[0]], directory)
    lacks(marked, "written to after", "annotate")
    has(marked, r"^ +[\d.]+ m?s \|.* %d  /     for i in range\(n\):$" % first, "annotate")
    folded = run([WHYWAIT, "export", "--format", "folded", runs[0]], directory)
    has(folded, r"^<module>;main;step;relax;%s in relax\(\) \d+$" % loop, "folded")
    routines = run([WHYWAIT, "report", "--routines", runs[0]], directory)
    has(routines, r"^relax\(\) app\.py:\d+ ", "routines")
    compared = run([WHYWAIT, "diff", "--top", "0", runs[0], runs[1]], directory)
    has(compared, r"^  %s in relax\(\) " % loop, "diff")
    has(run([WHYWAIT, "trend"] + runs, directory), r"^  %s in relax\(\) " % loop, "trend")
    has(run([WHYWAIT, "list"], directory), r"app\.py \(python3\.\d+\)", "list")
    run([WHYWAIT, "html", "-o", "page.html", runs[0]], directory)
    has(open(os.path.join(directory, "page.html")).read(), r"<title>[^<]*app\.py \(python3", "page")


def seconds_at(marked, text):
    """The time at the line that contains a text."""
    found = re.search(r"([\d.]+) (us|ms|s) +\d+  [^\n]*" + re.escape(text), marked)
    return float(found.group(1)) * {"us": 1e-6, "ms": 1e-3, "s": 1}[found.group(2)] if found else 0


def check_libraries():
    """The line that calls NumPy has its time."""
    with tempfile.TemporaryDirectory(prefix="whywait-python-") as directory:
        run([MPIRUN, "-n", "2", WHYWAIT, "record", PYTHON, os.path.join(os.path.dirname(SOURCE), "arrays.py")], directory)
        marked = run([WHYWAIT, "annotate"], directory)
        if not seconds_at(marked, "values = np.sqrt") > 5 * seconds_at(marked, "for _ in range(n):"):
            failures.append("annotate: the line that calls NumPy has no time in\n%s" % marked)


def main():
    check_libraries()
    with tempfile.TemporaryDirectory(prefix="whywait-python-") as directory:
        script = os.path.join(directory, "app.py")
        shutil.copy(SOURCE, script)
        for _ in range(2):
            run([MPIRUN, "-n", "2", WHYWAIT, "record", PYTHON, "./app.py"], directory)
        runs = sorted(os.path.basename(path) for path in glob.glob(os.path.join(directory, "app.py-2-*.whywait")))
        if len(runs) != 2:
            sys.exit("runs are %s" % os.listdir(directory))
        first, last = lines_of(script)
        loop = r"loop app\.py:%d-%d" % (first, last)
        check_outputs(directory, runs, loop, first)
        with open(script, "w") as file:
            file.write("# another text\n")
        kept = run([WHYWAIT, "annotate", runs[0]], directory)
        has(kept, r" %d  /     for i in range\(n\):$" % first, "annotate, of a script that has changed")
        has(run([WHYWAIT, "loops", "app.py"], directory, status=1), "annotate", "loops of a script")
        has(run([WHYWAIT, "loops", PYTHON], directory, status=1), "in Python.*annotate", "loops of an interpreter")
    for failure in failures:
        print("FAILED:", failure)
    sys.exit(bool(failures))


main()
