#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`report --watch` beside a program that goes on until it is told to stop.

    watch.py --whywait TOOL --mpirun MPIRUN PROGRAM

It says what ranks wait for so far, more of it every time, touches nothing of the run, leaves nothing behind when it is interrupted, and
ends with the report of the whole run.
"""
import argparse
import glob
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

faults = []


def expect(what, ok):
    if not ok:
        faults.append(what)


def looks(text):
    """(seconds recorded, text) of each look."""
    parts = re.split(r"(?m)^(?=going   3 ranks)", text)[1:]
    unit = {"ms": 1e-3, "s": 1, "us": 1e-6}
    return [(float(found[1]) * unit[found[2]], part) for part in parts if (found := re.match(r"going   3 ranks   ([\d.]+) (\w+)", part))]


def wait_for(what, done, seconds=120):
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            faults.append(f"{what}: not within {seconds} s")
            return False
        time.sleep(0.2)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--whywait", required=True)
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("program")
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="whywait-watch-test.")
    scratch, stop, said, told = (os.path.join(folder, name) for name in ("tmp", "stop", "said", "told"))
    os.mkdir(scratch)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                       OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1")
    program = subprocess.Popen([arguments.mpirun, "-n", "3", arguments.whywait, "record", os.path.abspath(arguments.program), stop], cwd=folder,
                               env=environment, stdout=subprocess.PIPE, stderr=open(told, "w"), text=True)
    watching = None
    try:
        spools = lambda: glob.glob(os.path.join(folder, "*.whywait/spool/*-0.ev"))
        wait_for("a spool", lambda: len(spools()) == 3 or program.poll() is not None, 60)
        command = [arguments.whywait, "report", "--watch=1"]
        beside = dict(environment, TMPDIR=scratch)
        watching = subprocess.Popen(command, cwd=folder, env=beside, stdout=open(said, "w"), stderr=subprocess.PIPE, text=True)
        wait_for("two looks", lambda: len(looks(open(said).read())) >= 2, 300)

        run = os.path.dirname(os.path.dirname(spools()[0]))
        expect(f"the run has {os.listdir(run)}", os.listdir(run) == ["spool"])
        interrupted = subprocess.Popen(command, cwd=folder, env=beside, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = next((line for line in itertools.islice(interrupted.stdout, 10) if line.startswith("going   3 ranks")), None)
        interrupted.send_signal(signal.SIGINT)
        interrupted.communicate(timeout=60)
        expect("the first lines of an interrupted watch are those of no look", first)
        expect(f"an interrupted watch ends with {interrupted.returncode}", interrupted.returncode == -signal.SIGINT)

        removal = subprocess.run([arguments.whywait, "rm", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        expect(f"a run that goes on is removed: {removal}", removal.returncode == 1 and "still being recorded" in removal.stderr and spools())

        where = f"whywait: recording 3 ranks in {os.path.realpath(run)}\n"
        wait_for("a long run says where its records are", lambda: where in open(told).read(), 120)
        n_before = len(looks(open(said).read()))  # one taken later may see that some ranks have ended and others not
        open(stop, "w").close()
        out, _ = program.communicate(timeout=120)
        err = open(told).read()
        expect(f"that is said once: {err}", err.count(where) == 1)
        expect(f"the program ended with {program.returncode}: {err}", program.returncode == 0 and re.search(r"steps \d+", out))
        _, complaints = watching.communicate(timeout=120)
        expect(f"the watch ended with {watching.returncode}: {complaints}", watching.returncode == 0 and not complaints)
    finally:
        for process in (program, watching):
            if process and process.poll() is None:
                process.kill()
    seen = looks(open(said).read())
    going, last = seen[:-1], seen[-1][1] if seen else ""
    expect("looks do not say that the run goes on", all("still running" in text for _, text in going) and len(going) >= 2)
    expect(f"looks do not grow: {[at for at, _ in going]}", all(a < b for (a, _), (b, _) in zip(going, going[1:])))
    expect("a look speaks of an end", not any(word in text for word in ("abruptly", "never came back", "already ended") for _, text in seen[:n_before]))
    expect("no look names the loop", any("in late()" in text for _, text in going))
    expect(f"the last report: {last}", "still running" not in last and "in late()" in last)
    expect(f"left behind: {os.listdir(scratch)}", not os.listdir(scratch))
    shutil.rmtree(folder)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
