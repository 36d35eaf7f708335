#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of a Slurm that is begun here: one node, this machine, whose daemons are of this user and trust everybody. Skipped where
Slurm is not installed (on Debian: apt-get install slurmctld slurmd slurm-client).

    slurm.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

BUILD, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
WHYWAIT = BUILD / "bin" / "whywait"
SKIPPED = 77
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
MPIS = {"pmix": "openmpi", "pmi2": "mpich"}  # how srun starts the processes of which MPI
LIMIT_S = 150
ENV = dict(os.environ, PATH=PATH, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_btl_tcp_if_include="lo")
ENDLESS = """
#include <mpi.h>
int main(int argc, char **argv)
{
    double mine = 0, sum;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (;;) {
        for (int i = 0; i < (rank == 1 ? 40000000 : 1000); i++)
            mine += 1 / (1.0 + i);
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}
"""


def free_ports(n):
    """Numbers that nobody uses just now."""
    taken = [socket.socket() for _ in range(n)]
    for each in taken:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


class Slurm:
    def __init__(self, folder):
        self.folder = folder
        self.env = dict(ENV, SLURM_CONF=str(folder / "slurm.conf"))
        for name in ("state", "spool"):
            (folder / name).mkdir()
        machine = self.answer("slurmd", "-C").splitlines()[0]
        controller, daemon = free_ports(2)
        user, host = os.getuid(), re.search(r"NodeName=(\S+)", machine).group(1)
        (folder / "slurm.conf").write_text("\n".join([
            "ClusterName=whywait", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={controller}", f"SlurmdPort={daemon}",
            f"SlurmUser={user}", f"SlurmdUser={user}", "AuthType=auth/none", "CredType=cred/none", "MpiDefault=none",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none",
            "SelectType=select/linear", "ReturnToService=2", "KillWait=2", f"StateSaveLocation={folder}/state",
            f"SlurmdSpoolDir={folder}/spool", f"SlurmctldPidFile={folder}/slurmctld.pid", f"SlurmdPidFile={folder}/slurmd.pid",
            re.sub(r" Gres=\S*", "", machine) + " NodeAddr=127.0.0.1",
            f"PartitionName=all Nodes={host} Default=YES State=UP OverSubscribe=FORCE:4"]) + "\n")
        (folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        self.daemons = [self.begin(name) for name in ("slurmctld", "slurmd")]

    def answer(self, *words):
        return subprocess.run(words, env=self.env, capture_output=True, text=True, timeout=60).stdout

    def begin(self, name):
        with open(self.folder / f"{name}.log", "w") as log:
            return subprocess.Popen([name, "-D", "-f", self.folder / "slurm.conf"], env=self.env, stdout=log, stderr=log)

    def is_ready(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and all(daemon.poll() is None for daemon in self.daemons):
            if "idle" in self.answer("sinfo", "-h", "-o", "%T"):
                return True
            time.sleep(0.3)
        return False

    def logs(self):
        return "\n".join((self.folder / f"{name}.log").read_text()[-2000:] for name in ("slurmctld", "slurmd"))

    def end(self):
        self.run(self.folder, "scancel", "-u", str(os.getuid()))
        self.wait_for(lambda: not self.answer("squeue", "-h"))
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            daemon.wait(timeout=60)

    def run(self, cwd, *words):
        return subprocess.run([str(word) for word in words], cwd=cwd, env=self.env, capture_output=True, text=True, timeout=LIMIT_S)

    def batch(self, cwd, text, *options):
        """The number of the job."""
        (cwd / "job.sh").write_text("#!/bin/bash\n" + text)
        done = self.run(cwd, "sbatch", "--parsable", "-n", "2", *options, "job.sh")
        return done.stdout.strip() or sys.exit(f"sbatch: {done.stderr}")

    def wait_for(self, what):
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            if what():
                return True
            time.sleep(0.2)
        return False

    def has_ended(self, job):
        return self.wait_for(lambda: job not in self.answer("squeue", "-h", "-o", "%A %F"))


def judge(slurm, run, routine):
    """Rank 1 is late in this routine."""
    report = slurm.run(run.parent, WHYWAIT, "report", "--format", "json", run)
    if report.returncode:
        return report.stderr
    first = json.loads(report.stdout)["causes"][0]
    return None if first["routine"] == routine and first["ranks"] == [1] else f"the first cause is {first['name']} of ranks {first['ranks']}"


def only_run(folder):
    runs = list(folder.glob("*.whywait"))
    return (runs[0], None) if len(runs) == 1 else (None, f"{len(runs)} runs in {folder.name}")


def stepped(slurm, cwd, kind, words):
    """srun starts the ranks itself."""
    done = slurm.run(cwd, "srun", f"--mpi={kind}", "-n", "2", *words)
    if done.returncode or ": 2 ranks," not in done.stderr or "nothing lost" not in done.stderr:
        return f"status {done.returncode}: {done.stdout}{done.stderr}"
    run, fault = only_run(cwd)
    return fault or judge(slurm, run, "compute_forces")


def direct(slurm, cwd, kind):
    return stepped(slurm, cwd, kind, [WHYWAIT, "record", cwd / "pairs"])


def by_script(slurm, cwd, kind):
    """A script begins the program, as in most job files: no file names its MPI."""
    script = cwd / "script.sh"
    script.write_text(f"#!/bin/sh\n'{cwd}/pairs'\n")
    script.chmod(0o755)
    return stepped(slurm, cwd, kind, [WHYWAIT, "record", script])


def by_mpirun(slurm, cwd, kind):
    """mpirun begins the ranks, by what Slurm tells it of the job. MPICH's Hydra 4.2 waits for ever there, with any program."""
    if kind == "pmi2":
        return None
    job = slurm.batch(cwd, f"mpirun.{MPIS[kind]} -n 2 '{WHYWAIT}' record '{cwd}/pairs'\n", "-o", cwd / "out")
    if not slurm.has_ended(job):
        return "it does not end"
    said = (cwd / "out").read_text()
    if ": 2 ranks," not in said or "nothing lost" not in said:
        return said
    run, fault = only_run(cwd)
    return fault or judge(slurm, run, "compute_forces")


def array(slurm, cwd, kind):
    """Each task leaves a run of its own."""
    job = slurm.batch(cwd, f"srun --mpi={kind} '{WHYWAIT}' record --dir runs/$SLURM_ARRAY_TASK_ID '{cwd}/pairs'\n",
                      "--array=1-2", "-o", cwd / "out-%a")
    if not slurm.has_ended(job):
        return "it does not end"
    for task in "12":
        run, fault = only_run(cwd / "runs" / task)
        fault = fault or judge(slurm, run, "compute_forces")
        if fault:
            return f"task {task}: {fault} {(cwd / f'out-{task}').read_text()}"
    return None


def cancelled(slurm, cwd, kind):
    """Slurm ends the job. What was recorded until then is reported."""
    job = slurm.batch(cwd, f"srun --mpi={kind} '{WHYWAIT}' record '{cwd}/endless'\n", "-o", cwd / "out")
    if not slurm.wait_for(lambda: list(cwd.glob("*.whywait/*"))):
        return f"it does not begin: {(cwd / 'out').read_text()}"
    time.sleep(2)
    slurm.run(cwd, "scancel", job)
    if not slurm.has_ended(job):
        return "it does not end"
    run, fault = only_run(cwd)
    return fault or judge(slurm, run, "main")


def build(folder, mpi):
    compiler = shutil.which(f"mpicc.{mpi}", path=PATH)
    if compiler and shutil.which(f"mpirun.{mpi}", path=PATH):
        subprocess.run([compiler, "-O2", "-g", SOURCE / "docs/tutorial/pairs.c", "-o", folder / "pairs", "-lm"], check=True)
        subprocess.run([compiler, "-O2", "-g", "-x", "c", "-", "-o", folder / "endless"], input=ENDLESS, text=True, check=True)
    return compiler


def main():
    if not all(shutil.which(name, path=PATH) for name in ("slurmctld", "slurmd", "srun", "sbatch", "scancel")):
        print("there is no Slurm here")
        return SKIPPED
    os.environ["PATH"] = PATH
    with tempfile.TemporaryDirectory() as name:
        folder, faults = pathlib.Path(name), []
        slurm = Slurm(folder)
        try:
            if not slurm.is_ready():
                sys.exit(f"Slurm does not begin:\n{slurm.logs()}")
            for kind, mpi in MPIS.items():
                for case in (direct, by_script, by_mpirun, array, cancelled):
                    cwd = folder / f"{mpi}-{case.__name__}"
                    cwd.mkdir()
                    fault = case(slurm, cwd, kind) if build(cwd, mpi) else None
                    faults += [f"{cwd.name}: {fault}"] if fault else []
        finally:
            slurm.end()
    print("\n".join(faults))
    return bool(faults)


sys.exit(main())
