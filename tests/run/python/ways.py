#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ways in which programs in Python start, share out their work and end. Recorded or not, a program prints the same and
ends with the same status. The report's first cause is the loop that is longer on rank 1.

    ways.py WHYWAIT MPIRUN PYTHON WAY [PROGRAM]     PROGRAM: embedded.c, built
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

WHYWAIT, MPIRUN, PYTHON, WAY = sys.argv[1:5]
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ways")
MOST_RUNS = 3  # a busy machine may be the largest cause
MOST_CRASHES = 3

# ranks, command, status, the markers around the cause (none: nothing is checked), its routine
WAYS = {
    "script": (2, ["late.py"], 0, "late", "relax"),
    "module": (2, [PYTHON, "-m", "mpi4py", "late.py"], 0, "late", "relax"),
    "exit": (2, [PYTHON, "late.py", "exit"], 3, "late", "relax"),
    "raise": (2, [PYTHON, "late.py", "raise"], 1, "late", "relax"),
    "abort": (2, [PYTHON, "-m", "mpi4py", "late.py", "raise"], 1, "late", "relax"),
    "at_once": (2, [PYTHON, "late.py", "at-once"], 5, "late", "relax"),
    "forked": (2, [PYTHON, "forked.py"], 0, "forked", "main"),
    "executor": (3, [PYTHON, "tasks.py", "communicator"], 0, "task", "piece"),
    "pool": (3, [PYTHON, "-m", "mpi4py.futures", "tasks.py", "pool"], 0, "task", "piece"),
    "pool_spawned": (1, [PYTHON, "tasks.py", "pool"], 0, None, None),
    "threads": (2, [PYTHON, "threads.py"], 0, "threads", "piece"),
    "coroutine": (2, [PYTHON, "coroutine.py"], 0, "coroutine", "relax"),
    "interpreters": (2, [PYTHON, "interpreters.py"], 0, "interpreters", "relax"),
    "asleep": (2, [PYTHON, "asleep.py"], 0, "asleep", "nap"),
    "spawned": (1, [PYTHON, "spawned.py"] + ["RECORD", PYTHON, "spawned.py"], 0, "spawned", "relax"),
    "embedded": (2, sys.argv[5:] + ["embedded.py"], 0, "embedded", "relax"),
}
RANKS, COMMAND, STATUS, MARKS, ROUTINE = WAYS[WAY]


def paths(command, record):
    """The words of a command, with the programs of this folder and the recorder in their places."""
    for word in command:
        if word == "RECORD":
            yield from record
        else:
            yield os.path.join(HERE, word) if os.path.exists(os.path.join(HERE, word)) else word


def run(directory, record):
    """Its output, whatever the order of ranks, and its status. Ranks that another one ends may not have printed all, and
    have all come to their end: the launcher need not wait before it kills them."""
    command = [MPIRUN, "-n", str(RANKS)] + record + list(paths(COMMAND, record))
    more = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_odls_base_sigkill_timeout": "0"}
    done = subprocess.run(command, cwd=directory, env=dict(os.environ, **more), capture_output=True, text=True, timeout=120)
    for _ in range(MOST_CRASHES):
        if done.returncode != -11 or "PMIx_server_finalize" not in done.stderr:
            break  # else it is the launcher that crashed, when all had ended
        done = subprocess.run(command, cwd=directory, env=dict(os.environ, **more), capture_output=True, text=True, timeout=120)
    return sorted(done.stdout.split("\n")), done.returncode, done.stderr


def marked_lines():
    """File, first and last line between the markers."""
    for path in glob.glob(os.path.join(HERE, "*.py")):
        lines = [line.strip() for line in open(path)]
        if "#! begin " + MARKS in lines:
            return os.path.basename(path), lines.index("#! begin " + MARKS) + 2, lines.index("#! end " + MARKS)
    sys.exit("no file marks %s" % MARKS)


def wrong_cause(directory):
    """How the first cause differs from what is planted; None = it is that."""
    run_path = sorted(glob.glob(os.path.join(directory, "*-%d-*.whywait" % max(RANKS, 2))))[0]
    report = json.loads(subprocess.run([WHYWAIT, "report", "--format", "json", run_path], capture_output=True, text=True, check=True).stdout)
    file, first, last = marked_lines()
    cause = report["causes"][0]
    holds = (os.path.basename(cause["file"] or "") == file and first <= cause["line_first"] and cause["line_last"] <= last
             and cause["routine"] == ROUTINE and cause["by_rank"][0]["rank"] == 1 and cause["waiting_ns"] * 2 > sum(c["waiting_ns"] for c in report["causes"]))
    return None if holds else "the first cause is %s on ranks %s, not %s:%d-%d" % (cause["name"], cause["ranks"], file, first, last)


def wrong_path(directory):
    """The frames of another interpreter stand inside those of the one that runs it, with the C code between them. The code
    that was made of a text lives as long as that runs, and may be gone before the recorder has read what it is called."""
    folded = subprocess.run([WHYWAIT, "export", "--format", "folded"] + glob.glob(os.path.join(directory, "*.whywait")),
                            capture_output=True, text=True, check=True).stdout.split("\n")
    inside = [line for line in folded if ";relax;" in line]
    right = r"<module>;main;step;run_string;(routine \d+ of _\w+;)*(<module>;)?relax;"
    odd = [line for line in inside if not re.match(right, line)]
    return "call paths are %s" % (odd or folded) if odd or not inside else None


def main():
    bare = run(tempfile.gettempdir(), [])
    if bare[1] != STATUS:
        sys.exit("without the recorder: status %d\n%s" % bare[1:])
    wrong = None
    for _ in range(MOST_RUNS):
        with tempfile.TemporaryDirectory(prefix="whywait-ways-") as directory:
            recorded = run(directory, [WHYWAIT, "record"])
            if recorded[:2] != bare[:2]:
                sys.exit("without the recorder: %s\nwith it: %s\n%s" % (bare[:2], recorded[:2], recorded[2]))
            wrong = wrong_cause(directory) if MARKS else None
            wrong = wrong or (wrong_path(directory) if WAY == "interpreters" else None)
        if not wrong:
            break
        print(wrong)
    sys.exit(bool(wrong))


main()
