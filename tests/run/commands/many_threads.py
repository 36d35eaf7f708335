#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of very many threads.

All at the same time: the archive is left to the report, which the closing line says, and the report makes it.
One after the other: they share files, so that the archive is made at once and all calls are in it.
More than there is room for: whoever is told something is told that calls are missing, and how many.
Threads that compute beside the main thread, each for a moment: the rank has more busy threads than CPUs.
A thread that computes while the main thread sleeps, and the other way round: one is busy at once.

    many_threads.py BUILD_DIR
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
BUILD = pathlib.Path(sys.argv[1]).resolve()
TOOL = BUILD / "bin" / "whywait"


class Run:
    """Recorded and reported: the closing line, the report, the calls that are in it."""

    def __init__(self, options, *arguments):
        with tempfile.TemporaryDirectory() as cwd:
            command = [shutil.which("mpirun.openmpi") or "mpirun", "-n", "1", TOOL, "record", *options, BUILD / "bin" / "many_threads", *arguments]
            done = subprocess.run(command, cwd=cwd, env=ENV, capture_output=True, text=True, timeout=120)
            check(done.returncode == 0, "recording", done.stderr)
            self.said = done.stderr
            self.n_files = len(list(pathlib.Path(cwd).rglob("traces/*.evt")))
            self.report = self.ask(cwd)
            self.calls = sum(routine["calls"] for routine in self.ask(cwd, "--routines")["routines"] if routine["routine"] == "MPI_Sendrecv")

    @staticmethod
    def ask(cwd, *options):
        done = subprocess.run([TOOL, "report", *options, "--format", "json"], cwd=cwd, env=ENV, capture_output=True, text=True, timeout=120)
        check(done.returncode in (0, 2) and done.stdout, "report", done.stderr)
        return json.loads(done.stdout)


def check(good, what, *details):
    if not good:
        sys.exit("\n".join([what, *map(str, details)]))


def main():
    run = Run([], "1100", "together")
    check("`whywait report` will convert it" in run.said and run.n_files == 0 and run.calls == 1100, "together", run.said, run.n_files, run.calls)
    run = Run([], "1100")
    check("nothing lost" in run.said and 1 <= run.n_files <= 100 and run.calls == 1100, "one after the other", run.said, run.n_files, run.calls)
    run = Run(["--limit", "4m"], "200", "together")
    lost = re.search(r"([0-9,]+) RECORDS LOST", run.said)
    check(lost and run.report["lost"] > 0 and run.calls + run.report["lost"] >= 200, "no room", run.said, run.report["lost"], run.calls)
    run = Run([], "40", "compute")
    host = run.report["machine"]["hosts"][0]
    check(host["busy_threads"] == 2 and host["large_teams"] == [0], "busy for a moment", host)
    run = Run([], "20", "turns")
    host = run.report["machine"]["hosts"][0]
    check(host["busy_threads"] == 1 and not host["large_teams"], "in turns", host)


main()
