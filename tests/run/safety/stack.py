#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The recorder takes less than 2 KB of a thread's stack beyond what the program takes alone: in a thread's first call and in later
ones, of each kind of wrapper, in MPI_Finalize, MPI_Abort and exit. Of several runs the least counts: a signal lands where it wants.

    stack.py BUILD_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD, HERE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).resolve().parent
MOST_BYTES, PAINT, N_TRIES = 2048, 0xa5, 3
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
STATUS = {"finalize": 0, "abort": 9, "exit": 9}


def used(program, launch, ending, cwd):
    """Bytes by what was called."""
    painted = cwd / "painted"
    done = subprocess.run([*launch, program, painted, ending], cwd=cwd, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120)
    if done.returncode != STATUS[ending]:
        sys.exit(f"{launch} {ending}: status {done.returncode}\n{done.stdout}{done.stderr}")
    bytes_of = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines() if line.count(" ") == 2}
    stack = painted.read_bytes()
    bytes_of[ending] = len(stack) - next(i for i, byte in enumerate(stack) if byte != PAINT)
    return bytes_of


def least(program, launch, cwd, is_enough):
    """Of several runs, until it is enough."""
    found = {}
    for ending in STATUS:
        for _ in range(N_TRIES):
            of_run = used(program, launch, ending, cwd)
            for name, n in of_run.items():
                found[name] = min(found.get(name, n), n)
            if all(is_enough(name, found[name]) for name in of_run):
                break
    return found


def check(mpi, cwd):
    """Lines of what takes too much."""
    program = cwd / f"stack-{mpi}"
    subprocess.run([f"mpicc.{mpi}", "-O1", "-w", "-D_GNU_SOURCE", HERE / "stack.c", "-o", program, *(["-lmpi_mpifh"] if mpi == "openmpi" else ["-lmpichfort"]),
                    "-lpthread"], check=True)
    launch = [f"mpirun.{mpi}", "-n", "1"]
    alone = least(program, launch, cwd, lambda name, n: False)
    recorded = least(program, [*launch, BUILD / "bin" / "whywait", "record"], cwd, lambda name, n: n - alone[name] < MOST_BYTES)
    for name in recorded:
        more = recorded[name] - alone[name]
        print(f"{mpi:8} {name:20} alone {alone[name]:6}  recorded {recorded[name]:6}  {more:+6}")
        if more >= MOST_BYTES:
            yield f"FAILED {mpi}: {name} takes {more} bytes more than alone"
    if not any(cwd.glob("*.whywait")):
        yield f"FAILED {mpi}: nothing was recorded"


def main():
    bad = []
    for mpi, recorder in (("openmpi", "libwhywait.so"), ("mpich", "libwhywait-mpich.so")):
        if shutil.which(f"mpicc.{mpi}") and (BUILD / "lib" / recorder).exists():
            with tempfile.TemporaryDirectory() as cwd:
                bad += check(mpi, pathlib.Path(cwd))
    sys.exit("\n".join(bad) or 0)


main()
