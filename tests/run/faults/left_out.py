#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One of two ranks cannot use the run directory: the closing line, the report and its JSON say so, and not that it ended abruptly.

    left_out.py BUILD_DIR
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
LEFT_OUT, N_CALLS = 1, "100"


def record(build, cwd):
    """What was said while rank LEFT_OUT, whose system calls mkdir all fail, ran beside another."""
    recorder, faults = build / "lib/libwhywait.so", build / "lib/libfaults.so"
    # One program for both: mpirun of Open MPI 5.0.7 crashes where it is given two.
    starts = f'''export LD_PRELOAD="{recorder}"
        [ $OMPI_COMM_WORLD_RANK != {LEFT_OUT} ] || export LD_PRELOAD="{recorder} {faults}" FAULT_CALL=mkdir FAULT_NTH=1+
        exec "{build}/bin/many_calls" {N_CALLS}'''
    command = [shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", "sh", "-c", starts]
    return subprocess.run(command, cwd=cwd, env=ENV, capture_output=True, text=True, timeout=120).stderr


def main():
    tool = pathlib.Path(sys.argv[1]).resolve() / "bin/whywait"
    with tempfile.TemporaryDirectory() as cwd:
        said = record(tool.parents[1], cwd)
        report = subprocess.run([tool, "report"], cwd=cwd, env=ENV, capture_output=True, text=True).stdout
        found = json.loads(subprocess.run([tool, "report", "--format", "json"], cwd=cwd, env=ENV, capture_output=True, text=True).stdout)
    faults = [f"wanted \"{wanted}\" in: {text}" for wanted, text in (("NOT RECORDED on 1 rank,", said),
                                                                 (f"rank {LEFT_OUT} could not be recorded.", report)) if wanted not in text]
    faults += [f"it is said to have ended abruptly: {report}"] if "abruptly" in report else []
    end = found["by_rank"][LEFT_OUT]["end"]
    faults += [f"its end is \"{end}\""] if end != "gave-up" else []
    print("\n".join([*faults, f"{len(faults)} faults"]))
    sys.exit(bool(faults))


main()
