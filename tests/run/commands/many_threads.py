#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program of so many threads that its archive is left to the report: the closing line says so, and the report makes it.

    many_threads.py BUILD_DIR
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

N_THREADS = 1100
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    tool = build / "bin" / "whywait"
    with tempfile.TemporaryDirectory() as cwd:
        command = [shutil.which("mpirun.openmpi") or "mpirun", "-n", "1", tool, "record", build / "bin" / "many_threads", str(N_THREADS)]
        done = subprocess.run(command, cwd=cwd, env=ENV, capture_output=True, text=True, timeout=120)
        said = done.returncode == 0 and "`whywait report` will convert it" in done.stderr
        was_left = not list(pathlib.Path(cwd).rglob("traces.otf2"))
        report = subprocess.run([tool, "report", "--format", "json"], cwd=cwd, env=ENV, capture_output=True, text=True, timeout=120)
        routines = subprocess.run([tool, "report", "--routines", "--format", "json"], cwd=cwd, capture_output=True, text=True, timeout=120)
    calls = [routine["calls"] for routine in json.loads(routines.stdout)["routines"] if routine["routine"] == "MPI_Sendrecv"]
    if not said or not was_left or report.returncode or calls != [N_THREADS]:
        sys.exit(f"said {said}, left {was_left}, report {report.returncode}, calls {calls}\n{done.stderr}{report.stderr}")


main()
