#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Power fails at any moment: nothing is removed before what replaces it is on the disk. First by the order in which the tool writes,
brings to the disk and removes (ordered.c); then on a disk image, whose copy is what a loss of power leaves.

    power.py BUILD_DIR
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none", WHYWAIT_QUIET="1")
N_RANKS, N_CALLS, KILLS, SKIPPED = 2, 150000, 5, 77
LATEST_S = 0.6  # by then a conversion has come to its end, or nearly


def record(build, folder, *options):
    """The run directory of a program whose ranks make N_CALLS calls each."""
    launcher = shutil.which("mpirun.openmpi") or "mpirun"
    subprocess.run([launcher, "-n", str(N_RANKS), build / "bin/whywait", "record", "--dir", folder, *options, build / "bin/many_calls",
                    str(N_CALLS)], env=ENV, check=True, stdout=subprocess.DEVNULL)
    return next(pathlib.Path(folder).glob("*.whywait"))


class Disk:
    """What of the files that were written would survive."""

    def __init__(self):
        self.number, self.unwritten, self.unnamed = {}, set(), set()

    def name(self, path, number):
        self.number[path] = number
        self.unnamed.add(path)

    def rename(self, old, new):
        moved = {path for path in self.number | dict.fromkeys(self.unnamed) if path == old or path.startswith(old + "/")}
        for path in moved:
            to = new + path[len(old):]
            if path in self.number:
                self.number[to] = self.number.pop(path)
            if path in self.unnamed:
                self.unnamed.remove(path)
                self.unnamed.add(to)
        self.unnamed.add(new)

    def remove(self, path):
        self.number.pop(path, None)
        self.unnamed.discard(path)

    def sync(self, path, number):
        self.unwritten.discard(number)
        self.unnamed = {name for name in self.unnamed if os.path.dirname(name) != path}

    def lacks(self, path, top):
        """Why the file would not be there, or None."""
        if path not in self.number:
            return f"{path} was never written"
        if self.number[path] in self.unwritten:
            return f"{path} is not on the disk"
        while path != top:
            if path in self.unnamed:
                return f"the name of {path} is not on the disk"
            path = os.path.dirname(path)
        return None


def replacements(disk, what, path, run):
    """The files that have to be there when this one is removed, or its pages are given back."""
    if what == "punch":
        return [path + ".given"]
    if what == "remove" and path.startswith(f"{run}/spool/") and path.endswith((".ev", ".sm")):
        return [f"{run}/traces.otf2", f"{run}/traces.def",
                *(name for name in disk.number if name.startswith(f"{run}/traces/"))]
    return []


def faults_of_order(lines, run):
    """(orders that lose something, punches, removals of spool files)"""
    disk, faults, n_punches, n_removals = Disk(), [], 0, 0
    for line in lines:
        what, number, path, other = line.rstrip("\n").split("\t")
        missing = [disk.lacks(name, os.path.dirname(run)) for name in replacements(disk, what, path, run)]
        faults += [f"{what} {path}: {fault}" for fault in missing if fault]
        n_punches += what == "punch"
        n_removals += what == "remove" and bool(missing)
        if what == "write":
            disk.unwritten.add(number)
            if path not in disk.number:
                disk.name(path, number)
        elif what == "mkdir":
            disk.unnamed.add(path)
        elif what == "sync":
            disk.sync(path, number)
        elif what == "rename":
            disk.rename(path, other)
        elif what == "link":
            disk.name(other, disk.number[path])
        elif what == "remove":
            disk.remove(path)
    return faults, n_punches, n_removals


def check_order(build):
    with tempfile.TemporaryDirectory() as folder:
        run, log = record(build, folder, "--no-convert"), pathlib.Path(folder, "order")
        log.write_text(f"mkdir\t0\t{run}\t\nmkdir\t0\t{run}/spool\t\n")
        subprocess.run([build / "bin/whywait", "salvage", run], check=True,
                       env=dict(ENV, LD_PRELOAD=str(build / "lib/libordered.so"), ORDER_LOG=str(log)))
        faults, n_punches, n_removals = faults_of_order(log.read_text().splitlines(), str(run))
    if not n_punches or n_removals < 2 * N_RANKS:
        faults.append(f"{n_punches} punches and {n_removals} removals were seen: the test looks at nothing")
    return faults


def mount(image, at):
    at.mkdir(exist_ok=True)
    return subprocess.run(["mount", "-o", "loop", image, at], stderr=subprocess.DEVNULL).returncode == 0


def calls_after_loss(build, work, image, n):
    """How many calls a report finds on a copy of the disk image as it is now."""
    copy, at = work / f"copy{n}", work / f"lost{n}"
    subprocess.run(["cp", "--sparse=always", image, copy], check=True)
    if not mount(copy, at):
        return f"the copy {copy} cannot be mounted"
    try:
        runs = list(at.glob("*.whywait"))
        done = subprocess.run([build / "bin/whywait", "report", "--format", "json", *runs[:1]], capture_output=True, text=True, env=ENV)
        return json.loads(done.stdout)["mpi_calls"] if runs and done.returncode == 0 else done.stderr or "no run"
    finally:
        subprocess.run(["umount", at], check=True)
        copy.unlink()


def check_disk(build, work):
    """None where mounting is not allowed."""
    image, disk = work / "image", work / "disk"
    with open(image, "wb") as file:
        file.truncate(200 << 20)
    if not shutil.which("mkfs.ext4") or subprocess.run(["mkfs.ext4", "-q", "-F", image], stderr=subprocess.DEVNULL).returncode or \
            not mount(image, disk):
        return None
    try:
        wanted, faults = N_RANKS * N_CALLS, []
        run = record(build, disk)
        if (found := calls_after_loss(build, work, image, 0)) != wanted:
            faults.append(f"right after the end of a run: {found} of {wanted} calls")
        shutil.rmtree(run)
        run = record(build, disk, "--no-convert")
        os.sync()
        for n in range(1, KILLS + 1):
            salvage = subprocess.Popen([build / "bin/whywait", "salvage", run], stderr=subprocess.DEVNULL, env=ENV)
            time.sleep(random.uniform(0, LATEST_S))
            salvage.send_signal(signal.SIGKILL)
            salvage.wait()
            if (found := calls_after_loss(build, work, image, n)) != wanted:
                faults.append(f"after a conversion was killed: {found} of {wanted} calls")
        return faults
    finally:
        subprocess.run(["umount", disk], check=True)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    faults = check_order(build)
    with tempfile.TemporaryDirectory() as work:
        lost = check_disk(build, pathlib.Path(work))
    print("\n".join([*faults, *(lost or [])]))
    if lost is None:
        print("skipped: what a disk image keeps, since mounting is not allowed here")
    sys.exit(1 if faults or lost else SKIPPED if lost is None else 0)


if __name__ == "__main__":
    main()
