#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processes on two nodes share the sections of an archive: the first one prints what one process alone prints, also when another
one has died or lacks the archive, which it says in one line.

    reading.py BUILD_DIR [--kill N]     (by hand: N more times by each launcher one of all processes is killed at some moment)
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from processes import DATA, ENV, NODES, can_hide, check, faults, generate, machines, parent, told, until  # beside this file

SHORT = {"WHYWAIT_SECTION_EVENTS": "1000"}


def alone(words):
    return subprocess.run(list(map(str, words)), env=dict(ENV, **SHORT), capture_output=True)


def together(machine, n, words, **more):
    """The process, what it printed and what it told."""
    report = machine.start(n, words, **SHORT, **more)
    return report, *report.communicate(timeout=200)


def same(machine, n, words, said_of=None, **more):
    words = [machine.build / "bin/whywait", *words]
    one, (report, out, err) = alone(words), together(machine, n, words, **more)
    what = f"{machine.launcher}: {n} a node: {' '.join(map(str, words))}"
    check(one.stdout and out == one.stdout, f"{what}: {len(one.stdout)} characters alone, {len(out)} together, status {report.returncode}: {err}")
    more_told = [line for line in told(err) if line not in one.stderr.splitlines()]
    check(len(more_told) == (said_of is not None) and all(said_of in line for line in more_told), f"{what}: {more_told}, not of {said_of}")


def meets_in_vain(machine, words):
    """A node has no MPI for the tool: the first process does without the others, and has waited for them if it could."""
    for lacking in NODES:
        report, out, err = together(machine, 2, words, NODES_LACK=f"{lacking}:{machine.build}/lib", WHYWAIT_MEETING="1")
        what = f"{machine.launcher}: {lacking} lacks MPI"
        check(report.returncode == 0 and out == alone(words).stdout, f"{what}: status {report.returncode}, {len(out)} characters printed: {err}")
        check(len(told(err)) == 1 and b"other nodes" in told(err)[0], f"{what}: {err}")


def first_of_script(machine, words):
    """One process of a script comes to the command, and the others do not."""
    script = 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ]; then "$0" "$@"; fi; true'
    report, out, err = together(machine, 2, ["sh", "-c", script, *words])
    check(report.returncode == 0 and out == alone(words).stdout,
          f"{machine.launcher}: the first process of a script reports alone: status {report.returncode}, {len(out)} characters printed: {err}")


def tools(machine):
    """Processes of the tool, and those beside them that know MPI: the name of the program and the node."""
    found = {}
    for pid, (_, node) in machine.processes().items():
        try:
            path = pathlib.Path(os.readlink(f"/proc/{pid}/exe"))
        except OSError:
            continue  # it has ended
        if path.parent in (machine.build / "bin", machine.build / "lib"):
            found[pid] = path.name, node
    return found


def far_readers(machine):
    """Of the tool's processes on the second node those that have been called to work: of a process of the launcher the grandchildren."""
    found = tools(machine)
    return [pid for pid, of in found.items() if of == ("whywait", NODES[1]) and parent(pid) in found and parent(parent(pid)) in found]


def loses_a_reader(machine, words):
    report = machine.start(2, words, **SHORT)
    found = until(lambda: far_readers(machine), 60)
    check(found, f"{machine.launcher}: nobody reads on the second node")
    if found:
        os.kill(found[0], signal.SIGKILL)
    out, err = report.communicate(timeout=200)
    check(report.returncode == 0 and out == alone(words).stdout, f"{machine.launcher}: a reader was killed: status {report.returncode}, {len(out)} characters printed: {err}")
    check(len(told(err)) == 1 and b"has died" in told(err)[0], f"{machine.launcher}: a reader was killed: {err}")
    check(until(lambda: not tools(machine), 60), f"{machine.launcher}: a reader was killed, and others are left: {tools(machine)}")


def is_killed(machine, words):
    """The report is right, or the status is not 0; nobody is left."""
    report = machine.start(2, words, WHYWAIT_PATIENCE="5", **SHORT)
    time.sleep(random.uniform(0, 1.5))
    victim, (name, _) = random.choice([*tools(machine).items(), (report.pid, (machine.launcher, None))])
    try:
        os.kill(victim, signal.SIGKILL)
    except OSError:
        name = "one that had ended"
    out, err = report.communicate(timeout=200)
    what = f"{machine.launcher}: {name} was killed: status {report.returncode}, {len(out)} characters: {err[-300:]}"
    check(report.returncode or out == alone(words).stdout, what)
    check(until(lambda: not tools(machine), 60), f"{what}: others are left: {tools(machine)}")
    print(what)


def main():
    build, n_machines = pathlib.Path(sys.argv[1]).resolve(), 0
    tool = build / "bin/whywait"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ours = generate(build, "stencil", folder / "ours", 9, 60000, "ours")
        later = generate(build, "reduction", folder / "later", 4, 400000, "ours")
        check(later.with_suffix(".starts").exists(), "there are starts")
        damaged = generate(build, "workers", folder / "damaged", 7, 30000, "foreign")
        meeting = generate(build, "solver", folder / "meeting", 9, 60000, "ours")
        long = generate(build, "reduction", folder / "long", 4, 3000000, "ours")
        files = sorted(damaged.parent.glob("traces/*.evt"), key=lambda path: int(path.stem))
        for file in files[1:4]:
            os.truncate(file, file.stat().st_size // 3)
        files[4].unlink()
        for machine in machines(folder, build):
            n_machines += 1
            same(machine, 1, ["report", "--format", "json", "--all", ours])
            for anchor in (meeting, ours, damaged, DATA / "eztrace-phases/eztrace_log.otf2"):  # clocks of the last one disagree
                same(machine, 2, ["report", "--format", "json", "--all", anchor])
            same(machine, 2, ["report", "--format", "json", "--from", "9", later])
            same(machine, 2, ["diff", meeting, "vs", later])
            same(machine, 2, ["html", "-o", "-", meeting])
            if "mpich" in machine.launcher:  # Open MPI's daemons would take themselves for processes of srun
                machine.env["NODES_STEP"] = "1"
            if can_hide():
                same(machine, 2, ["report", "--format", "json", "--all", meeting], said_of=b"cannot read", NODES_LACK=f"{NODES[1]}:{meeting.parent}")
                meets_in_vain(machine, [tool, "report", ours])
            first_of_script(machine, [tool, "report", ours])
            loses_a_reader(machine, [tool, "report", long])
            if "--kill" in sys.argv:
                for _ in range(int(sys.argv[-1])):
                    is_killed(machine, [tool, "report", long])
    return bool(faults) if n_machines else 77


sys.exit(main())
