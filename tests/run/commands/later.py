#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Functions that came with a later MPI than the one whose header built the recorder are waits as all others.

    later.py BUILD_DIR SOURCE
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


def judge(report):
    """Each wait of rank 0 is for the loop of rank 1, and has the name of its call."""
    first = report["causes"][0]
    calls = {site["call"]: site["waiting_ns"] for site in first["sites"]}
    least = 0.25 * first["waiting_ns"]
    if first["routine"] != "work" or first["ranks"][:1] != [1]:
        return f"the first cause is {first['name']} of ranks {first['ranks']}"
    if calls.get("MPI_Allreduce_c", 0) < least or calls.get("MPI_Wait", 0) < least:
        return f"it is felt at {calls}, of {first['waiting_ns']} ns"
    return None


def main():
    whywait, source = pathlib.Path(sys.argv[1]).resolve() / "bin" / "whywait", pathlib.Path(sys.argv[2]).resolve()
    bad = []
    for mpi in ("openmpi", "mpich"):
        compiler, launcher = shutil.which(f"mpicc.{mpi}"), shutil.which(f"mpirun.{mpi}")
        if not compiler or not launcher:
            continue
        with tempfile.TemporaryDirectory() as cwd:
            subprocess.run([compiler, "-DLIBRARY", "-shared", "-fPIC", source, "-o", "liblater.so"], cwd=cwd, check=True)
            subprocess.run([compiler, "-O2", "-g", source, "-o", "program", "-L.", "-llater", f"-Wl,-rpath,{cwd}"], cwd=cwd, check=True)
            run = subprocess.run([launcher, "-n", "2", whywait, "record", "./program"], cwd=cwd, env=ENV, capture_output=True, text=True, timeout=120)
            report = subprocess.run([whywait, "report", "--format", "json"], cwd=cwd, capture_output=True, text=True, timeout=120)
            said = f"status {run.returncode} and {report.returncode}: {run.stderr}{report.stderr}"
            fault = judge(json.loads(report.stdout)) if run.returncode == report.returncode == 0 else said
            bad += [f"{mpi}: {fault}"] if fault else []
    sys.exit("\n".join(bad) or 0)


main()
