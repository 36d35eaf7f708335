#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files that commands write for their user: what cannot be written whole leaves the file that was there before, and devices stay devices.

    outputs.py BUILD_DIR
"""
import os
import pathlib
import resource
import signal
import stat
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(sys.argv[1]).resolve() / "bin" / "whywait"
ARCHIVE = pathlib.Path(__file__).parents[2] / "unit/trace/data/tau-phases/traces.otf2"
WRITERS = {"export": ["export", "--format", "csv", "-o"], "html": ["html", "-o"], "keep": ["diff", "--keep"]}
n_failed = 0


def check(good, *what):
    global n_failed
    n_failed += not good
    if not good:
        print("FAILED:", *what)


def small_files():
    """Writing fails behind the first hundred bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def run(words, cwd, **options):
    return subprocess.run([str(word) for word in [TOOL, *words, ARCHIVE]], cwd=cwd, capture_output=True, text=True, timeout=120, **options)


def main():
    for name, words in WRITERS.items():
        with tempfile.TemporaryDirectory() as cwd:
            file = pathlib.Path(cwd, "out")
            done = run([*words, file], cwd)
            check(done.returncode == 0 and not done.stderr, name, done)
            umask = os.umask(0)
            os.umask(umask)
            wanted = 0o600 if name == "html" else 0o666 & ~umask  # sources and the command line are in it
            check(stat.S_IMODE(file.stat().st_mode) == wanted, name, "has mode %o" % file.stat().st_mode)
            whole = file.read_text()
            file.chmod(0o640)
            done = run([*words, file], cwd, preexec_fn=small_files)
            check(done.returncode == 1 and done.stderr.count("\n") == 1 and "cannot write" in done.stderr, name, "without room:", done)
            check(file.read_text() == whole, name, "without room: the file before has gone")
            done = run([*words, file], cwd)
            check(done.returncode == 0 and file.read_text() == whole and stat.S_IMODE(file.stat().st_mode) == 0o640, name, "again:", done)
            device = pathlib.Path(cwd, "full")
            try:
                os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
            except PermissionError:
                device.symlink_to("/dev/full")
            done = run([*words, device], cwd)
            check(done.returncode == 1 and done.stderr.count("\n") == 1 and "cannot write" in done.stderr, name, "to a full device:", done)
            check(device.is_char_device(), name, "a device has become a file")
            check(sorted(path.name for path in pathlib.Path(cwd).iterdir()) == ["full", "out"], name, "leaves", os.listdir(cwd))
    with tempfile.TemporaryDirectory() as cwd:
        file = pathlib.Path(cwd, "counts.info")
        file.write_text("precious")
        done = run(["export", "-o", file], cwd)
        check(done.returncode == 1 and file.read_text() == "precious", "a run without counts:", done, file.read_text())
    return n_failed > 0


sys.exit(main())
