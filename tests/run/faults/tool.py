#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails the system calls of the tool one by one while it makes the archive of a run. It either succeeds or says that it
did not, and never crashes; the next report, without a fault, is the one that there would have been, and nothing is left
beside the archive.

    tool.py BUILD_DIR [--most N] [--every N] [CALL ...]
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ERRORS = {"openat": "EMFILE", "mkdir": "EIO", "rename": "EIO", "link": "EMLINK", "unlink": "EIO", "rmdir": "EIO", "read": "EIO",
          "pread64": "EIO", "write": "ENOSPC", "lseek": "EIO", "getdents64": "EIO", "newfstatat": "EIO", "fstat": "EIO",
          "close": "EIO", "mmap": "ENOMEM", "flock": "ENOLCK", "fallocate": "EIO", "ftruncate": "EIO", "unlinkat": "EIO",
          "renameat": "EIO", "fsync": "EIO", "statx": "EIO", "readlink": "EIO"}
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1", WHYWAIT_QUIET="1", DEBUGINFOD_URLS="")
LIMIT_S, SKIPPED, DEGRADED = 60, 77, 2


def report(tool, run, fault=()):
    return subprocess.run([*fault, tool, "report", "--format", "json", run], env=ENV, capture_output=True, text=True, timeout=LIMIT_S)


def essence(done):
    """The numbers in which a rank, a thread or a call that is missing shows."""
    try:
        told = json.loads(done.stdout)
    except ValueError:
        return None
    return [told[name] for name in ("ranks", "mpi_calls", "events", "waiting_ns", "duration_ns", "lost", "notes")]


class Faults:
    def __init__(self, build, home):
        self.tool, self.home, self.bad, self.n = str(build / "bin" / "whywait"), home, [], 0
        subprocess.run([shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", self.tool, "record", "--no-convert",
                        str(build / "bin" / "faulted"), "2000"], cwd=home, env=ENV, capture_output=True, timeout=LIMIT_S)
        self.spool = next(home.glob("*.whywait"))
        good = report(self.tool, self.copy())
        self.good = essence(good)

    def copy(self):
        to = self.home / "copy" / "run.whywait"
        shutil.rmtree(to.parent, ignore_errors=True)
        shutil.copytree(self.spool, to)
        return to

    def check(self, holds, what, done):
        if not holds:
            self.bad.append(f"{what}: status {done.returncode}, {done.stderr[-400:]}")

    def loading(self, call):
        """The calls that are made before the tool begins."""
        log = self.home / "strace.log"
        subprocess.run(["strace", "-o", str(log), "-e", f"trace={call}", self.tool, "version"], capture_output=True, timeout=LIMIT_S)
        return sum(line.startswith(call) for line in log.read_text().splitlines())

    def fail(self, call, nth):
        """False when the tool makes no so many calls."""
        run, name = self.copy(), f"{call} {nth}"
        log = self.home / "strace.log"
        done = report(self.tool, run, ("strace", "-f", "--seccomp-bpf", "-o", str(log), "-e", f"trace={call}", "-e",
                                       f"inject={call}:error={ERRORS[call]}:when={nth}"))
        if "INJECTED" not in log.read_text(errors="replace"):
            return False
        self.n += 1
        self.check(done.returncode in (0, 1, DEGRADED), f"{name} ended the tool", done)
        self.check(done.stderr or essence(done) == self.good, f"{name} changed the report without a word", done)
        done = report(self.tool, run)
        self.check(done.returncode == 0 and essence(done) == self.good, f"{name} cost something for good", done)
        left = [path.name for path in run.iterdir() if path.name in ("spool", "parts", "join.lock")]
        self.check(not left, f"{name} left {left}", done)
        return True


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--most", type=int, default=1000, help="faults a call")
    options.add_argument("--every", type=int, default=1, help="... of which every so many are tried")
    options.add_argument("calls", nargs="*", help="; ".join(ERRORS))
    args = options.parse_intermixed_args()
    if not shutil.which("strace"):
        print("not tried: there is no strace")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as home:
        faults = Faults(args.build.resolve(), pathlib.Path(home))
        for call in args.calls or ERRORS:
            first = faults.loading(call) + 1
            nth = first
            while nth < first + args.most * args.every and faults.fail(call, nth):
                nth += args.every
    print("\n".join([*faults.bad, f"{faults.n} faults, {len(faults.bad)} of them with consequences"]))
    sys.exit(bool(faults.bad) or not faults.n)


main()
