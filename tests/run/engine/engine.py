#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processes of two nodes share work by each MPI. The outcome is that of one process, whoever is lost meanwhile; one line says who is, and
nobody is left. The nodes are names that a launcher is given; what stands in for ssh begins everything on this machine.

    engine.py BUILD_DIR
    engine.py node NAME COMMAND...      (what a launcher starts in place of ssh)
"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NODES = ("nodea", "nodeb")
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl="self,tcp", OMPI_MCA_btl_tcp_if_include="lo", OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_rtc_hwloc_vmhole="none")
LAUNCHERS = (("mpirun.openmpi", "whywait-mpi"), ("mpirun.mpich", "whywait-mpi-mpich"))
PARTS, BYTES = 40, 300000
faults = []


def check(is_right, text):
    if not is_right:
        faults.append(text)
        print(f"FAILED: {text}", flush=True)


def node(name, command):
    """Becomes `command` (a list of words for a shell, as ssh takes it) on node `name`, which may lack a folder that the other has."""
    own = pathlib.Path(os.environ["ENGINE_TEST"]) / name
    own.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = str(own)  # daemons of one machine would make the same folders
    lacks, hidden = os.environ.get("NODES_LACK", ":").split(":")
    words = ["sh", "-c", " ".join(command)]
    if name == lacks:
        words = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec sh -c "$1"', hidden, words[-1]]
    os.execvp(words[0], words)


class Machine:
    """Two nodes of one of the launchers."""

    def __init__(self, folder, build, launcher, program):
        self.launcher, self.spread, self.program = launcher, build / "bin/spread", build / "lib" / program
        self.agent = folder / "agent"  # Hydra takes no arguments with it
        self.agent.write_text("#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
                              f"exec {sys.executable} {pathlib.Path(__file__).resolve()} node \"$@\"\n")
        self.agent.chmod(0o755)
        self.mark = f"ENGINE_TEST={folder}"

    def start(self, n, *words, **more):
        """On n processes a node."""
        hosts = ",".join(f"{name}:{n}" for name in NODES)
        how = (["--mca", "plm_rsh_agent", self.agent, "--host", hosts] if "openmpi" in self.launcher else
               ["-launcher", "ssh", "-launcher-exec", self.agent, "-hosts", hosts])
        words = [self.launcher, *how, "-n", 2 * n, self.spread, self.program, PARTS, BYTES, *words]
        more[self.mark.split("=")[0]] = self.mark.split("=")[1]
        return subprocess.Popen(list(map(str, words)), env=dict(ENV, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def left(self):
        """Of all processes that this test has started."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (path / "environ").read_bytes().split(b"\0") and (path / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                    found.append((int(path.name), (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
            except OSError:
                pass  # it has ended
        return found

    def leaves_nobody(self, what, seconds=10):
        end = time.monotonic() + seconds
        while self.left() and time.monotonic() < end:
            time.sleep(0.05)
        check(not self.left(), f"{what}: left behind: {self.left()}")

    def same(self, n, *words, told="", **more):
        """The outcome of one process, and the line that says who is lost."""
        alone = subprocess.run([self.spread, self.program, str(PARTS), str(BYTES)], env=ENV, capture_output=True, text=True).stdout
        started = self.start(n, *words, **more)
        out, err = started.communicate(timeout=100)
        lines = [line for line in err.splitlines() if line.startswith("whywait:")]
        what = f"{self.launcher}, {n} a node, {' '.join(map(str, words))} {more}"
        check(out == alone and alone and not started.returncode, f"{what}: status {started.returncode}, {out!r} instead of {alone!r}: {err}")
        check(len(lines) == (told != "") and all(told in line for line in lines), f"{what}: {err!r} instead of one line with {told!r}")
        self.leaves_nobody(what)

    def is_killed(self, who, delay):
        """One of all processes is killed at some time: the outcome is right, or the status is not 0; nobody is left."""
        started = self.start(2, WHYWAIT_PATIENCE="2")
        time.sleep(delay)
        victim = random.choice([(pid, words) for pid, words in self.left() if who in words.split(" ")[0]] or [(started.pid, self.launcher)])
        try:
            os.kill(victim[0], signal.SIGKILL)
        except OSError:
            pass  # it has ended
        try:
            out, err = started.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            started.kill()
            out, err = "", "it does not end"
            check(False, f"{self.launcher}: {victim} was killed after {delay:.2f} s: it does not end")
        what = f"{self.launcher}: {victim} was killed after {delay:.2f} s: status {started.returncode}, printed {out!r}, told {err[-300:]!r}"
        print(what if "-v" in sys.argv else "", end="\n" if "-v" in sys.argv else "")
        check(started.returncode or out == self.alone, what)
        self.leaves_nobody(what, 20)


def kill_some(machine, n):
    machine.alone = subprocess.run([machine.spread, machine.program, str(PARTS), str(BYTES)], env=ENV, capture_output=True, text=True).stdout
    for i in range(n):
        machine.is_killed(("spread", "whywait-mpi", "mpirun")[i % 3], random.uniform(0.1, 1))


def main():
    build, n_launchers = pathlib.Path(sys.argv[1]).resolve(), 0
    can_hide = subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
    with tempfile.TemporaryDirectory() as name:
        for launcher, program in LAUNCHERS:
            if not shutil.which(launcher) or not (build / "lib" / program).exists():
                continue
            n_launchers += 1
            folder = pathlib.Path(name) / launcher
            folder.mkdir()
            machine = Machine(folder, build, launcher, program)
            if "--kill" in sys.argv:
                kill_some(machine, int(sys.argv[sys.argv.index("--kill") + 1]))
                continue
            for n in (1, 3):
                machine.same(n)
            machine.same(2, "kill", 3, 7, told="died")
            machine.same(2, "stop", 1, 11, told="says nothing", WHYWAIT_PATIENCE="2")
            machine.same(2, "refuse", 2, 0, told="cannot open the run")
            machine.same(2, "kill-mpi", 3, 7, told="not answered", WHYWAIT_PATIENCE="2")
            if can_hide:
                machine.same(2, told="have not come", NODES_LACK=f"{NODES[1]}:{build}/lib", WHYWAIT_MEETING="2")
                machine.same(2, told="cannot run here", NODES_LACK=f"{NODES[0]}:{build}/lib", WHYWAIT_MEETING="2")
            kill_some(machine, 3)
    return bool(faults) if n_launchers else 77


if sys.argv[1] == "node":
    node(sys.argv[2], sys.argv[3:])
sys.exit(main())
