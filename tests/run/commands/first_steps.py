#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Slips of a first day: each is answered by what is wrong, where, and what to do. No view is empty without a word.

    first_steps.py BUILD_DIR
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
LONE = "#include <mpi.h>\nint main(int argc, char **argv) { MPI_Init(&argc, &argv); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }\n"
n_failed = 0


def check(is_right, text, said=""):
    global n_failed
    n_failed += not is_right
    if not is_right:
        print(f"FAILED: {text}\n{said}")


class Day:
    def __init__(self, build, home):
        self.tool, self.home, self.known = build / "bin/whywait", home, build / "tests/run/known"
        self.mpirun = shutil.which("mpirun.openmpi") or "mpirun"

    def run(self, *words, launcher=()):
        done = subprocess.run([*launcher, *map(str, words)], cwd=self.home, env=ENV, capture_output=True, text=True, timeout=200)
        return done.returncode, done.stdout, done.stderr

    def record(self, name, n_ranks=2):
        folder = self.home / name
        status, _, err = self.run(self.mpirun, "-n", n_ranks, self.tool, "record", "--quiet", "--dir", folder, self.known / name)
        check(status == 0, f"recording {name}", err)
        run, = folder.glob("*.whywait")
        return run

    def says(self, status, text, *words):
        """A command ends with this status and says this on standard error."""
        done = self.run(self.tool, *words)
        check(done[0] == status and re.search(text, done[2]), f"{' '.join(map(str, words))}: wanted status {status} and \"{text}\"", done)


def slips(day, run, other):
    day.says(1, "to record this program: mpirun -n 4 whywait record ./program", "./program")
    day.says(1, "no command", "./missing")
    day.says(1, "no exact counts.*name another one: --format chrome", "export", run)
    day.says(1, "no exact counts: build", "export", "--format", "lcov", run)
    day.says(1, "--table goes with --format csv, not with chrome", "export", "--format", "chrome", "--table", "sites", run)
    day.says(1, "go with --format dot", "export", "--format", "csv", "--causing", run)
    day.says(1, "the table \"memory\" has no rows", "export", "--table", "memory", run)
    day.says(1, r"has no line 90000: it has \d+", "annotate", "barriers.c:90000-90010", run)
    day.says(1, "no routine with \"nosuch\" in its name", "report", "--routines", "--match", "nosuch", run)
    day.says(0, "stands on both sides", "diff", run, run)
    day.says(0, "^$", "diff", run, other)
    day.says(1, "is no time: give seconds", "report", "--from", "1day", run)


def tables(day, run):
    """--table means csv."""
    plain, named = day.run(day.tool, "export", "--format", "csv", "--table", "sites", run), day.run(day.tool, "export", "--table", "sites", run)
    check(plain == named and plain[0] == 0 and plain[1].count("\n") > 1, "export --table sites is a table of CSV", named)


def units(day, run):
    """20 ms are 20 ms, however they are written."""
    seen = {day.run(day.tool, "report", "--from", text, run) for text in ("0.02", "0.02s", "20ms", "20000us")}
    whole = day.run(day.tool, "report", run)
    check(len(seen) == 1 and whole not in seen and whole[0] == 0, "--from takes units", seen)


def names(day, run):
    """A name in the list can be typed: it is there as a whole, however narrow the terminal."""
    long = run.parent / f"{'name' * 30}-{run.name}"
    shutil.copytree(run, long, symlinks=True)
    listed = day.run(day.tool, "list", "--quick", "--width", "80", run.parent)[1]
    shutil.rmtree(long)
    check(long.name in listed and run.name in listed, "the list has whole names", listed)


def programs(day, run, other):
    """Two programs are no runs of one kind, and that is said before their means."""
    out = day.run(day.tool, "report", run, other)[1]
    check(out.startswith("runs of different programs: "), "a report of two programs says so first", out)
    check("different programs" not in day.run(day.tool, "report", run, run)[1], "a report of one program says nothing of two")


def gone(day, run):
    """A run whose program has gone says so, also beside the source."""
    copy = day.home / "gone.whywait"
    shutil.copytree(run, copy, symlinks=True)
    shutil.rmtree(copy / "code", ignore_errors=True)
    here = day.home / "moved"
    day.known.joinpath("barriers").rename(here)
    try:
        done = day.run(day.tool, "annotate", copy)
    finally:
        here.rename(day.known / "barriers")
    check("barriers has gone since it was recorded" in done[2] and done[0] != 0, "annotate without the program", done)


def alone(day):
    """Processes that another MPI's launcher has started."""
    other = shutil.which("mpicc.mpich")
    if not other or "openmpi" not in day.mpirun:
        print("there is only one MPI: its launcher is not tried with a program of another")
        return
    (day.home / "lone.c").write_text(LONE)
    check(day.run(other, "-o", "lone", "lone.c")[0] == 0, "building a program of MPICH")
    status, _, err = day.run(day.mpirun, "-n", "2", day.tool, "record", "--dir", day.home / "alone", "./lone")
    check(status == 0 and err.count("the launcher started 2 processes, but each of them is alone") == 1, "two jobs of one rank", err)
    for run in (day.home / "alone").glob("*.whywait"):
        check("is of another MPI" in " ".join(day.run(day.tool, "report", run)[1].split()), "the report of one of the two jobs")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="whywait-first-steps-") as home:
        day = Day(build, pathlib.Path(home))
        shutil.copy(day.known / "one", day.home / "program")
        run, other = day.record("barriers"), day.record("allreduce")
        slips(day, run, other)
        tables(day, run)
        units(day, run)
        names(day, run)
        programs(day, run, other)
        gone(day, run)
        alone(day)
    return n_failed > 0


sys.exit(main())
