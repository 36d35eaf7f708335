#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two nodes, each with a name, a disk and a clock of its own, made of namespaces: records written to the nodes' disks
come home, at the end of the run or by `whywait salvage` on each node, and the cause is named across both.

    nodes.py BUILD_DIR
    nodes.py node NAME COMMAND...      (what mpirun starts in place of ssh)
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

LOCAL = "/var/tmp"  # every node has a disk of its own there
CLOCK_AHEAD_S = {"nodea": 0, "nodeb": 100}
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1", WHYWAIT_QUIET="1")
UNSHARE = ["unshare", "--uts", "--mount", "--pid", "--fork", "--time"]


def node(name, command):
    """Becomes `command` (a list of words for a shell, as ssh takes it) on node `name`."""
    disk = pathlib.Path(os.environ["NODES_DISKS"]) / name
    disk.mkdir(exist_ok=True)
    script = f'hostname {name} && mount --bind {disk} {LOCAL} && mount -t proc proc /proc && exec sh -c "$0"'
    ahead = ["--monotonic", str(CLOCK_AHEAD_S[name]), "--boottime", str(CLOCK_AHEAD_S[name])]
    os.execvp("unshare", [*UNSHARE, *ahead, "sh", "-c", script, " ".join(command)])


class Run:
    """One recorded run of the solver on four ranks of two nodes."""

    def __init__(self, build, cwd, steps):
        self.tool, self.program = str(build / "bin" / "whywait"), str(build / "tests" / "run" / "known" / "jacobi")
        self.cwd, self.disks = pathlib.Path(cwd), pathlib.Path(cwd) / "disks"
        self.disks.mkdir()
        self.env = dict(ENV, NODES_DISKS=str(self.disks))
        agent = f"{sys.executable} {pathlib.Path(__file__).resolve()} node"
        self.mpirun = subprocess.Popen(
            [shutil.which("mpirun.openmpi") or "mpirun", "--mca", "plm_rsh_agent", agent, "--host", "nodea:2,nodeb:2", "-n", "4",
             self.tool, "record", "--spool", LOCAL, self.program, str(steps)],
            cwd=cwd, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def kill(self):
        """Kills all ranks as soon as each has files on its node's disk, and some more time to fill them."""
        deadline = time.monotonic() + 60
        while len(list(self.disks.glob("*/*/*.ev"))) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.5)
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(process / "exe") == self.program and os.readlink(process / "cwd") == str(self.cwd):
                    os.kill(int(process.name), 9)
            except OSError:
                pass  # it has ended
        self.mpirun.communicate(timeout=300)

    def whywait(self, *args, where=None):
        """(exit status, stdout, stderr) of a command of the tool, on a node or outside of both."""
        command = [self.tool, *args]
        if where:
            command = [sys.executable, str(pathlib.Path(__file__).resolve()), "node", where, f"cd {self.cwd} &&", *command]
        done = subprocess.run(command, cwd=self.cwd, env=self.env, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def left_on_disks(self):
        return [str(path) for path in self.disks.glob("*/*")]


def check_report(run, what):
    """The report names the slow rank's loop, most of what the program itself makes ranks wait for, however busy the
    machine is; and nothing is left on the nodes' disks."""
    status, printed, told = run.whywait("report", "--format", "json")
    if status:
        return [f"{what}: report: {told}"]
    report = json.loads(printed)
    cause, bad = report["causes"][0], []
    share = cause["waiting_ns"] / (report["waiting_ns"] - report["machine"]["waiting_ns"])
    if cause["routine"] != "relax" or cause["ranks"] != [2] or share < 0.4:
        bad.append(f"{what}: {cause['routine']} {cause['ranks']} {share}")
    if run.left_on_disks():
        bad.append(f"{what}: left behind: {run.left_on_disks()}")
    return bad


def check_end(build, cwd):
    run = Run(build, cwd, 40)
    told = run.mpirun.communicate(timeout=120)[1]
    return [f"mpirun: {told}"] if run.mpirun.returncode else check_report(run, "a run that ended well")


def check_killed(build, cwd):
    run = Run(build, cwd, 100000)
    run.kill()
    run_dir = next(run.cwd.glob("*.whywait")).name
    bad = []
    for where, missing in ((None, "nodea"), ("nodea", "nodeb")):
        status, _, told = run.whywait("salvage", run_dir, where=where)
        if not status or f"a disk of {missing}:" not in told or told.count("\n") != 1:
            bad.append(f"salvage on {where}: status {status}, {told}")
    status, _, told = run.whywait("salvage", run_dir, where="nodeb")
    if status:
        bad.append(f"salvage on nodeb: {told}")
    return bad or check_report(run, "a run that was killed")


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "node":
        node(sys.argv[2], sys.argv[3:])
    if os.geteuid() or subprocess.run([*UNSHARE, "true"], capture_output=True).returncode:
        print("no namespaces can be made here")
        sys.exit(77)
    build, bad = pathlib.Path(sys.argv[1]).resolve(), []
    for check in (check_end, check_killed):
        with tempfile.TemporaryDirectory() as cwd:
            bad += check(build, os.path.realpath(cwd))
    print("\n".join(bad) or "records came home from both nodes")
    sys.exit(bool(bad))


main()
