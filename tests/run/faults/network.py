#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A run directory that looks like NFS: the spool goes to a local disk and comes home at the end, or by salvage when the ranks are killed;
where the local disk has no room it stays in the run directory, and the report says so. A run directory that is removed in mid-run hurts nobody.

    network.py BUILD_DIR
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none", WHYWAIT_QUIET="1")


class Place:
    """A directory with a `home` that looks like a network file system, and local disks."""

    def __init__(self, build, base):
        self.build, self.home, self.disk, self.crowded = build, base / "home", base / "disk", base / "crowded"
        for directory in (self.home, self.disk, self.crowded):
            directory.mkdir()

    def run(self, program, *variables):
        """The exit status of `program` on two ranks, the run directory, and what lies on the disks afterwards."""
        preload = f"{self.build}/lib/libwhywait.so {self.build}/lib/libfaults.so"
        settings = {"LD_PRELOAD": preload, "FAULT_NETWORK": self.home, **dict(variables)}
        options = [word for name, value in settings.items() for word in ("-x", f"{name}={value}")]
        done = subprocess.run([shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", *options, *program], cwd=self.home, env=ENV,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120)
        return done.returncode, max(self.home.glob("*.whywait")), list(self.disk.iterdir()) + list(self.crowded.iterdir())

    def report(self, run_dir):
        done = subprocess.run([self.build / "bin" / "whywait", "report", "--format", "json", run_dir], capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode in (0, 2) and done.stdout else {"mpi_calls": 0, "notes": [done.stderr]}

    def came_home(self, run_dir):
        """The calls that the ranks had completed are in the report, but for the last one of each: they keep count of them in files."""
        completed = [int.from_bytes(file.read_bytes(), "little") for file in self.home.glob("truth-*")]
        return self.report(run_dir)["mpi_calls"] >= sum(completed) - len(completed) > 0

    def run_and_remove(self, program):
        """Exit status and standard error of a recorded run whose directory is removed as soon as records are in it."""
        running = subprocess.Popen([shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", self.build / "bin" / "whywait", "record", *program],
                                   cwd=self.home, env=dict(ENV, WHYWAIT_QUIET="0"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while len(list(self.home.glob("*.whywait/spool/*.ev"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        for run_dir in self.home.glob("*.whywait"):
            shutil.rmtree(run_dir, ignore_errors=True)
        told = running.communicate(timeout=120)[1]
        return running.returncode, told


def check(ok, text):
    if not ok:
        sys.exit(text)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    ending = [str(build / "bin" / "ending")]
    with tempfile.TemporaryDirectory() as name:
        place = Place(build, pathlib.Path(os.path.realpath(name)))
        status, run_dir, left = place.run([*ending, "finalize", "300", "-1"], ("TMPDIR", place.disk))
        check(status == 0 and not left, f"end: status {status}, left on the disk: {left}")
        check(place.came_home(run_dir), "end: not all came home")
        shutil.rmtree(run_dir)

        _, run_dir, left = place.run([*ending, "kill", "300", "-1"], ("TMPDIR", place.disk))
        files = [file for file in run_dir.glob("spool/*.ev")]
        check(len(left) == 2 and len(files) == 2 and all(str(file.readlink()).startswith(str(place.disk)) for file in files),
              f"killed: the spool was not on the local disk: {left}, {files}")
        check(place.came_home(run_dir) and not list(place.disk.iterdir()), "killed: not all came home")
        shutil.rmtree(run_dir)

        # /tmp and /var/tmp have room here: they are made to look full as well.
        status, run_dir, left = place.run([*ending, "finalize", "300", "-1"], ("TMPDIR", place.crowded), ("FAULT_CROWDED", "/"))
        report = place.report(run_dir)
        check(status == 0 and not left and place.came_home(run_dir), f"no room: status {status}, {left}")
        check(any("no local directory with room" in note for note in report["notes"]), f"no room: not said: {report['notes']}")
        shutil.rmtree(run_dir)

        status, told = place.run_and_remove([*ending, "finalize", "2000", "-1"])
        check(status == 0 and "was removed while the program ran" in told, f"removed: status {status}, {told}")
    print("a network file system was seen, avoided, and used where there was nothing else")


main()
