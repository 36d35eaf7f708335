#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processes on two nodes share the sections of an archive: the first one prints what one process alone prints, also when another
one has died or lacks the archive, which it says in one line. The nodes are names that a launcher is given; what stands in for ssh begins everything on this machine.

    reading.py BUILD_DIR [--kill N]     (by hand: N more times by each launcher one of all processes is killed at some moment)
    reading.py node NAME COMMAND...      (what a launcher starts in place of ssh)
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
DATA = pathlib.Path(__file__).parents[2] / "unit/trace/data"
STEP = "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"  # what srun tells a process that it begins, also a daemon of another launcher
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl="self,tcp", OMPI_MCA_btl_tcp_if_include="lo", OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_rtc_hwloc_vmhole="none",
           WHYWAIT_SECTION_EVENTS="1000")  # they are one machine, and share no memory; sections are short
n_failed = 0


def check(is_right, text):
    global n_failed
    n_failed += not is_right
    if not is_right:
        print(f"FAILED: {text}")


def node(name, command):
    """Becomes `command` (a list of words for a shell, as ssh takes it) on node `name`, which may lack a folder that the other has."""
    own = pathlib.Path(os.environ["NODES_DISKS"]) / name
    own.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = str(own)
    if "NODES_STEP" in os.environ:
        os.environ.update(dict.fromkeys(STEP, str(NODES.index(name))), SLURM_LOCALID="0", SLURM_STEP_NUM_TASKS="2", SLURM_STEP_NUM_NODES="2")
    lacks, hidden = os.environ.get("NODES_LACK", ":").split(":")
    words = ["sh", "-c", " ".join(command)]
    if name == lacks:
        words = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec sh -c "$1"', hidden, words[-1]]
    os.execvp(words[0], words)


