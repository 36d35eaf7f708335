#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that leave little room: stacks of 8 and 16 KB, results under the number of standard error, and numbers that are free for
a moment. They end as without the recorder, and its counts are theirs.

    narrow.py BUILD_DIR
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_odls_base_sigkill_timeout="0")  # a rank that ends badly has no others, which would be given a second
MODES = ("thread", "fibre", "abort", "exit", "results", "numbers", "polls")
LAUNCHER = shutil.which("mpirun.openmpi") or "mpirun"
N_POLLS = 500


def run(build, cwd, words, mode):
    """(status, the results) and what was said."""
    # Not bound to one CPU: the recorder works beside the program.
    done = subprocess.run([LAUNCHER, "--bind-to", "none", "-n", "1", *words, build / "bin/narrow", mode], cwd=cwd, env=ENV, capture_output=True, text=True,
                          timeout=120)
    results = pathlib.Path(cwd, "results")
    return (done.returncode, results.read_bytes() if results.exists() else None), done.stderr


def faults_of(build, mode):
    tool = build / "bin/whywait"
    with tempfile.TemporaryDirectory() as cwd:
        plain, _ = run(build, cwd, [], mode)
        recorded, said = run(build, cwd, [tool, "record"], mode)
        faults = [] if recorded == plain else [f"{mode}: {recorded} instead of {plain}: {said}"]
        if mode == "polls" and f" {N_POLLS + 5} MPI calls, nothing lost" not in said:
            faults.append(f"polls: {N_POLLS + 5} calls were made, but: {said}")
        if mode == "polls":
            report = subprocess.run([tool, "report", "--routines", "--format", "json"], cwd=cwd, env=ENV, capture_output=True, text=True)
            calls = {row["routine"]: row["calls"] for row in json.loads(report.stdout)["routines"]}
            faults += [] if calls["MPI_Test"] == N_POLLS else [f"polls: {calls['MPI_Test']} calls of MPI_Test are reported"]
    return faults


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    faults = [fault for mode in MODES for fault in faults_of(build, mode)]
    print("\n".join([*faults, f"{len(MODES)} programs, {len(faults)} faults"]))
    sys.exit(bool(faults))


main()
