#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that is stopped for a while, as batch systems do with a job, does not sleep meanwhile: the report still says which loop
ranks wait for, for how long each rank was stopped, and nothing of who is asleep.

    stopped.py BUILD_DIR
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1", WHYWAIT_QUIET="1")
N_RANKS, STEPS, STOPPED_S = 3, 100, 1


def ranks(program, cwd):
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "exe") == str(program) and os.readlink(process / "cwd") == cwd:
                found.append(int(process.name))
        except OSError:
            pass  # it has ended
    return found


def record(tool, program, cwd):
    """False where the program was over before it could be stopped."""
    mpirun = subprocess.Popen([shutil.which("mpirun.openmpi") or "mpirun", "-n", str(N_RANKS), tool, "record", "--spool", cwd, program, str(STEPS)],
                              cwd=cwd, env=ENV, stdout=subprocess.DEVNULL)
    while mpirun.poll() is None and len(list(pathlib.Path(cwd).glob("**/*.ev"))) < N_RANKS:
        time.sleep(0.01)
    time.sleep(0.3)
    found = ranks(program, cwd)
    for pid in found:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(STOPPED_S)
    for pid in found:
        os.kill(pid, signal.SIGCONT)
    return mpirun.wait(timeout=300) == 0 and len(found) == N_RANKS


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    tool, program = build / "bin/whywait", build / "tests/run/known/jacobi"
    check = subprocess.run([tool, "check"], capture_output=True, text=True).stdout.split()
    if check[check.index("CPU") + 1] != "yes":
        print("no switches are known here")
        return 77
    with tempfile.TemporaryDirectory() as name:
        cwd = os.path.realpath(name)
        if not record(tool, program, cwd):
            print("FAILED: the program was not stopped, or did not end well")
            return 1
        report = json.loads(subprocess.run([tool, "report", "--format", "json"], cwd=cwd, env=ENV, check=True, capture_output=True).stdout)
    cause, asleep_s = report["causes"][0], sum(each["kinds"].get("blocked", 0) for each in report["causes"]) / 1e9
    is_told = any("stopped for a while" in note for note in report["notes"])
    stops = {stop["rank"]: stop["stopped_ns"] / 1e9 for stop in report["machine"]["stops"]}
    is_measured = len(stops) == N_RANKS and all(STOPPED_S - 0.1 < stop_s < STOPPED_S + 1 for stop_s in stops.values())
    is_right = (cause["routine"], cause["ranks"]) == ("relax", [2]) and is_told and is_measured and asleep_s < STOPPED_S / 2
    if not is_right:
        print(f"FAILED: {cause['routine']} {cause['ranks']}, {asleep_s} s of waiting for who sleeps; {stops} {report['notes']}")
    return not is_right


sys.exit(main())
