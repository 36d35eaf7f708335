#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A job of two programs is recorded when both are; when only one is, a line says why nothing happens.

    unrecorded.py BUILD_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM = "many_threads"
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
LIMIT_S = 100
WANTED = "seem not to be recorded"


def start(build, cwd, first, second):
    program = [str(build / "bin" / PROGRAM), "1"]
    return subprocess.Popen([shutil.which("mpirun.openmpi") or "mpirun", "-n", "1", *first, *program, ":", "-n", "2", *second, *program],
                            cwd=cwd, env=ENV, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def all_recorded(build, cwd):
    """What is wrong, or None."""
    record = [str(build / "bin" / "whywait"), "record"]
    job = start(build, cwd, record, record)
    said = job.communicate(timeout=LIMIT_S)[1]
    return None if job.returncode == 0 and "whywait: 3 ranks," in said else f"status {job.returncode}: {said}"


def some_recorded(build, cwd):
    """The second program's two ranks are: one line of the two, after which the job is ended."""
    job = start(build, cwd, [], [str(build / "bin" / "whywait"), "record"])
    too_long = threading.Timer(LIMIT_S, job.terminate)
    too_long.start()
    said = ""
    while WANTED not in said and (line := job.stderr.readline()):
        said += line
    time.sleep(2)
    job.terminate()
    said += job.communicate(timeout=LIMIT_S)[1]
    too_long.cancel()
    return None if said.count(WANTED) == 1 else f"wanted one line with \"{WANTED}\":\n{said}"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as cwd:
        bad = [text for text in (all_recorded(build, cwd), some_recorded(build, cwd)) if text]
    sys.exit("\n".join(bad) or 0)


main()
