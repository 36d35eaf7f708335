#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processes of two nodes share work by each MPI. The outcome is that of one process, whoever is lost meanwhile; one line says who is, and
nobody is left.

    engine.py BUILD_DIR work      one of those that share the work is lost
    engine.py BUILD_DIR meet      one does not come to share it
    engine.py BUILD_DIR kill N    N times one of all processes is killed at some moment
"""
import concurrent.futures
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from processes import ENV, NODES, can_hide, check, faults, machines, told, until  # beside this file

PARTS, BYTES = 40, 300000


def work(machine, *words):
    return list(map(str, [machine.build / "bin/spread", machine.program, PARTS, BYTES, *words]))


def alone(machine):
    return subprocess.run(work(machine), env=ENV, capture_output=True).stdout


def leaves_nobody(machine, what, seconds=10):
    check(until(lambda: not machine.processes(), seconds), f"{what}: left behind: {machine.processes()}")


def same(machine, n, *words, said="", **more):
    """The outcome of one process, and the line that says who is lost."""
    expected, started = alone(machine), machine.start(n, work(machine, *words), **more)
    out, err = started.communicate(timeout=100)
    what = f"{machine.launcher}, {n} a node, {' '.join(map(str, words))} {more}"
    check(out == expected and expected and not started.returncode, f"{what}: status {started.returncode}, {out!r} instead of {expected!r}: {err}")
    check(len(told(err)) == (said != "") and all(said.encode() in line for line in told(err)), f"{what}: {err!r} instead of one line with {said!r}")
    leaves_nobody(machine, what)


def is_begun(machine, n):
    return sum("bin/spread" in command.split(" ")[0] for command, _ in machine.processes().values()) >= n


def is_killed(machine, who, delay):
    """One of all processes is killed at some time since all have begun: the outcome is right, or the status is not 0; nobody is left.
    A launcher that is killed before that may itself leave what it was about to begin."""
    expected, started = alone(machine), machine.start(2, work(machine), WHYWAIT_PATIENCE="2")
    until(lambda: started.poll() is not None or is_begun(machine, 4), 20)
    time.sleep(delay)
    victims = [(pid, command) for pid, (command, _) in machine.processes().items() if who in command.split(" ")[0]]
    victim = random.choice(victims or [(started.pid, machine.launcher)])
    try:
        os.kill(victim[0], signal.SIGKILL)
    except OSError:
        pass  # it has ended
    try:
        out, err = started.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        started.kill()
        out, err = b"", b"it does not end"
        check(False, f"{machine.launcher}: {victim} was killed after {delay:.2f} s: it does not end")
    what = f"{machine.launcher}: {victim} was killed after {delay:.2f} s: status {started.returncode}, printed {out!r}, told {err[-300:]!r}"
    if "-v" in sys.argv:
        print(what)
    check(started.returncode or out == expected, what)
    leaves_nobody(machine, what, 20)


def number_of(pid):
    """Which of the launcher's processes it belongs to; None: none."""
    try:
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    return next((int(word.split("=")[1]) for word in environment if word.startswith(("PMIX_RANK=", "PMI_RANK="))), None)


def is_killed_before_meeting(machine):
    """Number 3 does not begin until number 2 is killed: the command ends, and its status says so."""
    go = machine.folder / "go"
    script = f'if [ "${{PMIX_RANK:-$PMI_RANK}}" = 3 ]; then until [ -e {go} ]; do sleep 0.1; done; fi; exec "$0" "$@"'
    started = machine.start(2, ["sh", "-c", script, *work(machine)], WHYWAIT_MEETING="20")
    found = until(lambda: [pid for pid, (command, _) in machine.processes().items()
                           if pathlib.Path(command.split(" ")[0]).name.startswith("whywait-mpi") and number_of(pid) == 2], 20)
    time.sleep(1)  # Hydra's proxy does not survive an answer that nobody takes any more: now number 2 asks nothing
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    go.touch()
    try:
        out, err = started.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        started.kill()
        out, err = started.communicate()
        check(False, f"{machine.launcher}: killed before they met: it does not end")
    what = f"{machine.launcher}: killed before they met: status {started.returncode}, {out!r}, {err!r}"
    check(started.returncode and b"was killed before all had met" in err, what)
    leaves_nobody(machine, what)


def kill(machine):
    for i in range(int(sys.argv[3])):
        is_killed(machine, ("spread", "whywait-mpi", "mpirun")[i % 3], random.uniform(0, 0.6))


def work_together(machine):
    for n in (1, 3):
        same(machine, n)
    same(machine, 2, "kill", 3, 7, said="died")
    same(machine, 2, "stop", 1, 11, said="says nothing", WHYWAIT_PATIENCE="2")
    same(machine, 2, "refuse", 2, 0, said="cannot open the run")
    same(machine, 2, "kill-mpi", 3, 7, said="goes on without other nodes", WHYWAIT_PATIENCE="2")


def meet(machine):
    lib = machine.build / "lib"
    if can_hide():
        same(machine, 2, said="have not come", NODES_LACK=f"{NODES[1]}:{lib}", WHYWAIT_MEETING="2")
        same(machine, 2, said="cannot run here", NODES_LACK=f"{NODES[0]}:{lib}", WHYWAIT_MEETING="2")
    is_killed_before_meeting(machine)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    check_one = {"work": work_together, "meet": meet, "kill": kill}[sys.argv[2]]
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor() as at_once:
        tried = list(at_once.map(check_one, machines(pathlib.Path(name), build)))
    return bool(faults) if tried else 77


sys.exit(main())
