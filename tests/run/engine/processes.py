#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What tests share in which several processes do one piece of work: what is right, runs to read, and two nodes of a launcher. The nodes
are names that the launcher is given; what stands in for ssh begins everything on this machine.

    processes.py node NAME COMMAND...      (what a launcher starts in place of ssh)
"""
import ctypes
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

NODES = ("nodea", "nodeb")
CLONE_NEWUTS = 0x04000000
LAUNCHERS = (("mpirun.openmpi", "whywait-mpi"), ("mpirun.mpich", "whywait-mpi-mpich"))
STEP = "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"  # what srun tells a process that it begins, also a daemon of another launcher
DATA = pathlib.Path(__file__).parents[2] / "unit/trace/data"
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1")
APART = dict(OMPI_MCA_btl="self,tcp", OMPI_MCA_btl_tcp_if_include="lo", OMPI_MCA_rtc_hwloc_vmhole="none")  # nodes share no memory
faults = []


def check(is_right, text):
    if not is_right:
        faults.append(text)
        print(f"FAILED: {text}", flush=True)


def until(what, seconds):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


def told(err):
    """The tool's lines among those of a launcher."""
    return [line for line in err.splitlines() if line.startswith(b"whywait:")]


def generate(build, pattern, folder, ranks, events, style):
    subprocess.run([build / "bin/generate", pattern, folder, str(ranks), str(events), style], check=True, stdout=subprocess.DEVNULL)
    return folder / "traces.otf2"


def parent(pid):
    """None: it has ended."""
    try:
        state, number = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:2]
    except OSError:
        return None
    return None if state == "Z" else int(number)


def is_there(pid):
    return parent(pid) is not None


def node(name, command):
    """Becomes `command` (a list of words for a shell, as ssh takes it) on node `name`, which may lack a folder that the other has."""
    own = pathlib.Path(os.environ["NODES_DISKS"]) / name
    own.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = str(own)  # daemons of one machine would make the same folders
    if ctypes.CDLL(None).unshare(CLONE_NEWUTS) == 0:
        socket.sethostname(name)  # processes of Open MPI 5 on nodes with one name disagree on who is near
    if "NODES_STEP" in os.environ:
        os.environ.update(dict.fromkeys(STEP, str(NODES.index(name))), SLURM_LOCALID="0", SLURM_STEP_NUM_TASKS="2", SLURM_STEP_NUM_NODES="2")
    lacks, hidden = os.environ.get("NODES_LACK", ":").split(":")
    words = ["sh", "-c", " ".join(command)]
    if name == lacks:
        words = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec sh -c "$1"', hidden, words[-1]]
    os.execvp(words[0], words)


class Machine:
    """Two nodes of one of the launchers."""

    def __init__(self, folder, build, launcher, program):
        folder.mkdir()
        self.build, self.folder, self.launcher, self.program = build, folder, launcher, build / "lib" / program
        self.agent = folder / "agent"  # Hydra takes no arguments with it
        self.agent.write_text("#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
                              f"exec {sys.executable} {pathlib.Path(__file__).resolve()} node \"$@\"\n")
        self.agent.chmod(0o755)
        self.env = dict(ENV, **APART, NODES_DISKS=str(folder))

    def start(self, n, words, **more):
        """A command on n processes a node."""
        hosts = ",".join(f"{name}:{n}" for name in NODES)
        how = (["--mca", "plm_rsh_agent", self.agent, "--map-by", "slot", "--host", hosts] if "openmpi" in self.launcher else
               ["-launcher", "ssh", "-launcher-exec", self.agent, "-hosts", hosts])
        words = [self.launcher, *how, "-n", 2 * n, *words]
        return subprocess.Popen(list(map(str, words)), env=dict(self.env, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def processes(self):
        """All that it has started and that are there: the command and the node (None: of the machine itself), by process."""
        found = {}
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                environment = (path / "environ").read_bytes().decode(errors="replace").split("\0")
                command = (path / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            except OSError:
                continue  # it has ended
            if f"NODES_DISKS={self.folder}" in environment and is_there(path.name):
                on = [name for name in NODES if f"TMPDIR={self.folder / name}" in environment]
                found[int(path.name)] = command, on[0] if on else None
        return found


def machines(folder, build):
    """Of each launcher that is there."""
    for launcher, program in LAUNCHERS:
        if shutil.which(launcher) and (build / "lib" / program).exists():
            yield Machine(folder / launcher, build, launcher, program)


def can_hide():
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


if __name__ == "__main__":
    node(sys.argv[2], sys.argv[3:])
