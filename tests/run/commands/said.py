#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What holds for all ranks is said once, not by each of them: also that making the archive takes long, as it does here with a tool
that rests first; one that never ends is stopped, and nothing is lost. The report says that a run has no samples, whichever way they were declined.

    said.py BUILD_DIR
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RANKS = 4
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
# "faulted" ends with a status, upon which mpirun ends the ranks that are not there yet: no program for a long end.
CASES = [({"WHYWAIT_TOOL": "endless"}, "making the archive took too long and was stopped: `whywait report` will convert it"),
         ({"WHYWAIT_RATE": "fast"}, "WHYWAIT_RATE=fast is no number"),
         ({"WHYWAIT_RATE": "slow", "LD_PRELOAD": "libearly.so"}, "WHYWAIT_RATE=slow is no number"),
         ({"WHYWAIT_ONLY": "x" * 100000}, "WHYWAIT_ONLY is longer"),
         ({"WHYWAIT_SPOOL": "/proc"}, "the spool cannot be in /proc"),
         ({"WHYWAIT_LIMIT": "600k"}, "no more room"),
         ({"WHYWAIT_TOOL": "slow"}, "calls on rank 0) is made into an archive"),
         ({"WHYWAIT_TOOL": "killed"}, "`whywait report` will convert it"),
         ({"ENDS": "exits"}, "has ended with status 0 without calling MPI_Finalize; what was recorded is in "),
         ({"ENDS": "aborts"}, "has called MPI_Abort(7); what was recorded is in ")]
WITHOUT_SAMPLES = ((["--rate", "0"], {}, True), ([], {"WHYWAIT_RATE": "0"}, True), (["--rate", "9"], {"WHYWAIT_RATE": "0"}, False))
# Programs that ignore SIGCHLD are not told how their children ended.
TOOLS = {"endless": '[ "$1" = convert ] && exec sleep 600', "slow": '[ "$1" = join ] && sleep 4', "killed": '[ "$1 $3" = "convert 1" ] && kill -9 $$'}
IGNORING = [sys.executable, "-c", "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"]


def lines_with(text, build, environment):
    with tempfile.TemporaryDirectory() as cwd:
        program = [build / "bin/faulted"]
        if "ENDS" in environment:
            program = [build / "tests/run/known/exits", environment["ENDS"]]
        if "WHYWAIT_TOOL" in environment:
            tool = pathlib.Path(cwd, environment["WHYWAIT_TOOL"])
            tool.write_text(f'#!/bin/sh\n{TOOLS[tool.name]}\nexec {build}/bin/whywait "$@"\n')
            tool.chmod(0o755)
            program, environment = [*IGNORING, build / "tests/run/known/allreduce"], {"WHYWAIT_TOOL": str(tool)}
        if "LD_PRELOAD" in environment:
            environment = {**environment, "LD_PRELOAD": str(build / "lib" / environment["LD_PRELOAD"])}
        command = [shutil.which("mpirun.openmpi") or "mpirun", "-n", str(RANKS), build / "bin" / "whywait", "record", *program]
        done = subprocess.run(command, cwd=cwd, env={**ENV, **environment}, capture_output=True, text=True, timeout=120)
        if text.startswith("making the archive") and not has_all_calls(build, cwd, done.stderr):
            return [f"lost after: {done.stderr}"] * 2
    return [line for line in done.stderr.splitlines() if text in line]


def has_all_calls(build, cwd, closing):
    said = int(re.search(r"([\d,]+) MPI calls", closing)[1].replace(",", ""))
    report = subprocess.run([build / "bin/whywait", "report", "--format", "json"], cwd=cwd, capture_output=True, text=True, timeout=120)
    return report.returncode == 0 and json.loads(report.stdout)["mpi_calls"] == said


def says_no_samples(build, words, environment):
    with tempfile.TemporaryDirectory() as cwd:
        tool = build / "bin" / "whywait"
        subprocess.run([shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", tool, "record", *words, build / "tests/run/known/one"], cwd=cwd,
                       env={**ENV, **environment}, check=True, capture_output=True, timeout=120)
        report = subprocess.run([tool, "report"], cwd=cwd, capture_output=True, text=True, timeout=120).stdout
    return "no samples were asked for" in report


def main():
    build, failed = pathlib.Path(sys.argv[1]).resolve(), False
    # Most of their time they wait, for a tool that rests above all.
    with concurrent.futures.ThreadPoolExecutor(2) as at_once:
        found = [at_once.submit(lines_with, text, build, environment) for environment, text in CASES]
        silent = [at_once.submit(says_no_samples, build, words, environment) for words, environment, _ in WITHOUT_SAMPLES]
    for (words, environment, says), answer in zip(WITHOUT_SAMPLES, silent):
        if answer.result() != says:
            failed = True
            print(f"record {words} with {environment}: the report does {'not ' if says else ''}say that there are no samples")
    for (_, text), answer in zip(CASES, found):
        lines = answer.result()
        if len(lines) != 1:
            failed = True
            print(f"\"{text}\" was said {len(lines)} times:", *lines, sep="\n    ")
    sys.exit(failed)


main()
