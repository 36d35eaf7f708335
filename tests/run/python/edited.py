#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two versions of a script, of which one has more lines above and other work in one line: `whywait diff` finds all else again.

    edited.py WHYWAIT MPIRUN PYTHON
"""
import os
import re
import subprocess
import sys
import tempfile

BEFORE = """from mpi4py import MPI


def add(n):
    total = 0.0
    for i in range(n):
        total += i * 0.5
    return total


def subtract(n):
    total = 0.0
    for i in range(n):
        total -= i * 0.25
    return total


comm = MPI.COMM_WORLD
for _ in range(20):
    n = 60000 if comm.rank == 1 else 20000
    add(n)
    comm.Barrier()
    subtract(n)
    comm.allreduce(n)
"""
AFTER = "# More\n# lines\n# above.\n" + BEFORE.replace("subtract(n)\n    comm", "subtract(5 * n)\n    comm")


def record(whywait, mpirun, python, directory, text):
    os.mkdir(directory)
    with open(os.path.join(directory, "steps.py"), "w") as script:
        script.write(text)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                       OMPI_MCA_mpi_yield_when_idle="1", WHYWAIT_DIR=os.path.join(directory, "run"))
    subprocess.run([mpirun, "-n", "2", whywait, "record", python, "steps.py"], cwd=directory, env=environment, check=True,
                   capture_output=True, timeout=120)
    return os.path.join(directory, "run", os.listdir(os.path.join(directory, "run"))[0])


def main():
    whywait, mpirun, python = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="whywait-edited-") as scratch:
        runs = [record(whywait, mpirun, python, os.path.join(scratch, name), text)
                for name, text in (("before", BEFORE), ("after", AFTER))]
        told = subprocess.run([whywait, "diff", "--top", "0", *runs], check=True, capture_output=True, text=True).stdout
    failures = ["counts have changed"] if "calls of MPI_" in told else []
    table = told.split("computing time of the slowest rank")[-1].split("waiting for the program")[0]
    for routine, lines in ("add", "9-10"), ("subtract", "16-17"):
        rows = re.findall(r"steps.py:(\S+) in %s" % routine, table)
        failures += [] if rows == [lines] else ["%s() is told at %s" % (routine, rows)]
    failures += [] if "build of the program" in told else ["no note on the other build"]
    if failures:
        sys.exit(told + "\n".join(failures))


main()