class Machine:
    """Two nodes of one of the launchers."""

    def __init__(self, build, folder, launcher):
        self.tool, self.launcher = build / "bin/whywait", launcher
        self.agent = folder / "agent"  # Hydra takes no arguments with it
        self.agent.write_text("#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
                              f"exec {sys.executable} {pathlib.Path(__file__).resolve()} node \"$@\"\n")
        self.agent.chmod(0o755)
        (folder / "disks").mkdir(exist_ok=True)
        self.env = dict(ENV, NODES_DISKS=str(folder / "disks"))

    def start(self, n, words, **more):
        """A command on n processes a node."""
        hosts = ",".join(f"{name}:{n}" for name in NODES)
        how = (["--mca", "plm_rsh_agent", self.agent, "--host", hosts] if "openmpi" in self.launcher else
               ["-launcher", "ssh", "-launcher-exec", self.agent, "-hosts", hosts])
        words = [self.launcher, *how, "-n", 2 * n, *words]
        return subprocess.Popen(list(map(str, words)), env=dict(self.env, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def same(self, n, words, told_of=None, **more):
        words = [self.tool, *words]
        alone = subprocess.run(list(map(str, words)), env=ENV, capture_output=True)
        start = self.start(n, words, **more)
        out, err = start.communicate(timeout=200)
        told = [line for line in err.splitlines() if line.startswith(b"whywait:")]
        what = f"{self.launcher}: {n} a node: {' '.join(map(str, words))}"
        check(alone.stdout and out == alone.stdout, f"{what}: {len(alone.stdout)} characters alone, {len(out)} together, status {start.returncode}: {err}")
        more_told = [line for line in told if line not in alone.stderr.splitlines()]
        check(len(more_told) == (told_of is not None) and all(told_of in line for line in more_told), f"{what}: {told}, not of {told_of}")

    def meets_in_vain(self, words):
        """A node has no MPI for the tool: the first process does without the others, and has waited for them if it could."""
        words = [self.tool, *words]
        alone = subprocess.run(words, env=ENV, capture_output=True)
        for lacking in NODES:
            start = self.start(2, words, NODES_LACK=f"{lacking}:{self.tool.parents[1]}/lib", WHYWAIT_MEETING="1")
            out, err = start.communicate(timeout=200)
            what = f"{self.launcher}: {lacking} lacks MPI"
            check(start.returncode == 0 and out == alone.stdout, f"{what}: status {start.returncode}, {len(out)} characters printed: {err}")
            told = [line for line in err.splitlines() if line.startswith(b"whywait:")]
            check(len(told) == 1 and b"other nodes" in told[0], f"{what}: {err}")

    def first_of_script(self, words):
        """One process of a script comes to the command, and the others do not."""
        start = self.start(2, ["sh", "-c", 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ]; then "$0" "$@"; fi; true', self.tool, *words])
        out, err = start.communicate(timeout=200)
        check(start.returncode == 0 and out == subprocess.run([self.tool, *words], env=ENV, capture_output=True).stdout,
              f"{self.launcher}: the first process of a script reports alone: status {start.returncode}, {len(out)} characters printed: {err}")

    def processes(self):
        """Of the tool, as it runs for this test: parent and whether it is one that reads, by process."""
        found = {}
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                environment = (path / "environ").read_bytes().split(b"\0")
                state, parent = (path / "stat").read_text().rsplit(")", 1)[1].split()[:2]
                own = str(self.tool), *(str(self.tool.parents[1] / "lib" / name) for name in ("whywait-mpi", "whywait-mpi-mpich"))
                if os.readlink(path / "exe") in own and f"NODES_DISKS={self.env['NODES_DISKS']}".encode() in environment and state != "Z":
                    found[int(path.name)] = int(parent), f"TMPDIR={self.env['NODES_DISKS']}/{NODES[1]}".encode() in environment
            except OSError:
                pass  # it has ended
        return found

    def far_readers(self):
        """Of the tool's processes on the second node those that have been called to work: of a process of the launcher the grandchildren."""
        found = self.processes()
        tool = [pid for pid in found if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "whywait"]
        return [pid for pid in tool if found[pid][1] and found[pid][0] in found and found[found[pid][0]][0] in found]

    def until(self, what):
        end = time.monotonic() + 60
        while not what() and time.monotonic() < end:
            time.sleep(0.01)
        return what()

    def loses_a_reader(self, anchor):
        alone = subprocess.run([self.tool, "report", anchor], env=ENV, capture_output=True)
        report = self.start(2, [self.tool, "report", anchor])
        found = self.until(self.far_readers)
        check(found, f"{self.launcher}: nobody reads on the second node")
        if found:
            os.kill(found[0], signal.SIGKILL)
        out, err = report.communicate(timeout=200)
        told = [line for line in err.splitlines() if line.startswith(b"whywait:")]
        check(report.returncode == 0 and out == alone.stdout, f"{self.launcher}: a reader was killed: status {report.returncode}, {len(out)} characters printed: {err}")
        check(len(told) == 1 and b"has died" in told[0], f"{self.launcher}: a reader was killed: {err}")
        check(self.until(lambda: not self.processes()), f"{self.launcher}: a reader was killed, and others are left: {self.processes()}")


    def is_killed(self, anchor, alone):
        """The report is right, or the status is not 0; nobody is left."""
        report = self.start(2, [self.tool, "report", anchor], WHYWAIT_PATIENCE="5")
        time.sleep(random.uniform(0, 1.5))
        victim, name = random.choice([*self.processes().items(), (report.pid, self.launcher)])
        try:
            name = os.path.basename(os.readlink(f"/proc/{victim}/exe"))
            os.kill(victim, signal.SIGKILL)
        except OSError:
            name = "one that had ended"
        out, err = report.communicate(timeout=200)
        what = f"{self.launcher}: {name} was killed: status {report.returncode}, {len(out)} characters: {err[-300:]}"
        check(report.returncode or out == alone, what)
        check(self.until(lambda: not self.processes()), f"{what}: others are left: {self.processes()}")
        print(what)


def generate(build, pattern, folder, ranks, events, style):
    subprocess.run([build / "bin/generate", pattern, folder, str(ranks), str(events), style], check=True, stdout=subprocess.DEVNULL)
    return folder / "traces.otf2"


def main():
    build, n_launchers = pathlib.Path(sys.argv[1]).resolve(), 0
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
        can_hide = subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
        for launcher, program in (("mpirun.openmpi", "whywait-mpi"), ("mpirun.mpich", "whywait-mpi-mpich")):
            if not shutil.which(launcher) or not (build / "lib" / program).exists():
                continue
            n_launchers += 1
            machine = Machine(build, folder, launcher)
            machine.same(1, ["report", "--format", "json", "--all", ours])
            for anchor in (meeting, ours, damaged, DATA / "eztrace-phases/eztrace_log.otf2"):  # clocks of the last one disagree
                machine.same(2, ["report", "--format", "json", "--all", anchor])
            machine.same(2, ["report", "--format", "json", "--from", "9", later])
            machine.same(2, ["diff", meeting, "vs", later])
            if "mpich" in launcher:  # Open MPI's daemons would take themselves for processes of srun
                machine.env["NODES_STEP"] = "1"
            if can_hide:
                machine.same(2, ["report", "--format", "json", "--all", meeting], told_of=b"cannot read", NODES_LACK=f"{NODES[1]}:{meeting.parent}")
                machine.meets_in_vain(["report", ours])
            machine.first_of_script(["report", ours])
            machine.loses_a_reader(long)
            if "--kill" in sys.argv:
                alone = subprocess.run([build / "bin/whywait", "report", long], env=ENV, capture_output=True).stdout
                for _ in range(int(sys.argv[-1])):
                    machine.is_killed(long, alone)
    return n_failed > 0 if n_launchers else 77


if sys.argv[1] == "node":
    node(sys.argv[2], sys.argv[3:])
sys.exit(main())
