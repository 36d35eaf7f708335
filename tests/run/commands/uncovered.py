#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls of a function of MPI that no wrapper covers are named in the report, and work as without the recorder.

    uncovered.py BUILD_DIR SOURCE
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
NOTE = "not recorded: MPI_Frobnicate (hundreds of calls)"


def main():
    whywait, source = pathlib.Path(sys.argv[1]).resolve() / "bin" / "whywait", pathlib.Path(sys.argv[2]).resolve()
    bad = []
    for mpi in ("openmpi", "mpich"):
        compiler, launcher = shutil.which(f"mpicc.{mpi}"), shutil.which(f"mpirun.{mpi}")
        if not compiler or not launcher:
            continue
        for binding in ("lazy", "now"):
            with tempfile.TemporaryDirectory() as cwd:
                subprocess.run([compiler, "-DLIBRARY", "-shared", "-fPIC", source, "-o", "libnewer.so"], cwd=cwd, check=True)
                subprocess.run([compiler, "-g", source, "-o", "program", "-L.", "-lnewer", f"-Wl,-rpath,{cwd}", f"-Wl,-z,{binding}"], cwd=cwd, check=True)
                run = subprocess.run([launcher, "-n", "2", whywait, "record", "./program"], cwd=cwd, env=ENV, capture_output=True, text=True, timeout=120)
                report = subprocess.run([whywait, "report"], cwd=cwd, capture_output=True, text=True, timeout=120)
                if run.returncode or report.returncode or NOTE not in report.stdout.replace("\n   ", ""):
                    bad.append(f"{mpi}, {binding}: status {run.returncode} and {report.returncode}: {run.stderr}{report.stdout}{report.stderr}")
    sys.exit("\n".join(bad) or 0)


main()
